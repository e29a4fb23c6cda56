"""What became of an operation once every answer was carried out."""

from __future__ import annotations

from typing import Any, NamedTuple

from amplifier_core.models.hook_result import HookResult, continue_with, replace_fields

ASKED_ELSEWHERE = "the question was handed over, and nobody asks it before this runs"
"""Why an operation does not run that another program was to ask about."""


class Outcome(NamedTuple):
    """What became of an operation, and why."""

    allowed: bool
    data: dict[str, Any] | None = None
    hook: str = ""
    reason: str = ""
    digest: str = ""  # of what a person allowed; empty when nobody was asked
    comments: tuple[str, ...] = ()  # what people said when they allowed it
    answers: tuple[Any, ...] = ()  # what hooks said, for an operation that carries it out itself
    handed_over: bool = False  # another program asks its person before it runs this

    @property
    def denial(self) -> str:
        """The sentence that the agent reads of a denied operation."""
        return describe_denial(self.hook or "a hook", self.reason)

    def to_result(self) -> HookResult:
        """The outcome as the public face tells it: `continue` with the data, or `deny`."""
        if not self.allowed:
            return HookResult(action="deny", reason=self.reason, data=self.data)
        if self.handed_over:
            return HookResult(action="deny", reason=ASKED_ELSEWHERE)
        result = continue_with(self.data)
        return replace_fields(result, reason="; ".join(self.comments)) if self.comments else result


def describe_denial(hook: str, reason: str) -> str:
    """What the agent reads of an operation that somebody denied."""
    return f"Operation denied by {hook}: {reason or 'no reason given'}"


def withdraw(result: HookResult) -> HookResult:
    """What is left of a result that has no effect: a message with no action, or nothing at all."""
    if result.action == "continue":
        return result if result.data is None else replace_fields(result, data=None)
    return replace_fields(continue_with(None), suppress_output=result.suppress_output)
