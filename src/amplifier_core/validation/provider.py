"""Whether a module that mounts providers keeps its contract."""

from __future__ import annotations

from amplifier_core.validation.module import PartValidator


class ProviderValidator(PartValidator):
    """Mounts providers."""

    kind = "provider"
    interface = "Provider"
    mount_point = "providers"
    members = ("name", "get_info", "list_models", "complete", "parse_tool_calls")
