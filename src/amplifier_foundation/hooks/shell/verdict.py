"""What external hooks decided, in one shape for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Decision = Literal["allow", "ask", "defer", "deny"]

STRONGEST_FIRST: tuple[Decision, ...] = ("deny", "defer", "ask", "allow")


class _Unchanged:
    """Stands for an output that nobody rewrote; None is a possible output."""

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED: Any = _Unchanged()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of one hook, or of several taken together."""

    decision: Decision | None = None
    reason: str | None = None
    withhold: bool = False  # a blocked result is hidden, not only commented
    tool_input: dict[str, Any] | None = None
    output: Any = UNCHANGED
    messages: list[Any] | None = None
    context: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # for the person
    warnings: tuple[str, ...] = ()  # what went wrong, for the person
    stop: str | None = None  # end the run, and why
    quiet: bool = False
    title: str | None = None


NOTHING = Verdict()


def failed(sentence: str, *, fail_closed: bool) -> Verdict:
    """A hook that gave no usable answer."""
    if fail_closed:
        return Verdict(decision="deny", reason=f"{sentence}; it blocks when it fails")
    return Verdict(warnings=(sentence,))


def combined(verdicts: Iterable[Verdict]) -> Verdict:
    """The strongest decision, the last rewrite, and everything else together."""
    found = list(verdicts)
    decision = _strongest(found)
    reasons = [v.reason for v in found if v.reason and v.decision == decision and decision]
    return Verdict(
        decision=decision,
        reason="\n".join(dict.fromkeys(reasons)) or None,
        withhold=any(v.withhold for v in found if v.decision == "deny"),
        tool_input=_last(v.tool_input for v in found),
        output=_last((v.output for v in found), missing=UNCHANGED),
        messages=_last(v.messages for v in found),
        context=tuple(text for v in found for text in v.context),
        notes=tuple(text for v in found for text in v.notes),
        warnings=tuple(text for v in found for text in v.warnings),
        stop=next((v.stop for v in found if v.stop is not None), None),
        quiet=bool(found) and all(v.quiet for v in found),
        title=_last(v.title for v in found),
    )


def _strongest(verdicts: list[Verdict]) -> Decision | None:
    said = {v.decision for v in verdicts}
    return next((decision for decision in STRONGEST_FIRST if decision in said), None)


def _last(values: Iterable[Any], missing: Any = None) -> Any:
    result = missing
    for value in values:
        if value is not missing:
            result = value
    return result
