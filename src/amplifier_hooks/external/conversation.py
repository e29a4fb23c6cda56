"""Texts that hooks add to a conversation elsewhere, and the effects of one event there."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events
from amplifier_core.answers import Answer, Outcome
from amplifier_core.events import is_notification
from amplifier_core.utils import resolve
from amplifier_core.utils.conversation import add_message

_HANDED_BACK = frozenset({events.TOOL_PRE, events.TOOL_POST, events.PROMPT_SUBMIT})
"""Where the other program is given what hooks make of it."""


@dataclass(slots=True)
class EventContext:
    """Collects for one event: several of one session may be under way at once."""

    powers: frozenset[str] = frozenset()
    """What an answer can do at this event."""

    texts: list[str] = field(default_factory=list)
    """What hooks inject."""

    notes: list[str] = field(default_factory=list)
    """What the person is to read."""

    question: str = ""
    """What the other program is to ask its person, if hooks want somebody asked."""

    left_open: str = ""
    """What the agent is told of a question that still waits for a person, after it was refused."""

    call_id: str = ""
    """Of the tool call that is judged, as the trail knows it."""

    denied_by: str = ""
    """Who denied it, if somebody did."""

    go_on: list[str] = field(default_factory=list)
    """Why the agent must not stop yet."""

    held: bool = False
    """Whether hooks wanted the agent to go on once too often."""

    event: str = ""
    """Ours."""

    agent_id: str = ""
    """Of the sub-agent that does this; empty for the agent itself."""

    answers: list[Answer] = field(default_factory=list)
    """What hooks answered, each with its hook."""

    folder: str = ""
    """Where the other program is, if it says so."""

    left_to_program: bool = False
    """Whether a rule of its person, which the program itself follows, stands for an answer."""

    host: tuple[str, ...] = ()
    """The command line of the other program, where its mode matters at this event."""

    changed: bool = False
    """Whether hooks changed what nobody hands back to the other program."""

    outcome: Outcome | None = None
    """Of the tool call or the result that is judged, or of the part of it that was denied."""

    def note(self, name: str, outcome: Outcome) -> None:
        """Keep what hooks answered to one of our events."""
        self.answers += outcome.answers
        modified = any(one.result.action == "modify" for one in outcome.answers)
        # What only tells is theirs to change.
        counts = outcome.allowed and not is_notification(name) and name not in _HANDED_BACK
        self.changed |= modified and counts


current_event: ContextVar[EventContext | None] = ContextVar("amplifier_event", default=None)
"""The event that is judged in this task, if its answer can carry what hooks add meanwhile."""


class ExternalContext:
    """Stands where a conversation would be: it is elsewhere, and what is added is passed on.

    What is added while an event is judged goes with the answer to that event. `owner` is the
    context of a coordinator that was made by hand; it gets everything, too.
    """

    def __init__(self, owner: Any = None) -> None:
        self._owner = owner
        self._waiting: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        """Keep a message until the other program can be given it."""
        if self._owner is not None:
            await add_message(self._owner, message)
        event = current_event.get()
        if event is None:
            self._waiting.append(message)
        else:
            event.texts.append(str(message.get("content") or ""))

    async def get_messages(self) -> list[dict[str, Any]]:
        """The conversation is elsewhere."""
        return []

    async def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        """The conversation is elsewhere."""
        return []

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        """Nobody can replace a conversation that is elsewhere."""

    async def clear(self) -> None:
        """Forget what waits."""
        self._waiting.clear()
        if self._owner is not None:
            await resolve(self._owner.clear())

    def take(self) -> list[dict[str, Any]]:
        """What was added since the last time, and belongs to no event."""
        waiting = self._waiting
        self._waiting = []
        return waiting
