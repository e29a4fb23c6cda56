"""What a store knows of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SessionStatus = Literal["running", "waiting", "idle", "ended", "failed", "lost"]
"""`waiting`: for a person. `lost`: its process has not been heard of for longer than its lease."""

SELF_TEST_PREFIX = "amplifier-check-"
SELF_TEST_HOOK = "amplifier-check"
"""What `amplifier guard check` calls its own sessions, behind the agent's name, and its hook."""


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One session in the index."""

    id: str
    machine: str = ""
    user: str = ""
    name: str = ""
    bundle: str = ""
    working_dir: str = ""
    status: SessionStatus = "running"
    created: float = 0.0
    updated: float = 0.0
    turns: int = 0
    reply: str = ""
    error: str = ""
    parent_id: str = ""
    hosted: bool = False
    """Whether a server runs it, for a client of its API."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One record of a session's trail, as it was published; numbered from 1 within its session."""

    number: int
    time: float
    type: str
    event: str = ""
    hook: str = ""
    turn: int = 0
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overruling:
    """How people answered what a hook asked."""

    hook: str
    asked: int
    allowed: int
    denied: int
    expired: int


@dataclass(frozen=True, slots=True)
class TrailHead:
    """The newest checkpoint of a trail that a witness has seen, and how far it was proven."""

    log: str
    name: str
    size: int
    note: str
    seen: float
    machine: str = ""
