"""Which answer wins when several hooks speak, and what is left of the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeVar

from amplifier_core.models import (
    Action,
    ContextInjection,
    HookResult,
    continue_with,
    replace_fields,
)

STRONGEST_FIRST: tuple[Action, ...] = ("deny", "ask_user", "inject_context", "modify", "continue")


class Spoken(Protocol):
    """An answer, whoever gave it."""

    @property
    def result(self) -> HookResult: ...


SpokenT = TypeVar("SpokenT", bound=Spoken)


def strongest(answers: Sequence[SpokenT]) -> SpokenT | None:
    """The first answer of the strongest action, or None when no hook spoke."""
    return min(answers, key=lambda a: STRONGEST_FIRST.index(a.result.action), default=None)


def fold(answers: Sequence[Spoken], data: dict[str, Any]) -> HookResult:
    """The one result that stands for all answers, carrying the final data."""
    winner = strongest(answers)
    if winner is None:
        return continue_with(data)
    result = winner.result
    if result.action == "deny":
        return replace_fields(result)
    if result.action == "inject_context":
        text = _joined(answers)
        return replace_fields(result, data=data, context_injection=text, context_injections=None)
    if result.action == "ask_user":
        return replace_fields(result, data=data)
    return replace_fields(result, action="continue", data=data)


def list_injections(result: HookResult) -> list[ContextInjection]:
    """Everything one answer wants injected, in order."""
    first = []
    if result.context_injection:
        first.append(
            ContextInjection(
                content=result.context_injection,
                role=result.context_injection_role,
                ephemeral=result.ephemeral,
                append_to_last_tool_result=result.append_to_last_tool_result,
            )
        )
    return [*first, *(one for one in result.context_injections or () if one.content)]


def _joined(answers: Iterable[Spoken]) -> str | None:
    texts = [
        one.content
        for answer in answers
        if answer.result.action == "inject_context"
        for one in list_injections(answer.result)
    ]
    return "\n\n".join(texts) or None
