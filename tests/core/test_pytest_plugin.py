"""The pytest plugin in a project of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import amplifier_core.loader
import amplifier_core.testing
import amplifier_core.validation.module  # noqa: F401 - else each project imports it all again

pytest_plugins = "pytester"

INI = """
[pytest]
asyncio_mode = strict
asyncio_default_fixture_loop_scope = function
"""
MODULE = """
from amplifier_core.testing import MockContextManager, MockProvider, MockTool, ScriptedOrchestrator

undone = []

async def mount(coordinator, config):
    coordinator.hooks.register("tool:pre", lambda event, data: None, name="mine")
    for name in config.get("tools", ["first", "second"]):
        await coordinator.mount("tools", MockTool(name))
    await coordinator.mount("providers", MockProvider("p"))
    await coordinator.mount("context", MockContextManager())
    await coordinator.mount("orchestrator", ScriptedOrchestrator([]))
    return lambda: undone.append(coordinator)
"""
TESTS = """
import pytest

pytestmark = pytest.mark.asyncio

async def test_parts(tool_module, provider_module, orchestrator_module, context_module):
    assert tool_module.name == "first"
    assert provider_module.name == "p"
    assert orchestrator_module.call_count == 0
    assert context_module.messages == []

async def test_hooks(hook_cleanup, coordinator):
    assert callable(hook_cleanup)
    assert coordinator.hooks.list_handlers() == {"tool:pre": ["mine"]}
    import amplifier_module_tool_x
    assert coordinator not in amplifier_module_tool_x.undone

async def test_afterwards():
    import amplifier_module_tool_x
    assert len(amplifier_module_tool_x.undone) == 5
"""


def run(pytester: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    """Run the tests of a project in strict mode."""
    pytester.makeini(INI)
    pytester.makepyfile(test_mine=tests)
    return pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:cacheprovider", *arguments)


def make_package(pytester: pytest.Pytester, name: str, text: str = MODULE) -> Path:
    """A package in the project's root."""
    package = Path(pytester.mkpydir(name))
    (package / "__init__.py").write_text(text)
    return package


@pytest.mark.parametrize("how", ["detected", "named"])
def test_the_fixtures_find_mount_and_undo_the_module(pytester: pytest.Pytester, how: str) -> None:
    """Beside the tests, or where the option says; each fixture mounts and undoes it."""
    package = make_package(pytester, "amplifier_module_tool_x")
    arguments = [f"--module-path={package}"] if how == "named" else []
    run(pytester, TESTS, *arguments).assert_outcomes(passed=3)


