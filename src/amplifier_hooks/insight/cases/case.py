"""A case: events for hooks, in order, each with the answer that is expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TEXTS = ("reason", "context_injection", "approval_prompt", "user_message")
"""Fields of an answer of which a case names a part, or a regular expression; of all others, it
names the value."""

TIME_LIMIT = 10.0
"""Seconds that hooks may take for one event, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What hooks should answer; what is not named may be anything."""

    action: str | None = None
    hook: str | None = None
    """The name of the hook whose answer decides."""
    error: str | None = None
    """The failure of a hook; without it, a hook that fails is a case that fails."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the event as the hooks left it; a name may be a path, such as tool_input.command"""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of the answer."""


@dataclass(frozen=True, slots=True)
class Step:
    """One event that is sent, once or several times."""

    event: str
    data: Mapping[str, Any] = field(default_factory=dict)
    expect: Expectation | None = None
    times: int = 1
    complete: bool = True
    """Whether the fields that are not given are filled in."""


@dataclass(frozen=True, slots=True)
class Case:
    """Events for hooks that have just been loaded."""

    name: str
    steps: tuple[Step, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
    """Options of the module, over those that hold for all cases."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Text files that a case needs; it then runs in a folder of its own."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The cases of a file, and what they are about."""

    path: Path
    cases: tuple[Case, ...]
    hook: str | None = None
    """A file, a folder or the id of a module, as it is written."""
    bundle: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = TIME_LIMIT
