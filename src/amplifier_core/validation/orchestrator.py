"""The validator of this kind, at the path that existing tests import it from."""

from amplifier_core.validation.parts import OrchestratorValidator

__all__ = ["OrchestratorValidator"]
