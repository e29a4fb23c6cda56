"""What the specification's examples take for granted, stated in one place.

They show hooks, not the program around them: there is a `registry`, a logger that takes keywords,
and helper functions that the reader would have. All of it is here and nothing else is.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Literal, Protocol

import pytest
from pydantic import BaseModel

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ApprovalTimeout
from amplifier_core.hooks import HookHandler, HookRegistry
from amplifier_core.models import HookResult


class KeywordLogger:
    """A logger in the manner of structlog; the lines are kept for the test to read."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def __getattr__(self, level: str) -> Any:
        if level not in {"debug", "info", "warning", "error"}:
            raise AttributeError(level)

        def log(message: str, **keywords: Any) -> None:
            self.lines.append((level, message, keywords))

        return log


@dataclass
class Issue:
    """What `do_something` and `validate_output` find."""

    issues: list[str] = field(default_factory=list)

    @property
    def has_issues(self) -> bool:
        return bool(self.issues)


class Conversation:
    """A context that takes role and content."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def add_message(
        self, role: Any, content: Any = None, metadata: dict[str, Any] | None = None
    ) -> None:
        self.messages.append({"role": role, "content": content, "metadata": metadata or {}})


class Screen:
    """A display whose source is optional."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, str, str | None]] = []

    def show_message(self, message: str, level: str, source: str | None = None) -> None:
        self.shown.append((message, level, source))


class Nobody:
    """An approval system behind which nobody is."""

    async def request_approval(self, *_: Any, **__: Any) -> str:
        raise ApprovalTimeout("nobody decided")


async def any_hook(event: str, data: dict[str, Any]) -> HookResult:
    """Stands for every hook that an example registers without showing it."""
    return HookResult(action="continue")


HOOKS_NAMED_ONLY = (
    "first_handler", "second_handler", "third_handler", "my_handler", "session_logger",
    "hook_a", "hook_b", "hook_c", "hook_handler", "my_custom_hook", "git_status_injector",
    "my_session_start_hook", "my_session_end_hook", "my_pre_tool_hook", "my_post_tool_hook",
    "my_completion_hook", "my_notification_hook",
)  # fmt: skip


def preamble() -> dict[str, Any]:
    """A fresh namespace for one example."""
    return {
        "__name__": "example",
        **_imports(),
        **_program(),
        **_helpers(),
        **_values(),
        **dict.fromkeys(HOOKS_NAMED_ONLY, any_hook),
    }


def _imports() -> dict[str, Any]:
    return {
        "Any": Any, "Literal": Literal, "Protocol": Protocol, "BaseModel": BaseModel,
        "dataclass": dataclass, "defaultdict": defaultdict, "datetime": datetime,
        "asyncio": asyncio, "pytest": pytest, "re": re, "subprocess": subprocess, "time": time,
        "ApprovalTimeout": ApprovalTimeout, "HookHandler": HookHandler,
        "HookRegistry": HookRegistry, "HookResult": HookResult,
    }  # fmt: skip


def _program() -> dict[str, Any]:
    """What is running around the hooks."""
    context, display = Conversation(), Screen()
    coordinator = SessionCoordinator(context=context, display_system=display)
    return {
        "coordinator": coordinator,
        "register_contributor": coordinator.register_contributor,
        "collect_contributions": lambda channel: asyncio.run(
            coordinator.collect_contributions(channel)
        ),
        "registry": HookRegistry(),
        "logger": KeywordLogger(),
        "context": context,
        "display": display,
        "approval_system": Nobody(),
        "self": SimpleNamespace(context=context, display=display, injection_budget=0),
    }


def _helpers() -> dict[str, Any]:
    """The functions that examples call and leave to the reader."""
    return {
        "load_recent_issues": lambda limit: ["#7 the door squeaks", "#8 the window sticks"][:limit],
        "format_issues": "\n".join,
        "validate_output": lambda tool_result: (tool_result or {}).get("issues", []),
        "get_active_todos": lambda: ["oil the door"],
        "my_capability_provider": lambda: ["search", "write"],
        "do_something": lambda data: Issue(data.get("issues", [])),
    }


def _values() -> dict[str, Any]:
    """The variables that fragments from the inside of a function find already set."""
    return {
        "event": "tool:pre",
        "data": {"tool_name": "Write"},
        "current_data": {"value": 10},
        "original_data": {"tool_name": "Write"},
        "tool_name": "format",
        "linter_errors": ["E501 line too long"],
        "hook_name": "linter",
        "approval_prompt": "Allow write?",
        "cache": {},
        "result": HookResult(
            action="inject_context",
            context_injection="Linter found issues",
            user_message="Found linting issues",
            suppress_output=True,
        ),
        "MAX_INJECTION_SIZE": 10_240,
        "INJECTION_BUDGET_PER_TURN": 10_000,
    }
