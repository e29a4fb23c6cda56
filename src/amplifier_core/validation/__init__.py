"""Contract checks that a module's author runs: none of them needs pytest."""

from amplifier_core import only_kernel as only_kernel
from amplifier_core.validation.base import ValidationCheck, ValidationResult
from amplifier_core.validation.hook import HookValidator
from amplifier_core.validation.mount_plan import MountPlanValidationResult, MountPlanValidator
from amplifier_core.validation.parts import (
    ContextValidator,
    OrchestratorValidator,
    ProviderValidator,
    ToolValidator,
)
from amplifier_core.validation.samples import sample_payload

__all__ = [
    "ContextValidator",
    "HookValidator",
    "MountPlanValidationResult",
    "MountPlanValidator",
    "OrchestratorValidator",
    "ProviderValidator",
    "ToolValidator",
    "ValidationCheck",
    "ValidationResult",
    "sample_payload",
]
