"""Tests for authors of modules: inherit, and pytest runs them on your module.

from amplifier_core.validation.behavioral import HookBehaviorTests

class TestMyHooks(HookBehaviorTests):
    pass

The fixtures of `amplifier_core.pytest_plugin` find the module and mount it. To choose it yourself,
override `module_path`; to configure it, override `module_config`.
"""

from amplifier_core.validation.behavioral.context import ContextBehaviorTests
from amplifier_core.validation.behavioral.hook import HookBehaviorTests
from amplifier_core.validation.behavioral.orchestrator import OrchestratorBehaviorTests
from amplifier_core.validation.behavioral.provider import ProviderBehaviorTests
from amplifier_core.validation.behavioral.tool import ToolBehaviorTests

__all__ = [
    "ContextBehaviorTests",
    "HookBehaviorTests",
    "OrchestratorBehaviorTests",
    "ProviderBehaviorTests",
    "ToolBehaviorTests",
]
