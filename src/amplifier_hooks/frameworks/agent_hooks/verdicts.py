"""What our hooks said, as a verdict of the contract."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from agent_hooks import Decision, Transform, Verdict, Warning

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.dispatch import Answer
from amplifier_core.models.outcome import Outcome
from amplifier_core.utils.copying import is_same

_NAME = re.compile(r"[A-Za-z0-9_-]+")
CHANGED_AND_ASKED = (
    "a hook changed this and another one asks about it; the contract can carry a change or a "
    "question, not both"
)


def deny(outcome: Outcome) -> Verdict:
    """A denial; what a failed hook raised stays in our own trail."""
    failed = any(one.error is not None and one.hook == outcome.hook for one in outcome.answers)
    message = f"hook '{outcome.hook}' failed" if failed else outcome.reason or "no reason given"
    return Verdict(
        decision=Decision.DENY,
        reason=name_reason(outcome.hook),
        message=message,
        warnings=list_warnings(outcome.answers),
    )


def ask(questions: Sequence[ApprovalQuestion], answers: Iterable[Answer]) -> Verdict:
    """A denial that the host's resolver may lift, with everything that was asked."""
    return Verdict(
        decision=Decision.DENY,
        reason=name_reason(questions[0].hook),
        message="; ".join(one.prompt for one in questions),
        warnings=list_warnings(answers),
        approval={"questions": [_describe_question(one) for one in questions]},
    )


def _describe_question(question: ApprovalQuestion) -> dict[str, Any]:
    return {
        "hook": question.hook,
        "prompt": question.prompt,
        "options": list(question.options),
        "digest": question.digest,
    }


def permit(before: Any, left: Any, answers: Iterable[Answer]) -> Verdict:
    """Allowed as it was, or with what the hooks made of it."""
    warnings = list_warnings(answers)
    if is_same(left, before):
        return Verdict(decision=Decision.ALLOW, warnings=warnings)
    return transform(*find_change(before, left), warnings)


def transform(path: str, value: Any, warnings: tuple[Warning, ...]) -> Verdict:
    """Allowed with a change."""
    change = Transform(path=path, value=value)
    return Verdict(decision=Decision.TRANSFORM, transform=change, warnings=warnings)


def find_change(before: Any, left: Any, path: str = "$target") -> tuple[str, Any]:
    """The smallest part that holds every difference, as a path, and what is there now."""
    if isinstance(before, dict) and isinstance(left, dict) and before.keys() == left.keys():
        keys: list[Any] = [key for key in before if not is_same(before[key], left[key])]
        if len(keys) == 1 and isinstance(keys[0], str) and _NAME.fullmatch(keys[0]):
            return find_change(before[keys[0]], left[keys[0]], f"{path}.{keys[0]}")
    if isinstance(before, list) and isinstance(left, list) and len(before) == len(left):
        places = [place for place, one in enumerate(before) if not is_same(one, left[place])]
        if len(places) == 1:
            place = places[0]
            return find_change(before[place], left[place], f"{path}[{place}]")
    return path, left


def name_reason(hook: str) -> str:
    """The code of a reason: which of our hooks gave it."""
    return f"amplifier:{hook or 'hook'}"


def list_warnings(answers: Iterable[Answer]) -> tuple[Warning, ...]:
    """The warnings that hooks have for the person."""
    return tuple(
        Warning(reason=name_reason(one.hook), message=one.result.user_message)
        for one in answers
        if one.result.user_message and one.result.user_message_level != "info"
    )
