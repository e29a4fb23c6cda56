"""The values that modules hand to the kernel and get from it.

A registry needs results of hooks only, so everything else is imported when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from amplifier_core import only_kernel as only_kernel
from amplifier_core.models.hook_result import (
    CONTINUE,
    DEFAULT_APPROVAL_OPTIONS,
    Action,
    ContextInjection,
    Decision,
    HookResult,
    Level,
    Role,
    continue_with,
    find_problem,
    replace_fields,
)

if TYPE_CHECKING:
    from amplifier_core.message_models import Message, ToolCall
    from amplifier_core.models.approval import ApprovalRequest, ApprovalResponse
    from amplifier_core.models.module_info import ModuleInfo
    from amplifier_core.models.provider_info import ConfigField, ModelInfo, Pricing, ProviderInfo
    from amplifier_core.models.session_status import SessionStatus
    from amplifier_core.models.tool_result import ToolResult

__all__ = [
    "CONTINUE",
    "DEFAULT_APPROVAL_OPTIONS",
    "Action",
    "ApprovalRequest",
    "ApprovalResponse",
    "ConfigField",
    "ContextInjection",
    "Decision",
    "HookResult",
    "Level",
    "Message",
    "ModelInfo",
    "ModuleInfo",
    "Pricing",
    "ProviderInfo",
    "Role",
    "SessionStatus",
    "ToolCall",
    "ToolResult",
    "continue_with",
    "find_problem",
    "replace_fields",
]

_HOMES = {
    "ApprovalRequest": "models.approval",
    "ApprovalResponse": "models.approval",
    "ConfigField": "models.provider_info",
    "Message": "message_models",
    "ModelInfo": "models.provider_info",
    "ModuleInfo": "models.module_info",
    "Pricing": "models.provider_info",
    "ProviderInfo": "models.provider_info",
    "SessionStatus": "models.session_status",
    "ToolCall": "message_models",
    "ToolResult": "models.tool_result",
}


if not TYPE_CHECKING:  # pragma: no branch - checkers would take any name

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"amplifier_core.{_HOMES[name]}"), name)
