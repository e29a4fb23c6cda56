"""Whether a module that mounts a loop keeps its contract."""

from __future__ import annotations

from amplifier_core.validation.module import PartValidator


class OrchestratorValidator(PartValidator):
    """Mounts a loop."""

    kind = "orchestrator"
    interface = "Orchestrator"
    mount_point = "orchestrator"
    members = ("execute",)
