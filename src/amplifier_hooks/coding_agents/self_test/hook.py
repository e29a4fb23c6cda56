"""The hook of a check: one more in its session, that does what the event's own words say."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import (
    APPROVAL_DENIED,
    APPROVAL_GRANTED,
    PROMPT_SUBMIT,
    TOOL_POST,
    TOOL_PRE,
)
from amplifier_core.models import HookResult
from amplifier_hooks.agent.session.self_test import HOOK, record_self_test
from amplifier_hooks.coding_agents.self_test.marker import find_case, write_command
from amplifier_hooks.coding_agents.self_test.ticket import Ticket, find_ticket

REASON = "amplifier-check: denied, as the check wants it"
INJECTED = "amplifier-check: a text for the model"
QUESTION = "amplifier guard check: may this go on? No answer is needed."
REPLACED = "amplifier-check: what stands in the place of the result"
AGAIN = "amplifier-check: judged by the next process"
_HANGING = ("hang-", "crash-", "die")
_FIRST = -10_000
_STEP = 0.05
_MEETING = 5

Data = dict[str, Any]


def add_check_hook(folder: Path, coordinator: SessionCoordinator) -> None:
    """Put the hook into a session, if the session is one of a check that is under way."""
    ticket = find_ticket(folder, str(coordinator.session_id))
    if ticket is None:
        return
    record_self_test(coordinator, "amplifier guard check")
    hook = CheckHook(ticket, coordinator)
    for event in (TOOL_PRE, TOOL_POST, PROMPT_SUBMIT):
        remove = coordinator.hooks.register(event, hook.answer, _FIRST, HOOK, on_error="deny")
        coordinator.register_cleanup(remove)
    for decided in (APPROVAL_GRANTED, APPROVAL_DENIED):
        remove = coordinator.hooks.register(decided, hook.note_decision, _FIRST, HOOK)
        coordinator.register_cleanup(remove)


class CheckHook:
    """Notes what it hears, and answers."""

    def __init__(self, ticket: Ticket, coordinator: SessionCoordinator) -> None:
        self._ticket = ticket
        self._coordinator = coordinator
        self._met: set[str] = set()
        self._all_met = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._answers: dict[tuple[str, str], Callable[[str, Data], Awaitable[HookResult]]] = {
            (TOOL_PRE, "deny"): self._deny,
            (PROMPT_SUBMIT, "prompt"): self._deny,
            (TOOL_PRE, "rewrite"): self._rewrite,
            (TOOL_PRE, "inject"): self._inject,
            (TOOL_PRE, "ask"): self._ask,
            (TOOL_PRE, "one"): self._meet,
            (TOOL_PRE, "other"): self._meet,
            (TOOL_POST, "replace"): self._replace,
        }

    async def answer(self, event: str, data: Data) -> HookResult:
        """Whatever is not one of the events of the check goes on untouched."""
        case = find_case(event, data)
        if case is None:
            return HookResult()
        before = self._ticket.list_reports(case)
        self._ticket.report(case, event=event, pid=os.getpid())
        if case == "die" and before:
            return HookResult(action="deny", reason=AGAIN)
        if case.startswith(_HANGING):
            return await self._hang(case)
        take = self._answers.get((event, case))
        return HookResult() if take is None else await take(case, data)

    async def note_decision(self, event: str, data: Data) -> HookResult:
        """Note how the question of the check was decided."""
        if data.get("hook") == HOOK:
            self._ticket.report("decided", how=data.get("how"), by=data.get("by"))
        return HookResult()

    async def _deny(self, case: str, data: Data) -> HookResult:
        return HookResult(action="deny", reason=REASON)

    async def _rewrite(self, case: str, data: Data) -> HookResult:
        changed = {**data["tool_input"], "command": write_command("rewritten")}
        return HookResult(action="modify", data={**data, "tool_input": changed})

    async def _inject(self, case: str, data: Data) -> HookResult:
        return HookResult(action="inject_context", context_injection=INJECTED)

    async def _replace(self, case: str, data: Data) -> HookResult:
        changed = {**data["tool_result"], "output": REPLACED}
        return HookResult(action="modify", data={**data, "tool_result": changed})

    async def _ask(self, case: str, data: Data) -> HookResult:
        find = self._coordinator.get_capability("approval.find")
        seconds = self._ticket.read_seconds()
        if self._coordinator.handovers.list_calls():  # judged again, after it was asked
            self._ticket.report("handed-over")
        if find is not None:
            self._looking = asyncio.create_task(self._look_for_question(find, seconds))
        return HookResult(
            action="ask_user", approval_prompt=QUESTION, approval_timeout=seconds, reason=REASON
        )

    async def _look_for_question(self, find: Any, seconds: float) -> None:
        """Note when the question waits where people elsewhere see it."""
        if await find(HOOK, QUESTION, seconds) is not None:
            self._ticket.report("ask-elsewhere")

    async def _hang(self, case: str) -> HookResult:
        """Wait until the check lets go, or is over: no process stays busy because of it."""
        # What is waited for is a line in a file.
        while self._ticket.is_valid and not self._ticket.list_reports(f"free-{case}"):  # noqa: ASYNC110
            await asyncio.sleep(_STEP)
        self._ticket.report(f"freed-{case}")
        return HookResult(action="deny", reason="The check is over.")

    async def _meet(self, case: str, data: Data) -> HookResult:
        """Wait for the other call: both are answered only if both are here at once."""
        self._met.add(case)
        if len(self._met) == 2:
            self._all_met.set()
        async with asyncio.timeout(_MEETING * self._ticket.read_seconds()):
            await self._all_met.wait()
        return HookResult(action="deny", reason=f"{REASON}: {case}")
