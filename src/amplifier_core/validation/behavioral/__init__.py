"""Tests for authors of modules: inherit, and pytest runs them on your module.

from amplifier_core.validation.behavioral import HookBehaviorTests

class TestMyHooks(HookBehaviorTests):
    pass

The fixtures of `amplifier_core.pytest_plugin` find the module and mount it. To choose it yourself,
override `module_path`; to configure it, override `module_config`. Without a test of your own:
`pytest --pyargs amplifier_core.validation.behavioral.test_hook --module-path my_module`.
"""

from amplifier_core.validation.behavioral.test_context import ContextBehaviorTests
from amplifier_core.validation.behavioral.test_hook import HookBehaviorTests
from amplifier_core.validation.behavioral.test_orchestrator import OrchestratorBehaviorTests
from amplifier_core.validation.behavioral.test_provider import ProviderBehaviorTests
from amplifier_core.validation.behavioral.test_tool import ToolBehaviorTests

__all__ = [
    "ContextBehaviorTests",
    "HookBehaviorTests",
    "OrchestratorBehaviorTests",
    "ProviderBehaviorTests",
    "ToolBehaviorTests",
]
