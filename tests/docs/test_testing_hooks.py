"""The tests on the page about testing pass under plain pytest, and nothing is left out there."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from amplifier_core import pytest_plugin, testing
from amplifier_hooks.insight.cases import schema
from amplifier_hooks.insight.cases.case import TEXTS
from amplifier_hooks.insight.cases.files import read_cases
from amplifier_hooks.insight.cases.running import find_subject, run_case
from tests.docs.blocks import markdown_blocks
from tests.docs.yaml_examples import list_examples

pytest_plugins = "pytester"

PAGE = Path(__file__).parents[2] / "docs" / "testing-hooks.md"
MODULE = """
async def mount(coordinator, config):
    async def watch(event, data): ...
    return coordinator.hooks.register("tool:pre", watch)
"""


def test_the_tests_on_the_page_pass(pytester: pytest.Pytester) -> None:
    """Copied into files, with a module beside them, without pytest-asyncio or any setting."""
    (Path(pytester.mkpydir("amplifier_module_hooks_mine")) / "__init__.py").write_text(MODULE)
    tests = [block.source for block in markdown_blocks(PAGE) if "def test_" in block.source]
    for number, source in enumerate(tests):
        pytester.makepyfile(**{f"test_{number}": source})
    arguments = ("-p", "no:asyncio", "-p", "no:cacheprovider", "-p", "no:randomly")
    done = pytester.runpytest_inprocess(*arguments)
    done.assert_outcomes(passed=sum(source.count("def test_") for source in tests))


def test_the_cases_on_the_page_pass(tmp_path: Path) -> None:
    """With the hook before them, and with a module of ours."""
    guard = next(one.source for one in markdown_blocks(PAGE) if "@hook(" in one.source)
    (tmp_path / "guard.py").write_text(guard)
    examples = list_examples(PAGE)
    assert [one.content["hook"] for one in examples] == ["./guard.py", "hooks-rate-limit"]
    for example in examples:
        path = tmp_path / "guard.cases.yaml"
        path.write_text(example.text)
        file = read_cases(path)
        subject = find_subject(str(file.hook), tmp_path)
        runs = [run_case(one, subject, file.config, file.timeout) for one in file.cases]
        assert [one.list_reasons() for one in runs if not one.passed] == []


def test_every_key_of_a_case_is_on_the_page() -> None:
    """As an item of a list, or of a sentence."""
    page = PAGE.read_text()
    keys = {*schema.Case.model_fields, *schema.File.model_fields}
    keys = (keys - {"cases"}) | {"action", "hook", "error", "data", *TEXTS}
    assert [key for key in sorted(keys) if f"`{key}" not in page] == []


def test_every_fixture_and_every_double_is_on_the_page() -> None:
    """In the first cell of a row."""
    fixture = type(pytest_plugin.coordinator)
    fixtures = {name for name, value in vars(pytest_plugin).items() if isinstance(value, fixture)}
    listed = {
        line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")
    }
    assert listed == fixtures | set(testing.__all__)
    assert all(inspect.getdoc(getattr(testing, name)) for name in testing.__all__)
