"""Checks of the structure of the module that `--module-path` names."""

from __future__ import annotations

from amplifier_core.validation.structural import HookStructuralTests

__all__ = ["HookStructuralTests"]


class TestHookStructure(HookStructuralTests):
    """What a module of this kind must have."""
