"""A gated call goes through three records, and each is durable before what comes after it.

The request before anybody is asked, the decision and the start before the tool runs: wherever the
trail fails or hangs, nothing behind that point happens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from amplifier_core import trail
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.models import ToolResult
from amplifier_core.records import ApprovalShown
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import MemoryAudit, MockTool
from amplifier_core.trail import Level, OnFailure, Trail
from tests.support.hooks import PRE, asks
from tests.support.sessions import plan_for

REQUEST, DECISION, START = "approval_requested", "approval_decided", "tool_started"
STEPS = [
    f"write {REQUEST}", f"durable {REQUEST}", "ask",
    f"write {DECISION}", f"durable {DECISION}",
    f"write {START}", f"durable {START}", "run",
]  # fmt: skip


class FaultySink(MemoryAudit):
    """A trail that fails or hangs at one type of record, and tells what became of the others."""

    def __init__(
        self,
        steps: list[str],
        at: str = "",
        how: str = "",
        level: Level = "normal",
        on_failure: OnFailure = "deny",
    ) -> None:
        super().__init__(level, on_failure)
        self.steps = steps
        self._at = at
        self._how = how

    def append(self, type: str, body: Mapping[str, Any], **source: Any) -> int:
        if (type, self._how) == (self._at, "append"):
            raise OSError("no space left")
        if (type, self._how) == (self._at, "hang"):
            trail.PATIENCE = 0.01  # not before: the other records take their time
        if type in (REQUEST, DECISION, START):
            self.steps.append(f"write {type}")
        return super().append(type, body, **source)

    async def commit(self, sequence: int | None = None) -> None:
        assert sequence is not None
        type = self.records[sequence]["type"]
        for _ in range(5):  # a disk takes its time, and what does not wait for it comes first
            await asyncio.sleep(0)
        if (type, self._how) == (self._at, "commit"):
            raise OSError("no space left")
        if (type, self._how) == (self._at, "hang"):
            await asyncio.get_running_loop().create_future()
        await super().commit(sequence)
        self.steps.append(f"durable {type}")


class Person:
    """Allows everything, and is seen to be asked."""

    def __init__(self, steps: list[str]) -> None:
        self._steps = steps

    async def decide(self, question: ApprovalQuestion) -> str:
        self._steps.append("ask")
        return "Allow once"


class Tool(MockTool):
    """Is seen to run."""

    def __init__(self, steps: list[str]) -> None:
        super().__init__("Write")
        self._steps = steps

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self._steps.append("run")
        return ToolResult(output="done")


async def call_gated_tool(sink: FaultySink) -> ToolResult:
    session = AmplifierSession(plan_for([]), approval_system=Person(sink.steps), audit=sink)
    async with session, asyncio.timeout(40):
        await session.coordinator.mount("tools", Tool(sink.steps))
        session.coordinator.hooks.register(PRE, asks())
        return await session.execute_tool("Write", {})


@pytest.mark.parametrize("level", ["decisions", "normal", "full"])
async def test_each_record_is_durable_before_the_next_step(level: Level) -> None:
    """At every level: these records are what a person's consent rests on."""
    steps: list[str] = []
    result = await call_gated_tool(FaultySink(steps, level=level))
    assert (result.success, steps) == (True, STEPS)


@pytest.mark.parametrize("how", ["append", "commit", "hang"])
@pytest.mark.parametrize("at", [REQUEST, DECISION, START])
async def test_behind_a_record_that_is_not_durable_nothing_happens(
    at: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked, nothing runs, and the agent reads why; a hung disk is not waited for."""
    monkeypatch.setattr(trail, "PATIENCE", trail.PATIENCE)
    steps: list[str] = []
    result = await call_gated_tool(FaultySink(steps, at, how))
    end = STEPS.index(f"write {at}") + (how != "append")
    assert (result.success, steps) == (False, STEPS[:end])
    why = {"append": "takes no records", "commit": "no space left", "hang": "took longer than"}
    assert why[how] in (result.error or "")


@pytest.mark.parametrize("how", ["append", "commit", "hang"])
@pytest.mark.parametrize("at", [REQUEST, DECISION, START])
async def test_whoever_chose_to_be_warned_only_goes_on(
    at: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`on_failure: warn` means that the person is told and the call runs all the same."""
    monkeypatch.setattr(trail, "PATIENCE", trail.PATIENCE)
    sink = FaultySink([], at, how, on_failure="warn")
    assert (await call_gated_tool(sink)).success
    assert [step for step in sink.steps if step in ("ask", "run")] == ["ask", "run"]
    assert f"durable {at}" not in sink.steps


async def test_the_very_first_record_is_waited_for_too() -> None:
    """Its sequence is 0, which is a sequence."""
    sink = MemoryAudit()
    assert await Trail(sink, "s").write_ahead(ApprovalShown(digest="d")) is None
    assert sink.durable == 1


def test_a_hung_disk_is_waited_for_a_minute_at_most() -> None:
    """A person sits in front of it."""
    assert 1 <= trail.PATIENCE <= 60
