"""Checks of the structure of the module that `--module-path` names."""

from __future__ import annotations

from amplifier_core.validation.structural import ToolStructuralTests

__all__ = ["ToolStructuralTests"]


class TestToolStructure(ToolStructuralTests):
    """What a module of this kind must have."""
