"""The part of the coordinator that existing modules rely on, and ours do without.

Loops of the ecosystem call `hooks.emit` themselves and then hand over each result to be carried
out, under names and with return values that are what they are. A thin layer over `operation`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import Any, Protocol

from amplifier_core.answers import Outcome
from amplifier_core.dispatch import Answer, Dispatch, find_dispatch
from amplifier_core.events import is_notification
from amplifier_core.gatekeeper import ApprovalResult
from amplifier_core.injection import (
    UNKNOWN,
    Injection,
    Injector,
    indent_forged_frames,
    read_injections,
)
from amplifier_core.models import ContextInjection, HookResult, Level, replace_fields
from amplifier_core.operation import Operations
from amplifier_core.registration import HookHandler

ACTED_ON = ("inject_context", "ask_user")
"""Answers of which something else is left for the loop once they are carried out."""


class Carrier(Protocol):
    """What carries out the answers: the coordinator."""

    _operations: Operations
    _injector: Injector
    _named_handlers: dict[str, HookHandler]
    """Hooks that are known by name only: one registration a name, so that "always" holds."""

    async def show(self, message: str, level: Level, source: str) -> None: ...
    async def _place(
        self, wanted: Iterable[Injection], keep_ephemeral: bool = True
    ) -> list[Injection]: ...


class CompatInterface:
    """Methods of the coordinator for loops that emit by themselves, and a summary."""

    async def process_hook_result(
        self: Carrier, result: HookResult, event: str = "", hook_name: str = UNKNOWN
    ) -> HookResult:
        """Carry out a result that `emit` returned, with every answer behind it.

        Returned is what is left for the loop to do: nothing, to stop, or to put the ephemeral
        injections into the request that it is building.
        """
        await self._injector.calls.place_parked()
        run = find_dispatch(result) or await _take_over(self, event, hook_name, result)
        outcome, passing = await _carry_out(self._operations, run)
        if passing and outcome.allowed:
            return hand_back(passing, outcome.data)
        # What needs nothing more of the loop comes back as it is: loops compare by identity.
        if result.action in ACTED_ON:
            return outcome.to_result()
        return result

    def handle_context_injection(
        self: Carrier, result: HookResult, hook_name: str = UNKNOWN, event: str = ""
    ) -> Awaitable[list[Injection]]:
        """Inject what a result brings. Too large is a ValueError at once; await it for the rest."""
        wanted = read_injections(result, hook_name, event)
        for one in wanted:
            self._injector.budget.check_size(one)
        return _inject(self, event, hook_name, result, wanted)

    async def handle_approval_request(
        self: Carrier, result: HookResult, hook_name: str = UNKNOWN, event: str = ""
    ) -> HookResult:
        """Put a result's question to the person; returns `continue` or `deny`."""
        asking = replace_fields(result, action="ask_user")
        built = await _take_over(self, event, hook_name, asking)
        run, approval = await self._operations.ask_for_approval(built, fixed=True)
        return (await self._operations.conclude(run, approval)).to_result()

    async def handle_user_message(
        self: Carrier, result: HookResult, hook_name: str = UNKNOWN
    ) -> None:
        """Show a result's message to the person."""
        if result.user_message:
            source = f"hook:{result.user_message_source or hook_name}"
            await self.show(result.user_message, result.user_message_level, source)

    @property
    def injection_budget(self: Carrier) -> int:
        """Tokens that hooks injected in this turn."""
        return self._injector.budget.used

    @injection_budget.setter
    def injection_budget(self: Carrier, used: int) -> None:
        self._injector.budget.used = used

    _current_turn_injections = injection_budget

    @property
    def injection_budget_per_turn(self: Carrier) -> int | None:
        return self._injector.budget.limits.budget

    @property
    def injection_size_limit(self: Carrier) -> int | None:
        return self._injector.budget.limits.size

    def to_dict(self: Any) -> dict[str, Any]:
        """A summary for logs and debugging."""
        points = self.mount_points
        return {
            "session_id": self.session_id,
            "parent_id": self.parent_id,
            "has_orchestrator": points["orchestrator"] is not None,
            "has_context": points["context"] is not None,
            "has_approval_provider": self.approval_system is not None,
            "has_display_service": self.display_system is not None,
            "providers": sorted(points["providers"]),
            "tools": sorted(points["tools"]),
            "hooks": self.hooks.list_handlers(),
            "capabilities": sorted(self._capabilities),
            "channels": sorted(self.channels),
        }


def _build_run(
    named_handlers: dict[str, HookHandler], event: str, hook: str, result: HookResult
) -> Dispatch:
    """A dispatch for a result that a loop handed over in the name of a hook."""
    handler = named_handlers.setdefault(hook, HookHandler(_stay_silent, name=hook))
    run = Dispatch(event, (), dict(result.data or {}))
    run.denied = result.action == "deny"
    run.answers.append(Answer(handler, result))
    return run


async def _take_over(carrier: Carrier, event: str, hook: str, result: HookResult) -> Dispatch:
    """The same, as far as the mode of the session lets it have an effect."""
    run = _build_run(carrier._named_handlers, event, hook, result)
    operations = carrier._operations
    if operations.hooks.mode == "evaluate_only":
        run.shadow()
        await operations.effects.report_problems(run)
    return run


async def _inject(
    carrier: Carrier, event: str, hook: str, result: HookResult, wanted: list[Injection]
) -> list[Injection]:
    injecting = replace_fields(result, action="inject_context")
    run = await _take_over(carrier, event, hook, injecting)
    if run.shadow_answers:
        return []
    return await carrier._place(wanted)


async def _carry_out(operations: Operations, run: Dispatch) -> tuple[Outcome, list[Injection]]:
    """Carry out the answers of a dispatch that a loop ran and goes on with.

    What is injected for one request only is handed back: who emits also builds the request.
    """
    effects = operations.effects
    await effects.show_answers(run.event, run.answers, {})
    approval = ApprovalResult()
    if not is_notification(run.event):
        run, approval = await operations.ask_for_approval(run, fixed=True)
    injected = await effects.inject_answers(run.event, run.answers, keep_ephemeral=False)
    outcome = await operations.conclude(run, approval)
    return outcome, [one for one in injected if one.ephemeral]


def hand_back(passing: list[Injection], data: dict[str, Any] | None) -> HookResult:
    """Ephemeral injections as the one answer that a loop puts into its request by itself."""
    items = [
        ContextInjection(
            content=indent_forged_frames(one.text),
            role=one.role,
            ephemeral=True,
            append_to_last_tool_result=one.append_to_last_tool_result,
            hook_name=one.hook,
            event=one.event,
        )
        for one in passing
    ]
    return HookResult(
        action="inject_context",
        data=data,
        context_injection="\n\n".join(one.content for one in items),
        context_injection_role=items[0].role,
        ephemeral=True,
        append_to_last_tool_result=items[0].append_to_last_tool_result,
        context_injections=items,
    )


async def _stay_silent(_event: str, _data: dict[str, Any]) -> None:
    """Stands for a hook that is known by name only."""