def test_an_option_names_a_module_elsewhere(
    pytester: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It wins over the package beside the tests."""
    make_package(pytester, "amplifier_module_tool_x", "")
    file = tmp_path_factory.mktemp("elsewhere") / "hooks_mine.py"
    file.write_text(MODULE)
    tests = f"""
import pytest
from pathlib import Path

@pytest.mark.asyncio
async def test_it(module_path, module_type, is_module_context, tool_module):
    assert module_path == Path({str(file)!r})
    assert (module_type, is_module_context) == ("hook", True)
    assert tool_module.name == "first"
"""
    run(pytester, tests, f"--module-path={file}").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("name", "declared", "kind"),
    [
        ("hooks_x", "", "hook"),
        ("tool_x", "", "tool"),
        ("provider_x", "", "provider"),
        ("loop_x", "", "orchestrator"),
        ("context_x", "", "context"),
        ("x", "__amplifier_module_type__ = 'context'", "context"),
    ],
)
def test_the_kind_is_declared_or_guessed(
    pytester: pytest.Pytester, name: str, declared: str, kind: str
) -> None:
    """What the package says of itself, else its name."""
    make_package(pytester, f"amplifier_module_{name}", declared)
    run(pytester, f"def test_it(module_type): assert module_type == {kind!r}\n").assert_outcomes(
        passed=1
    )


def test_a_project_may_choose_and_configure_its_module(pytester: pytest.Pytester) -> None:
    """By overriding two fixtures."""
    make_package(pytester, "mine")
    tests = f"""
import pytest

@pytest.fixture
def module_path():
    return {str(pytester.path / "mine")!r}

@pytest.fixture
def module_config():
    return {{"tools": ["other"]}}

@pytest.mark.asyncio
async def test_it(tool_module, module_type):
    assert tool_module.name == "other"
    assert module_type == "tool"
"""
    run(pytester, tests).assert_outcomes(passed=1)


def test_without_a_module_the_tests_are_skipped(pytester: pytest.Pytester) -> None:
    """A project that has none can be told so, and nothing fails."""
    tests = """
import pytest

def test_none(module_path, module_type, is_module_context):
    assert (module_path, module_type, is_module_context) == (None, None, False)

@pytest.mark.asyncio
@pytest.mark.parametrize("fixture", ["hook_cleanup", "tool_module", "context_module"])
async def test_skipped(fixture, hook_cleanup): ...
"""
    run(pytester, tests).assert_outcomes(passed=1, skipped=3)


def test_a_part_that_is_not_mounted_is_skipped_and_the_rest_undone(
    pytester: pytest.Pytester,
) -> None:
    """A provider without its key mounts nothing: there is nothing to test."""
    text = "undone = []\nasync def mount(c, k): return lambda: undone.append(1)\n"
    make_package(pytester, "amplifier_module_provider_x", text)
    tests = """
import pytest

@pytest.mark.asyncio
async def test_provider(provider_module): ...

@pytest.mark.asyncio
async def test_loop(orchestrator_module): ...

def test_afterwards():
    import amplifier_module_provider_x
    assert amplifier_module_provider_x.undone == [1, 1]
"""
    run(pytester, tests).assert_outcomes(passed=1, skipped=2)


def test_a_module_without_a_clean_up_needs_none(pytester: pytest.Pytester) -> None:
    """`mount` may return nothing."""
    make_package(pytester, "amplifier_module_hooks_x", "async def mount(c, k): return None\n")
    tests = """
import pytest

@pytest.mark.asyncio
async def test_it(hook_cleanup):
    assert hook_cleanup is None
"""
    run(pytester, tests).assert_outcomes(passed=1)


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_clean_up_that_fails_is_logged_and_fails_nothing(
    pytester: pytest.Pytester, kind: str
) -> None:
    """A test may have called it already; another test is about it."""
    text = f"{kind} undo(): raise OSError('again')\nasync def mount(c, k): return undo\n"
    make_package(pytester, "amplifier_module_hooks_x", text)
    tests = """
import pytest

@pytest.mark.asyncio
async def test_it(hook_cleanup):
    assert hook_cleanup
"""
    result = run(pytester, tests, "-o", "log_cli=true")
    result.assert_outcomes(passed=1)
    assert "The clean-up of the module failed" in result.stdout.str()


def test_what_a_loop_needs_is_at_hand(pytester: pytest.Pytester) -> None:
    """A conversation, a provider, a tool and something to emit on; all of it fresh."""
    tests = """
import pytest
from amplifier_core.testing import EventRecorder, MockContextManager, MockCoordinator

@pytest.mark.parametrize("number", [1, 2])
def test_it(number, mock_deps, coordinator):
    context, providers, tools, hooks = mock_deps
    assert isinstance(context, MockContextManager) and context.messages == []
    assert list(providers) == ["default"] and list(tools) == ["test_tool"]
    assert tools["test_tool"].name == "test_tool"
    assert isinstance(hooks, EventRecorder)
    assert isinstance(coordinator, MockCoordinator) and coordinator.mount_history == []
    context.messages.append(number)
    coordinator.mount_history.append(number)
"""
    run(pytester, tests).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("kind", "failed"),
    # The doubled loop keeps nothing of what was said, and is told so.
    [("context", 0), ("hook", 0), ("orchestrator", 1), ("provider", 0), ("tool", 0)],
)
def test_the_checks_run_without_a_test_of_ones_own(
    pytester: pytest.Pytester, kind: str, failed: int
) -> None:
    """The modules with the base classes are tests themselves."""
    package = make_package(pytester, "amplifier_module_tool_x")
    pytester.makeini(INI)
    home = "amplifier_core.validation"
    modules = [f"{home}.structural.test_{kind}", f"{home}.behavioral.test_{kind}"]
    options = ("-p", "no:randomly", "-p", "no:cacheprovider", "--module-path", str(package))
    ran = pytester.runpytest_inprocess(*options, "--pyargs", *modules)
    counts = ran.parseoutcomes()
    assert counts.get("passed", 0) >= 2
    assert (counts.get("failed", 0), counts.get("errors", 0)) == (failed, 0)


WITHOUT = ("-p", "no:asyncio")
STRICT = ("-o", "asyncio_default_fixture_loop_scope=function", "--asyncio-mode=strict")
AUTO = ("-o", "asyncio_default_fixture_loop_scope=function", "--asyncio-mode=auto")

THREE_LINES = """
from amplifier_core import HookResult

async def guard(event, data):
    return HookResult(action="deny", reason="holds secrets")

async def test_the_guard_denies():
    answer = await guard("tool:pre", {"tool_name": "Write", "tool_input": {}})
    assert answer.action == "deny"
"""
EVERYTHING = """
import asyncio
import pytest

ran = []

@pytest.fixture
async def loop():
    loop = asyncio.get_running_loop()
    yield loop
    assert asyncio.get_running_loop() is loop
    ran.append("torn down")

@pytest.fixture
async def number():
    await asyncio.sleep(0)
    return 42

@pytest.mark.asyncio
async def test_marked(): ran.append("marked")

async def test_with_fixtures(loop, number, coordinator):
    assert asyncio.get_running_loop() is loop
    assert number == 42
    ran.append("fixtures")

@pytest.mark.parametrize("case", ["one", "two"])
async def test_parametrized(case, number): ran.append(case)

class TestMethods:
    @pytest.fixture
    async def itself(self):
        yield self

    async def test_method(self, itself):
        assert itself is self
        ran.append("method")

def test_sync(number): ran.append(number)

async def test_skipped(): pytest.skip("not here")

@pytest.mark.xfail(strict=True)
async def test_failed(): assert not ran

def test_each_ran_once():
    assert ran == ["marked", "fixtures", "torn down", "one", "two", "method", 42]
"""


def run_async_tests(pytester: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    """Run the tests of a project without settings, every warning an error."""
    pytester.makepyfile(test_mine=tests)
    quiet = ("-p", "no:randomly", "-p", "no:cacheprovider", "-W", "error", "--strict-markers")
    return pytester.runpytest_inprocess(*quiet, *arguments)


@pytest.mark.parametrize("arguments", [WITHOUT, STRICT, AUTO], ids=["without", "strict", "auto"])
def test_async_tests_and_fixtures_run_without_any_setting(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    """With pytest-asyncio in either mode and without it: each test once, fixtures in its loop."""
    run_async_tests(pytester, EVERYTHING, *arguments).assert_outcomes(
        passed=7, skipped=1, xfailed=1
    )


def test_the_documented_test_of_a_hook_passes_under_plain_pytest(
    pytester: pytest.Pytester,
) -> None:
    """In a process of its own, as an author starts it.

    pytest loads the plugin for every project: before the tests, nothing of the kernel is imported.
    """
    pytester.makeconftest("import sys\nassert 'amplifier_core.hooks' not in sys.modules\n")
    pytester.makepyfile(test_mine=THREE_LINES)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *WITHOUT)
    done.assert_outcomes(passed=1)


@pytest.mark.parametrize("arguments", [WITHOUT, STRICT], ids=["without", "strict"])
def test_tests_of_anyio_stay_with_anyio(
    pytester: pytest.Pytester, arguments: tuple[str, ...]
) -> None:
    """Marked or by its fixture; a fixture that both kinds of tests use is set up by either."""
    tests = """
import pytest

ran = []

@pytest.fixture
def anyio_backend():
    ran.append("anyio")
    return "asyncio"

@pytest.fixture
async def shared():
    yield 1

async def test_ours(shared): ran.append("ours")

@pytest.mark.anyio
async def test_marked(shared): ran.append("marked")

async def test_by_fixture(anyio_backend, shared): ran.append("by fixture")

async def test_ours_again(shared): ran.append("ours")

def test_each_ran_once():
    assert [one for one in ran if one != "anyio"] == ["ours", "marked", "by fixture", "ours"]
    assert "anyio" in ran
"""
    run_async_tests(pytester, tests, *arguments).assert_outcomes(passed=5)


def test_a_test_of_a_plugin_that_is_not_there_is_not_run_in_the_wrong_loop(
    pytester: pytest.Pytester,
) -> None:
    """pytest says itself what is missing."""
    pytester.makeini("[pytest]\nmarkers = trio")
    tests = "import pytest\n\n@pytest.mark.trio\nasync def test_it(): assert False\n"
    done = run_async_tests(pytester, tests, *WITHOUT)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*async def functions are not natively supported*"])


def test_pytest_trio_in_its_own_mode_keeps_all_async_tests(pytester: pytest.Pytester) -> None:
    """It takes every one, marked or not."""
    pytester.makeconftest(
        """
import pytest

class Trio:
    def pytest_addoption(self, parser): parser.addini("trio_mode", "", type="bool", default=True)

def pytest_configure(config): config.pluginmanager.register(Trio(), "trio")
"""
    )
    done = run_async_tests(pytester, "async def test_it(): assert False\n", *WITHOUT)
    done.stdout.fnmatch_lines(["*async def functions are not natively supported*"])


def test_a_fixture_of_a_wider_scope_says_what_it_needs(pytester: pytest.Pytester) -> None:
    """Its loop would be closed before the second test."""
    tests = """
import pytest

@pytest.fixture(scope="module")
async def wide():
    return 1

async def test_one(wide): ...

async def test_two(wide): ...
"""
    done = run_async_tests(pytester, tests, *WITHOUT)
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*'wide' has the scope 'module'*install pytest-asyncio*"])


def test_a_fixture_that_yields_twice_is_an_error(pytester: pytest.Pytester) -> None:
    """As it is for pytest's own."""
    tests = """
import pytest

@pytest.fixture
async def twice():
    yield 1
    yield 2

async def test_it(twice): ...
"""
    done = run_async_tests(pytester, tests, *WITHOUT)
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*An async fixture must yield only once*"])


def test_what_a_test_leaves_running_ends_with_it(pytester: pytest.Pytester) -> None:
    """The next test begins in a loop of its own."""
    tests = """
import asyncio

tasks = []

async def test_one(): tasks.append(asyncio.ensure_future(asyncio.sleep(3600)))

async def test_two():
    assert tasks[0].cancelled()
    assert tasks[0].get_loop() is not asyncio.get_running_loop()
"""
    run_async_tests(pytester, tests, *WITHOUT).assert_outcomes(passed=2)


def test_a_fixture_of_pytest_asyncio_keeps_its_settings(pytester: pytest.Pytester) -> None:
    """Only plain ones are handed to it."""
    tests = """
import asyncio
import pytest
import pytest_asyncio

@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def loop():
    yield asyncio.get_running_loop()

@pytest.mark.asyncio(loop_scope="module")
async def test_it(loop): assert loop is asyncio.get_running_loop()
"""
    run_async_tests(pytester, tests, *STRICT).assert_outcomes(passed=1)
