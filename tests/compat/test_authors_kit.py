"""The kit for authors of modules: base classes of tests, and the fixtures that they live on.

The modules are written as the ecosystem writes them, each a package beside its tests, in projects
that run pytest-asyncio in its strict mode.
"""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import amplifier_core.loader
import amplifier_core.testing
import amplifier_core.validation.module  # noqa: F401 - else each project imports it all again
from amplifier_core.validation import behavioral, structural
from amplifier_core.validation.base import check_on_session_ready
from tests.compat.authored import HOOK, KINDS, MODULES, TOOL

pytest_plugins = "pytester"

INI = """
[pytest]
asyncio_mode = strict
asyncio_default_fixture_loop_scope = function
"""
AUTHORED = """
from amplifier_core.validation.behavioral import {kind}BehaviorTests
from amplifier_core.validation.structural import {kind}StructuralTests

class TestBehavior({kind}BehaviorTests):
    pass

class TestStructure({kind}StructuralTests):
    pass
"""


def make_project(pytester: pytest.Pytester, package: str, text: str, tests: str) -> None:
    """A project of the ecosystem: the package, and a folder of tests beside it."""
    pytester.makeini(INI)
    for folder, file, content in (
        (f"amplifier_module_{package}", "__init__.py", text),
        ("tests", "test_module.py", tests),
    ):
        (pytester.path / folder).mkdir()
        (pytester.path / folder / file).write_text(content)


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run its tests; every warning counts."""
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-W", "error", *arguments)


# Base classes


def test_a_project_of_its_own_process_needs_nothing_but_the_package(
    pytester: pytest.Pytester,
) -> None:
    """pytest finds the plugin by its entry point."""
    make_project(pytester, "hooks_count", HOOK, AUTHORED.format(kind="Hook"))
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error")
    done.assert_outcomes(passed=8)


@pytest.mark.parametrize("package", MODULES)
def test_a_class_without_a_line_of_its_own_tests_a_module(
    pytester: pytest.Pytester, package: str
) -> None:
    """In strict mode, with nothing but fixtures, and as many tests as authors count."""
    kind, text, count = MODULES[package]
    make_project(pytester, package, text, AUTHORED.format(kind=kind))
    run(pytester).assert_outcomes(passed=count + 1)


@pytest.mark.parametrize("package", MODULES)
def test_without_a_module_every_test_is_skipped(pytester: pytest.Pytester, package: str) -> None:
    """There is nothing to test."""
    kind, _, count = MODULES[package]
    pytester.makeini(INI)
    pytester.makepyfile(AUTHORED.format(kind=kind))
    run(pytester).assert_outcomes(skipped=count + 1)


@pytest.mark.parametrize(
    ("package", "good", "bad", "failed", "errors"),
    [
        ("hooks_count", "    return cleanup", "    return 3", 3, 0),
        ("hooks_count", "    seen = []", "    raise OSError('no')", 3, 5),
        ("tool_read", 'name = "read"', "name = ''", 1, 0),
        ("tool_read", 'input.get("path")', 'input["path"]', 3, 0),
        ("provider_echo", "def get_info", "def get_infos", 2, 0),
        ("provider_echo", "return response.tool_calls or []", "return None", 1, 0),
        ("loop_once", "return text", "return response", 2, 0),
        ("context_list", "self.messages.append(message)", "pass", 5, 0),
    ],
)
def test_a_module_that_breaks_a_promise_fails(
    pytester: pytest.Pytester, package: str, good: str, bad: str, failed: int, errors: int
) -> None:
    """The tests can fail, too."""
    kind, text, count = MODULES[package]
    assert good in text
    make_project(pytester, package, text.replace(good, bad), AUTHORED.format(kind=kind))
    passed = count + 1 - failed - errors
    run(pytester).assert_outcomes(passed=passed, failed=failed, errors=errors)


@pytest.mark.parametrize("kind", KINDS)
def test_every_inherited_test_is_marked(kind: str) -> None:
    """Strict mode runs only what is."""
    for room, suffix in ((behavioral, "BehaviorTests"), (structural, "StructuralTests")):
        tests = getattr(room, kind + suffix)
        functions = [getattr(tests, name) for name in dir(tests) if name.startswith("test_")]
        assert functions
        for function in functions:
            assert inspect.iscoroutinefunction(function)
            assert "asyncio" in [mark.name for mark in function.pytestmark]


def test_the_structural_tests_bring_the_check_of_on_session_ready() -> None:
    """From either home."""
    assert structural.check_on_session_ready is check_on_session_ready


def test_the_kit_can_be_imported_without_pytest() -> None:
    """Validators and base classes alike."""
    code = (
        "import sys\nsys.modules['pytest'] = sys.modules['pytest_asyncio'] = None\n"
        "import amplifier_core.validation, amplifier_core.validation.base\n"
        "import amplifier_core.validation.behavioral, amplifier_core.validation.structural\n"
        "import amplifier_core.testing\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# Fixtures

FIXTURES = """
import pytest
from pathlib import Path
from amplifier_core import ModuleCoordinator
from amplifier_core.testing import EventRecorder, MockContextManager, MockCoordinator

