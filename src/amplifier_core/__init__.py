"""Amplifier's kernel: hooks that observe and control an agent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "AmplifierSession": "session",
    "ApprovalAnswer": "approval",
    "ApprovalQuestion": "approval",
    "ApprovalSystem": "approval",
    "ApprovalTimeout": "errors",
    "DisplaySystem": "display",
    "HookHandler": "hooks",
    "HookRegistry": "hooks",
    "HookResult": "models",
    "ModuleCoordinator": "coordinator",
    "SessionCoordinator": "coordinator",
    "ToolResult": "models",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
