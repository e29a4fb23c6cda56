"""The observer: the hooks that let a display see every event of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from pydantic import BaseModel

from amplifier_core import events
from amplifier_core.dispatch import DENIED_BY
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from amplifier_hooks.cli.display.display import Display

LAST = 10_000
"""The priority of an observer: behind every hook that changes or redacts."""

NAME = "cli-display"

# Per task, as parallel calls each have their own.
_call: ContextVar[dict[str, Any] | None] = ContextVar("amplifier_cli_call", default=None)
_refused: ContextVar[bool] = ContextVar("amplifier_cli_refused", default=False)
_begun: ContextVar[tuple[str, Mapping[str, Any]] | None] = ContextVar(
    "amplifier_cli_begun", default=None
)

# What a hook withholds by denying one of these, a display is not shown either.
_RESULTS = frozenset({events.TOOL_POST, events.PROVIDER_RESPONSE, events.PROMPT_ANSWER})
DENIABLE = tuple(
    one for one in events.ALL_EVENTS if not events.is_notification(one) and one not in _RESULTS
)


def observe(
    registry: HookRegistry, display: Display, scrub: Callable[[Any], Any]
) -> Callable[[], None]:
    """Show every event on a display: last in every chain, so that it sees what redaction left.

    A denied event never gets to the last hook, so a first one notes what it was about.
    Returns the function that ends it.
    """

    async def note_event(event: str, data: dict[str, Any]) -> HookResult:
        _begun.set((event, data))
        return CONTINUE

    async def note_call(_: str, data: dict[str, Any]) -> HookResult:
        _call.set(scrub({key: data.get(key) for key in ("tool_name", "tool_input")}))
        return CONTINUE

    async def show(event: str, data: dict[str, Any]) -> HookResult:
        if DENIED_BY in data:  # with session.run_all; as if it had not come here
            return CONTINUE
        if denied := _recall_denied(event, data):
            display.show_denied(denied[0], scrub(_unpack(denied[1])))
        display.show_event(event, {**scrub(_unpack(data)), **_recall_call(event, data)})
        _forget_begun(event)
        return CONTINUE

    removals = [
        registry.register(events.TOOL_PRE, note_call, -LAST, NAME),
        registry.register("*", show, LAST, NAME),
        *(registry.register(one, note_event, -LAST, NAME) for one in DENIABLE),
    ]

    def remove() -> None:
        for undo in removals:
            undo()

    return remove


def _unpack(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with what models are in it as dicts; loops of the ecosystem emit replies so."""
    return {
        key: one.model_dump() if isinstance(one, BaseModel) else one for key, one in data.items()
    }


def _recall_denied(event: str, data: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """The event that a denial ended, if it is the one that began last."""
    begun = _begun.get()
    if begun is None or event != events.POLICY_VIOLATION or data.get("event") != begun[0]:
        return None
    return _forget_begun(begun[0])


def _forget_begun(event: str) -> tuple[str, Mapping[str, Any]] | None:
    begun = _begun.get()
    if begun is None or begun[0] != event:
        return None
    _begun.set(None)
    return begun


def _recall_call(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Which call a denial is about, and whether a person's refusal has been shown already."""
    if event == events.APPROVAL_DENIED:
        _refused.set(True)
    if event != events.POLICY_VIOLATION or data.get("event") != events.TOOL_PRE:
        return {}
    refused = _refused.get()
    _refused.set(False)
    return {**(_call.get() or {}), "refused_by_person": refused}
