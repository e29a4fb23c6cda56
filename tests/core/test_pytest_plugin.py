"""The pytest plugin in a project of its own."""

from __future__ import annotations

import pytest

pytest_plugins = "pytester"

INI = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
"""
MODULE = """
from amplifier_core.models import HookResult
from amplifier_core.testing import MockContextManager, MockTool, ScriptedOrchestrator
class Provider:
    name = "p"
async def mount(coordinator, config):
    await coordinator.mount("tools", MockTool("t"))
    await coordinator.mount("providers", Provider())
    await coordinator.mount("context", MockContextManager())
    await coordinator.mount("orchestrator", ScriptedOrchestrator())
"""
TESTS = """
async def test_fixtures(coordinator, hook_cleanup, mock_deps, module_path, module_type,
                        tool_module, provider_module, orchestrator_module, context_module):
    hook_cleanup.append(coordinator.hooks.register("tool:pre", lambda e, d: None))
    assert module_type == "tool"
    assert list(tool_module) == ["t"] and list(provider_module) == ["p"]
    assert orchestrator_module.name == "loop-scripted"
    assert context_module.get_messages() == []
    assert set(mock_deps) == {"context", "approval_system", "display_system"}
"""


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    pytester.makeini(INI)
    pytester.makepyfile(test_mine=TESTS)
    return pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:cacheprovider", *arguments)


@pytest.mark.parametrize("how", ["detected", "named"])
def test_the_fixtures_find_and_mount_the_module(pytester: pytest.Pytester, how: str) -> None:
    """In the folder itself, or where the option says."""
    package = pytester.mkpydir("amplifier_module_tool_x")
    (package / "__init__.py").write_text(MODULE)
    arguments = ["--module-path", str(package)] if how == "named" else []
    run(pytester, *arguments).assert_outcomes(passed=1)


def test_the_folder_itself_may_be_the_module(pytester: pytest.Pytester) -> None:
    """A project whose root is the package."""
    (pytester.path / "__init__.py").write_text(MODULE)
    pytester.makepyfile(test_mine="def test_type(module_type): assert module_type == 'unknown'")
    pytester.makeini(INI)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--import-mode=importlib")
    result.assert_outcomes(passed=1)


def test_without_a_module_the_tests_are_skipped(pytester: pytest.Pytester) -> None:
    """A project that has none says so."""
    run(pytester).assert_outcomes(skipped=1)


def test_the_plugin_alone_imports_nothing_of_the_kernel(pytester: pytest.Pytester) -> None:
    """pytest loads the plugin for every project, so it must cost nothing."""
    pytester.makepyfile(
        "import sys\ndef test_it():\n    assert 'amplifier_core.hooks' not in sys.modules\n"
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
