"""Verdicts on something that another program wants to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_core.models import ToolResult
from amplifier_hooks.external.messages import Placed, Plain

Decision = Literal["allow", "ask", "defer", "deny"]


class _Unchanged:
    """Stands for an output that nobody rewrote; None is a possible output."""

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED: Any = _Unchanged()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of an event of another program: the answer of one hook, or of several taken together."""

    decision: Decision | None = None
    reason: str | None = None
    withhold: bool = False  # a blocked result is hidden, not only commented
    tool_input: dict[str, Any] | None = None
    prompt: str | None = None  # in the place of what the person wrote
    output: Any = UNCHANGED
    messages: list[Any] | None = None
    context: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # for the person
    warnings: tuple[str, ...] = ()  # what went wrong, for the person
    stop: str | None = None  # end the run, and why
    quiet: bool = False
    title: str | None = None


NOTHING = Verdict()


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """Of a prompt or an answer."""

    allowed: bool
    text: str
    """What goes on: the text as hooks left it, or the reason why nothing does."""
    changed: bool = False
    hook: str = ""
    """Who denied it."""


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
    hook: str = ""
    """Who denied it."""


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
    hook: str = ""
    """Who denied it."""

    @property
    def changed(self) -> bool:
        """Whether a hook changed something."""
        return self.text is not None or self.calls is not None


@dataclass(frozen=True, slots=True)
class Called:
    """Of a tool call."""

    result: ToolResult
    """What hooks left; its text is `result.get_serialized_output()`."""
    value: Any = None
    """What the program's own handler returned, if it ran."""
    ran: bool = False
    changed: bool = False
    """Whether `result` is another one than `value` was."""

    @property
    def untouched(self) -> bool:
        """Whether the program goes on with exactly what its handler returned."""
        return self.ran and not self.changed

    @property
    def text(self) -> str:
        """What the model reads of a result that is not the handler's own."""
        return self.result.get_serialized_output()
