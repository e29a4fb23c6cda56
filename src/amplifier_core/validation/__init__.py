"""Contract checks that a module's author runs: none of them needs pytest."""

from amplifier_core import only_kernel as only_kernel
from amplifier_core.validation.base import ValidationCheck, ValidationResult
from amplifier_core.validation.context import ContextValidator
from amplifier_core.validation.hook import HookValidator, sample_payload
from amplifier_core.validation.mount_plan import MountPlanValidationResult, MountPlanValidator
from amplifier_core.validation.orchestrator import OrchestratorValidator
from amplifier_core.validation.provider import ProviderValidator
from amplifier_core.validation.tool import ToolValidator

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

PUBLIC_MODULES = ("hook",)
