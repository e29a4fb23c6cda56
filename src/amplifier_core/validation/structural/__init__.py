"""Tests for authors of modules: the module has what a module of its kind must have.

from amplifier_core.validation.structural import HookStructuralTests

class TestMyHooks(HookStructuralTests):
    pass

Without a test of your own:
`pytest --pyargs amplifier_core.validation.structural.test_hook --module-path my_module`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from amplifier_core.validation.base import check_on_session_ready
from amplifier_core.validation.context import ContextValidator
from amplifier_core.validation.hook import HookValidator
from amplifier_core.validation.module import ModuleValidator
from amplifier_core.validation.orchestrator import OrchestratorValidator
from amplifier_core.validation.provider import ProviderValidator
from amplifier_core.validation.pytest_marks import asynchronous, require_module
from amplifier_core.validation.tool import ToolValidator

__all__ = [
    "ContextStructuralTests",
    "HookStructuralTests",
    "OrchestratorStructuralTests",
    "ProviderStructuralTests",
    "ToolStructuralTests",
    "check_on_session_ready",
]


class _StructuralTests:
    validator: ClassVar[type[ModuleValidator]]

    @asynchronous
    async def test_the_module_has_the_structure_of_its_kind(
        self, module_path: Path | None, module_config: dict[str, Any]
    ) -> None:
        """Everything that the validator of this kind checks."""
        module = require_module(module_path)
        result = await self.validator().validate(module, config=module_config)
        assert result.passed, result.describe_errors()


class HookStructuralTests(_StructuralTests):
    """A hook module."""

    validator = HookValidator


class ToolStructuralTests(_StructuralTests):
    """A module of tools."""

    validator = ToolValidator


class ProviderStructuralTests(_StructuralTests):
    """A module of providers."""

    validator = ProviderValidator


class OrchestratorStructuralTests(_StructuralTests):
    """A module with a loop."""

    validator = OrchestratorValidator


class ContextStructuralTests(_StructuralTests):
    """A module with a context."""

    validator = ContextValidator
