"""What an adapter sees of its framework, and what an answer can do there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Act = Literal["deny", "modify", "inject_context", "ask_user"]
"""What a hook may answer beside `continue`, which works everywhere."""

Asking = Literal["inline", "interrupt"]
"""Where a question waits: in the call itself, or in the framework's own interrupt."""

InnerAgents = Literal["governed", "noticed", "unseen"]
"""An agent without hooks that a governed tool starts: it gets them, it is noticed, or it is not."""

ALL: frozenset[Act] = frozenset({"deny", "modify", "inject_context", "ask_user"})
NOTHING: frozenset[Act] = frozenset()


@dataclass(frozen=True, slots=True)
class Coverage:
    """One framework: which of our events it shows us, with what an answer can do at each."""

    name: str
    """Of the extra, and of the page in docs/adapters."""
    framework: str
    """As its makers write it."""
    package: str
    """The distribution that has to be installed."""
    module: str
    """Where the adapter is imported from."""
    attach: str
    """The line that attaches it."""
    events: Mapping[str, frozenset[Act]]
    unseen: tuple[str, ...]
    """What happens in the framework without any hook being told."""
    asking: tuple[Asking, ...] = ("inline",)
    entries: tuple[str, ...] = ()
    """The ways to start a run that are covered, as users call them."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """Why an act is missing at an event: keys are "event" or "event act"."""

    inner_agents: InnerAgents | None = None
    """What becomes of agents without hooks that a tool starts; None if that was not tried."""

    def allows(self, event: str, act: Act) -> bool:
        """Whether such an answer can be carried out at an event."""
        return act in self.events.get(event, NOTHING)

    def explain(self, event: str, act: Act) -> str:
        """Why such an answer cannot be carried out."""
        known = self.limits.get(f"{event} {act}") or self.limits.get(event)
        return known or f"{self.framework} offers no place for it"

    def list_decided(self) -> list[str]:
        """The events at which an answer does something."""
        return [event for event, acts in self.events.items() if acts]