HERE = Path(__file__).parents[1]

def test_module(module_path, module_type, is_module_context):
    assert module_path == HERE / "amplifier_module_tool_read"
    assert module_type == "tool"
    assert is_module_context is True

def test_fresh_coordinator(coordinator):
    assert isinstance(coordinator, MockCoordinator)
    assert coordinator.mount_history == []

def test_dependencies(mock_deps):
    assert isinstance(mock_deps, tuple)
    context, providers, tools, hooks = mock_deps
    assert isinstance(context, MockContextManager)
    assert list(providers) == ["default"]
    assert list(tools) == ["test_tool"]
    assert isinstance(hooks, EventRecorder)

@pytest.mark.asyncio
async def test_the_first_tool(tool_module, coordinator):
    from amplifier_module_tool_read import ReadTool
    assert isinstance(tool_module, ReadTool)
    assert coordinator.get("tools", "read") is tool_module

@pytest.mark.asyncio
async def test_what_mount_returned(hook_cleanup, coordinator):
    assert coordinator.mount_history[0]["name"] == "read"
    await hook_cleanup()
    assert coordinator.unmount_history == [{"mount_point": "tools", "name": "read"}]
"""


def test_every_fixture_of_a_tool_module(pytester: pytest.Pytester) -> None:
    """The module is found above the test file, mounted with `{}` and undone."""
    make_project(pytester, "tool_read", TOOL, FIXTURES)
    run(pytester).assert_outcomes(passed=5)


@pytest.mark.parametrize(
    ("package", "fixture", "name"),
    [
        ("provider_echo", "provider_module", "EchoProvider"),
        ("loop_once", "orchestrator_module", "OneShot"),
        ("context_list", "context_module", "ListContext"),
    ],
)
def test_a_part_is_the_instance_itself(
    pytester: pytest.Pytester, package: str, fixture: str, name: str
) -> None:
    """Not the dict of a mount point."""
    tests = (
        f"import pytest\nfrom amplifier_module_{package} import {name}\n\n@pytest.mark.asyncio\n"
        f"async def test_it({fixture}, module_type):\n    assert isinstance({fixture}, {name})\n"
        f"    assert module_type == {MODULES[package][0].lower()!r}\n"
    )
    make_project(pytester, package, MODULES[package][1], tests)
    run(pytester, "-o", "pythonpath=.").assert_outcomes(passed=1)


def test_an_option_names_the_module(
    pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Wherever the tests are."""
    package = tmp_path_factory.mktemp("elsewhere") / "amplifier_module_hooks_count"
    package.mkdir()
    (package / "__init__.py").write_text(HOOK)
    pytester.makeini(INI)
    pytester.makepyfile(AUTHORED.format(kind="Hook"))
    run(pytester, f"--module-path={package}").assert_outcomes(passed=8)


def test_without_a_module_the_fixtures_say_so(pytester: pytest.Pytester) -> None:
    """None, and what depends on it is skipped."""
    tests = """
import pytest

def test_none(module_path, is_module_context):
    assert module_path is None
    assert is_module_context is False

PARTS = ["tool", "provider", "orchestrator", "context"]

@pytest.mark.parametrize("fixture", [*[f"{part}_module" for part in PARTS], "hook_cleanup"])
def test_skipped(request, fixture):
    request.getfixturevalue(fixture)
"""
    pytester.makeini(INI)
    pytester.makepyfile(tests)
    run(pytester).assert_outcomes(passed=1, skipped=5)
