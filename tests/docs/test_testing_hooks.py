"""The tests on the page about testing pass under plain pytest, and nothing is left out there."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from amplifier_core import pytest_plugin, testing
from tests.docs.blocks import markdown_blocks

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


def test_every_fixture_and_every_double_is_on_the_page() -> None:
    """In the first cell of a row."""
    fixture = type(pytest_plugin.coordinator)
    fixtures = {name for name, value in vars(pytest_plugin).items() if isinstance(value, fixture)}
    listed = {
        line.split("`")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")
    }
    assert listed == fixtures | set(testing.__all__)
    assert all(inspect.getdoc(getattr(testing, name)) for name in testing.__all__)
