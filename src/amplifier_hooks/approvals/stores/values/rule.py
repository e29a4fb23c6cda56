"""A standing decision: an "always" that holds beyond its session."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StandingRule:
    """What is allowed without asking again, by whose word, until when."""

    id: str
    author: str
    created: float
    expires: float
    hook: str
    event: str
    tool_name: str
    prompt: str
    scope: str
    """`exact`: this input only. `below:FOLDER`: edits of files below that folder."""
    digest: str
    working_dir: str
    machine: str
    approval_id: str
    uses: int = 0
    uses_left: int | None = None
    last_used: float | None = None
    revoked_by: str = ""
    revoked_at: float | None = None
    description: str = ""
    """What it allows, in the words that the person read."""
    requester: str = ""
    """Whose requests it is for; another agent cannot use it up."""
    question: str = ""
    """The question that it answers, see `name_question`. Rules of earlier versions have none: they
    were meant for every question of their hook, and answer only the very prompt they were made for.
    """


@dataclass(frozen=True, slots=True)
class OfferedScope:
    """A scope that a person can choose, and what choosing it would allow, in words."""

    id: str
    words: str
