"""Checks of the structure of the module that `--module-path` names."""

from __future__ import annotations

from amplifier_core.validation.structural import OrchestratorStructuralTests

__all__ = ["OrchestratorStructuralTests"]


class TestOrchestratorStructure(OrchestratorStructuralTests):
    """What a module of this kind must have."""
