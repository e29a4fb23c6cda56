"""Checks of the structure of the module that `--module-path` names."""

from __future__ import annotations

from amplifier_core.validation.structural import ContextStructuralTests

__all__ = ["ContextStructuralTests"]


class TestContextStructure(ContextStructuralTests):
    """What a module of this kind must have."""
