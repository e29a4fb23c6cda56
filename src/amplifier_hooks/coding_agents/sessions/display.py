"""Messages for the person, shown through the agent: they go out with the answer to an event."""

from __future__ import annotations

from amplifier_core.models import Level
from amplifier_hooks.external.conversation import current_event


class AgentDisplay:
    """Shows messages through the agent: they go out with the answer to the event."""

    def __init__(self) -> None:
        self._early: list[str] = []

    def show_message(self, message: str, level: Level, source: str = "hook") -> None:
        """Keep a message until the agent can be given it."""
        who = source.removeprefix("hook:")
        text = message if level == "info" else f"{level}: {who}: {message}"
        event = current_event.get()
        (self._early if event is None else event.notes).append(text)

    def take_early(self) -> list[str]:
        """What was shown while no event was under way."""
        texts, self._early = self._early, []
        return texts
