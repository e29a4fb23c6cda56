"""Hooks, people, a screen and a trail for one scenario."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from amplifier_core import HookRegistry, HookResult
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.testing import EventRecorder, MemoryAudit, RecordingDisplay, ScriptedApproval
from amplifier_hooks.frameworks import Governor, govern
from tests.adapters.drivers.driver import Call, Driver, Ran, Step

DONE = "All done."


def call(name: str, number: int = 1, **arguments: Any) -> Call:
    """A call that the scripted model makes."""
    return Call(name, arguments, f"call_{number}")


def use(*calls: Call) -> list[Step]:
    """A script: these calls at once, then the answer."""
    return [list(calls), DONE]


class Stage:
    """Registers what hooks answer, and keeps what people were asked."""

    def __init__(self) -> None:
        self.registry = HookRegistry()
        self.person: Any = ScriptedApproval()
        self.display = RecordingDisplay()
        self.audit: Any = MemoryAudit()
        self.heard = EventRecorder()
        self._governors: list[Governor] = []

    @property
    def hooks(self) -> Governor:
        """What an adapter is given."""
        made = govern(self.registry, approval=self.person, display=self.display, audit=self.audit)
        self._governors.append(made)
        return made

    def close(self) -> None:
        """End what a driver has left open."""
        for one in self._governors:
            one.close_sync()

    def ask_person(self, *answers: Any) -> None:
        """Have somebody there who answers like this."""
        self.person = ScriptedApproval(*answers)

    def answer(
        self,
        event: str,
        result: HookResult | Callable[[dict[str, Any]], HookResult],
        *,
        tool: str | None = None,
        name: str = "policy",
        **limits: Any,
    ) -> None:
        """Register a hook that answers an event like this, of one tool only if one is named."""

        async def hook(_: str, data: dict[str, Any]) -> HookResult:
            if tool is not None and data.get("tool_name") != tool:
                return HookResult()
            return result(data) if callable(result) else result

        self.registry.register(event, hook, name=name, **limits)

    def listen(self, *events: str) -> EventRecorder:
        """Record these events, after all other hooks."""
        for event in events:
            self.registry.register(event, self.heard, priority=1000, name="recorder")
        return self.heard

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """The records of one type in the trail."""
        return self.audit.of_type(kind)


def change_input(**changes: Any) -> Callable[[dict[str, Any]], HookResult]:
    """A hook's answer: other arguments."""

    def modify(data: dict[str, Any]) -> HookResult:
        changed = {**data, "tool_input": {**data["tool_input"], **changes}}
        return HookResult(action="modify", data=changed)

    return modify


def change_output(text: str) -> Callable[[dict[str, Any]], HookResult]:
    """A hook's answer: another result."""

    def modify(data: dict[str, Any]) -> HookResult:
        changed = {**data, "tool_result": {**data["tool_result"], "output": text}}
        return HookResult(action="modify", data=changed)

    return modify


def ask(prompt: str = "May it?", **more: Any) -> HookResult:
    """A hook's answer: ask somebody."""
    return HookResult(action="ask_user", approval_prompt=prompt, **more)


async def wait_for_ever(_: ApprovalQuestion) -> str:
    """A person who never answers."""
    await asyncio.Event().wait()
    return "Allow"


async def run_in_thread(driver: Driver, stage: Stage, script: list[Step]) -> Any:
    """The synchronous entry point, in a thread without a loop."""
    return await asyncio.to_thread(driver.run_sync, stage.hooks, script)


async def attempt(work: Awaitable[Ran]) -> tuple[Ran, Exception | None]:
    """What a run came to; frameworks may end one by an exception."""
    try:
        return await work, None
    except Exception as error:  # noqa: BLE001 - whatever this framework raises
        return Ran(), error


def keep_runs(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> list[Ran]:
    """What the tools of a driver record from here on, also in runs that end by an exception."""
    kept: list[Ran] = []

    def make(*given: Any, **named: Any) -> Ran:
        kept.append(Ran(*given, **named))
        return kept[-1]

    monkeypatch.setattr(sys.modules[type(driver).__module__], "Ran", make)
    return kept
