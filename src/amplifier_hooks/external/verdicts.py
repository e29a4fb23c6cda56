"""What became of something that a framework wanted to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplifier_hooks.agent.session.foreign_call import Called as Called
from amplifier_hooks.external.messages import Placed, Plain


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """Of a prompt or an answer."""

    allowed: bool
    text: str
    """What goes on: the text as hooks left it, or the reason why nothing does."""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class RequestVerdict:
    """Of a request to a model."""

    allowed: bool
    reason: str = ""
    placed: list[Placed] = field(default_factory=list)
    """What to send."""
    lasting: list[Plain] = field(default_factory=list)
    """What is among it for good, for a framework that can keep it; see `Run.request`."""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a model, as hooks see it."""

    text: str
    calls: list[dict[str, Any]] = field(default_factory=list)
    """Each with id, name and arguments."""
    model: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    """input_tokens, output_tokens, total_tokens."""
    finish_reason: str | None = None
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class ReplyVerdict:
    """Of a reply; None stands for what hooks left alone."""

    allowed: bool
    reason: str = ""
    text: str | None = None
    calls: list[dict[str, Any]] | None = None

    @property
    def changed(self) -> bool:
        """Whether a hook changed something."""
        return self.text is not None or self.calls is not None
