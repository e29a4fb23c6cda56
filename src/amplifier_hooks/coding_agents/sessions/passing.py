"""What one event brings about while its hooks run: for the answer that the agent gets."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.models import Level
from amplifier_core.models.answer import Answer
from amplifier_hooks.coding_agents.dialects.dialect import Power


@dataclass(slots=True)
class Passing:
    """Collects for one event: several of one session may be under way at once."""

    powers: frozenset[Power] = frozenset()
    """What an answer can do at this event."""

    texts: list[str] = field(default_factory=list)
    """What hooks inject."""

    notes: list[str] = field(default_factory=list)
    """What the person is to read."""

    question: str = ""
    """What the agent is to ask its person, if hooks want somebody asked."""

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

    host: tuple[str, ...] = ()
    """The command line of the agent, where its mode matters at this event."""

    changed: bool = False
    """Whether hooks changed what nobody hands back to the agent."""


current: ContextVar[Passing | None] = ContextVar("guest_passing", default=None)


class GuestContext:
    """Stands where a conversation would be: what is added to it goes to the agent elsewhere."""

    def __init__(self) -> None:
        self._early: list[str] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        """Pass the text on with the answer to the event, or to the next one."""
        passing = current.get()
        waiting = self._early if passing is None else passing.texts
        waiting.append(str(message.get("content") or ""))

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
        """Forget what has not been passed on."""
        self._early.clear()

    def take_early(self) -> list[str]:
        """What was added while no event was under way."""
        texts, self._early = self._early, []
        return texts


class GuestDisplay:
    """Shows messages through the agent: they go out with the answer to the event."""

    def __init__(self) -> None:
        self._early: list[str] = []

    def show_message(self, message: str, level: Level, source: str = "hook") -> None:
        """Keep a message until the agent can be given it."""
        who = source.removeprefix("hook:")
        text = message if level == "info" else f"{level}: {who}: {message}"
        passing = current.get()
        (self._early if passing is None else passing.notes).append(text)

    def take_early(self) -> list[str]:
        """What was shown while no event was under way."""
        texts, self._early = self._early, []
        return texts
