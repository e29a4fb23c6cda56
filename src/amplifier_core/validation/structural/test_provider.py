"""Checks of the structure of the module that `--module-path` names."""

from __future__ import annotations

from amplifier_core.validation.structural import ProviderStructuralTests

__all__ = ["ProviderStructuralTests"]


class TestProviderStructure(ProviderStructuralTests):
    """What a module of this kind must have."""
