"""What external hooks decided, in one shape for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


def report_failure(sentence: str, *, fail_closed: bool) -> Verdict:
    """The verdict of a hook that gave no usable answer: a denial, or a warning."""
    if fail_closed:
        return Verdict(decision="deny", reason=f"{sentence}; it blocks when it fails")
    return Verdict(warnings=(sentence,))


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The strongest decision, the last rewrite, and everything else together."""
    found = list(verdicts)
    decision = _find_strongest(found)
    return Verdict(
        decision=decision,
        reason=_join_reasons(found, decision),
        withhold=any(one.withhold for one in found if one.decision == "deny"),
        tool_input=_pick_last(found, lambda one: one.tool_input),
        prompt=_pick_last(found, lambda one: one.prompt),
        output=_pick_last(found, lambda one: one.output, missing=UNCHANGED),
        messages=_pick_last(found, lambda one: one.messages),
        context=_join(found, lambda one: one.context),
        notes=_join(found, lambda one: one.notes),
        warnings=_join(found, lambda one: one.warnings),
        stop=next((one.stop for one in found if one.stop is not None), None),
        quiet=bool(found) and all(one.quiet for one in found),
        title=_pick_last(found, lambda one: one.title),
    )


def _find_strongest(verdicts: Sequence[Verdict]) -> Decision | None:
    said = {one.decision for one in verdicts}
    return next((decision for decision in STRONGEST_FIRST if decision in said), None)


def _join_reasons(verdicts: Sequence[Verdict], decision: Decision | None) -> str | None:
    """The reasons of those who decided so, each once."""
    if decision is None:
        return None
    reasons = (one.reason for one in verdicts if one.decision == decision and one.reason)
    return "\n".join(dict.fromkeys(reasons)) or None


def _join(
    verdicts: Sequence[Verdict], get_texts: Callable[[Verdict], tuple[str, ...]]
) -> tuple[str, ...]:
    return tuple(text for one in verdicts for text in get_texts(one))


def _pick_last(
    verdicts: Sequence[Verdict], get_value: Callable[[Verdict], Any], missing: Any = None
) -> Any:
    values = (get_value(one) for one in reversed(verdicts))
    return next((value for value in values if value is not missing), missing)
