"""Reading what a hook answered: its exit code first, then the JSON that it printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_hooks.coding_agents.dialects.dialect import Handler, Reply
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Decision, Verdict

_LONGEST_LINE = 300


class Answer(BaseModel):
    """An object that a hook printed. Keys that we do not know are no mistake."""

    model_config = ConfigDict(extra="ignore", strict=True)


class CommonAnswer(Answer):
    """The fields on which agents agree."""

    continue_: bool = Field(True, alias="continue")
    stopReason: str | None = None  # noqa: N815 - the name on the wire
    suppressOutput: bool = False  # noqa: N815
    systemMessage: str | None = None  # noqa: N815
    reason: str | None = None

    @property
    def stop(self) -> str | None:
        """Why the run is to end, if it is."""
        return None if self.continue_ else self.stopReason or "A hook ended the run."

    @property
    def notes(self) -> tuple[str, ...]:
        """What the person is to read."""
        return (self.systemMessage,) if self.systemMessage else ()


AnswerT = TypeVar("AnswerT", bound=Answer)


def read_answer(
    model: type[AnswerT], handler: Handler, reply: Reply, *, blocks: bool = True
) -> AnswerT | Verdict:
    """The JSON of a hook that exited with 0; where there is none, what that means."""
    verdict = judge_exit(handler, reply, blocks=blocks)
    if verdict is not None:
        return verdict
    printed = parse_object(reply.stdout)
    if printed is None:
        return judge_text(handler, reply.stdout)
    return validate_answer(model, handler, printed)


def judge_exit(handler: Handler, reply: Reply, *, blocks: bool = True) -> Verdict | None:
    """A block at 2, where the agent has that; a failure at all others; None at 0."""
    if reply.failure is not None:
        return report_failure(reply.failure, fail_closed=handler.fail_closed)
    if reply.code == 2 and blocks:
        return Verdict(decision="deny", reason=reply.stderr.strip() or "Blocked by a hook.")
    if reply.code != 0:
        line = _get_first_line(reply.stderr)
        sentence = f"Hook {handler.label!r} exited with {reply.code}: {line}"
        return report_failure(sentence, fail_closed=handler.fail_closed)
    return None


def parse_object(text: str) -> dict[str, Any] | None:
    """The JSON object that a hook printed, or None when it printed something else."""
    if not _looks_like_object(text):
        return None
    try:
        value = json.loads(text.strip(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> NoReturn:
    """No agent but a Python program reads NaN."""
    raise ValueError(name)


def judge_text(handler: Handler, text: str) -> Verdict:
    """Plain text is no answer; text that begins like an object is a failed one."""
    if not _looks_like_object(text):
        return NOTHING
    sentence = f"Hook {handler.label!r} answered with JSON that cannot be read"
    return report_failure(sentence, fail_closed=handler.fail_closed)


def validate_answer(
    model: type[AnswerT], handler: Handler, printed: dict[str, Any]
) -> AnswerT | Verdict:
    """The object in the agent's form, or the failure to have that form."""
    try:
        return model.model_validate(printed)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "answer"
        sentence = f"Hook {handler.label!r} answered with a wrong {key!r}: {first['msg']}"
        return report_failure(sentence, fail_closed=handler.fail_closed)


def _looks_like_object(text: str) -> bool:
    return text.lstrip().startswith("{")


def _get_first_line(text: str) -> str:
    """Enough of an error output to recognise it by."""
    lines = text.strip().splitlines()
    return lines[0][:_LONGEST_LINE] if lines else "no message"


def report_failure(sentence: str, *, fail_closed: bool) -> Verdict:
    """The verdict of a hook that gave no usable answer: a denial, or a warning."""
    if fail_closed:
        return Verdict(decision="deny", reason=f"{sentence}; it blocks when it fails")
    return Verdict(warnings=(sentence,))


STRONGEST_FIRST: tuple[Decision, ...] = ("deny", "defer", "ask", "allow")


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
