"""Tests for hook authors: inherit, and pytest runs them on your module.

from amplifier_core.validation.behavioral import HookBehaviorTests

class TestMyHooks(HookBehaviorTests):
    module = "my-hooks"            # an id or a path
    config = {"level": "strict"}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from amplifier_core.validation.hook import HookValidator


class HookBehaviorTests:
    """The module mounts, answers every event it hears, and goes away without a trace."""

    module: ClassVar[str | Path] = ""
    config: ClassVar[Mapping[str, Any]] = {}

    async def test_the_module_keeps_the_contract_of_hooks(self) -> None:
        """Every check of HookValidator."""
        result = await HookValidator().validate(self.module, self.config)
        assert result.passed, result.summary()
