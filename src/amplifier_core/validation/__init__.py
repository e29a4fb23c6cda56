"""Contract checks that a module's author runs: none of them needs pytest."""

from amplifier_core.validation.hook import HookValidator
from amplifier_core.validation.mount_plan import MountPlanValidator
from amplifier_core.validation.parts import (
    ContextValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)
from amplifier_core.validation.report import Check, ValidationResult
from amplifier_core.validation.samples import sample_payload

__all__ = [
    "Check",
    "ContextValidator",
    "HookValidator",
    "MountPlanValidator",
    "OrchestratorValidator",
    "ProviderValidator",
    "ToolValidator",
    "ValidationResult",
    "sample_payload",
]
