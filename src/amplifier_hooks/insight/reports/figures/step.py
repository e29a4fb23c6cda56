"""What an agent did: turns, the calls in them, and what it said between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from amplifier_hooks.insight.reports.figures.excerpt import Excerpt
from amplifier_hooks.insight.reports.figures.kept import Kept

Outcome = Literal[
    "done", "failed", "denied", "refused", "stopped", "unknown", "running", "not run", "not started"
]

MOST_STEPS = 40


@dataclass(slots=True)
class Call:
    """One call of a tool, and what became of it."""

    time: str
    tool: str
    id: str = ""
    about: str = ""
    input: Excerpt = field(default_factory=Excerpt)
    outcome: Outcome = "not started"
    by: str = ""
    """Who denied or refused it."""
    reason: str = ""
    result: Excerpt = field(default_factory=Excerpt)
    ms: float | None = None
    gated: bool = False
    """Whether a person or a rule had to allow it."""
    is_command: bool = False
    changed: bool = False
    """Whether a hook changed its input or its result."""
    contradicted: bool = False
    """Whether the agent showed a result of it although it was denied."""


@dataclass(slots=True)
class Said:
    """What the agent wrote between its calls."""

    time: str
    text: Excerpt


@dataclass(slots=True)
class Turn:
    """From a prompt to its answer."""

    session: str
    number: int
    started: str
    agent: str = ""
    """The name of the sub-agent; empty for the session itself."""
    ended: str = ""
    prompt: Excerpt = field(default_factory=Excerpt)
    answer: Excerpt = field(default_factory=Excerpt)
    status: str = ""
    tokens: int = 0
    money: float | None = None
    calls: int = 0
    steps: Kept[Call | Said] = field(default_factory=lambda: Kept(MOST_STEPS))
