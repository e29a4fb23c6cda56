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
_RANKS = {action: rank for rank, action in enumerate(STRONGEST_FIRST)}


class Spoken(Protocol):
    """An answer, and who gave it."""

    @property
    def result(self) -> HookResult: ...
    @property
    def hook(self) -> str: ...


SpokenT = TypeVar("SpokenT", bound=Spoken)


def strongest(answers: Sequence[SpokenT]) -> SpokenT | None:
    """The first answer of the strongest action, or None when no hook spoke."""
    winner = None
    lowest = len(_RANKS)
    for answer in answers:
        rank = _RANKS[answer.result.action]
        if rank < lowest:
            winner = answer
            lowest = rank
    return winner


def fold(answers: Sequence[Spoken], data: dict[str, Any], event: str = "") -> HookResult:
    """The one result that stands for all answers, carrying the final data."""
    winner = strongest(answers)
    if winner is None:
        return continue_with(data)
    result = winner.result
    if result.action == "deny":
        return replace_fields(result, context_injections=[])
    if result.action == "inject_context":
        items = _name_injections(answers, event)
        return replace_fields(
            result,
            data=data,
            context_injection=_join(items) or None,
            ephemeral=any(one.ephemeral for one in items),
            context_injections=items,
        )
    if result.action == "ask_user":
        return replace_fields(result, data=data, context_injections=[])
    return replace_fields(result, action="continue", data=data, context_injections=[])


def list_injections(result: HookResult) -> list[ContextInjection]:
    """Everything one answer wants injected, in order."""
    first = []
    items = [one for one in result.context_injections or () if one.content]
    # In a folded result the text is a projection of the items, and not one more of them.
    if result.context_injection and result.context_injection != _join(items):
        first.append(
            ContextInjection(
                content=result.context_injection,
                role=result.context_injection_role,
                ephemeral=result.ephemeral,
                append_to_last_tool_result=result.append_to_last_tool_result,
            )
        )
    return [*first, *items]


def _join(items: Iterable[ContextInjection]) -> str:
    return "\n\n".join(one.content for one in items)


def _name_injections(answers: Iterable[Spoken], event: str) -> list[ContextInjection]:
    """Every injection with the name of its own hook, whatever it says of itself."""
    return [
        one.model_copy(update={"hook_name": answer.hook, "event": event})
        for answer in answers
        if answer.result.action == "inject_context"
        for one in list_injections(answer.result)
    ]
