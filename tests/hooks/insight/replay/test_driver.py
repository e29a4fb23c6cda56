"""Doing to a session what was done to the recorded one."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.errors import ModuleLoadError
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import MockTool, ScriptedApproval
from amplifier_core.tool_call import start_call
from amplifier_hooks.agent.loops.model_call import compact_now
from amplifier_hooks.insight.changes import Change
from amplifier_hooks.insight.replay.job import Driver, VirtualTimeLoop
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recording import DEADLINE, CannotReplay
from tests.hooks.insight.replay.items import event, note
from tests.hooks.insight.replay.test_recording import make
from tests.support.hooks import injects
from tests.support.replays import describe, record_session, replay_harness
from tests.support.sessions import SessionHarness, calls


def run(work: object) -> object:
    """Run something in such a loop."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)  # type: ignore[arg-type]


def test_a_week_passes_at_once_and_in_order() -> None:
    """Timers end one after another, as they would."""
    ended: list[str] = []

    async def wait(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        ended.append(name)

    async def work() -> float:
        await asyncio.gather(wait("week", 604_800), wait("day", 86_400))
        return asyncio.get_running_loop().time()

    started = time.monotonic()
    assert run(work()) == pytest.approx(604_800)
    assert ended == ["day", "week"]
    assert time.monotonic() - started < 3600


def test_a_time_limit_does_not_end_what_a_thread_does() -> None:
    """Threads run in real time, and so does the clock while one does."""

    async def work() -> str:
        async with asyncio.timeout(3600):
            await asyncio.to_thread(time.sleep, 0.05)
            return "done"

    assert run(work()) == "done"


def test_whoever_waits_in_vain_is_noticed() -> None:
    """Before any time limit is over."""
    found: list[float] = []

    async def work() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        never = loop.create_future()

        def end() -> bool:
            found.append(loop.time())
            never.cancel()
            return True

        loop.on_idle = end
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(60):
                await never

    run(work())
    assert found == [0.0]


def test_what_was_done_between_turns_is_done_again(tmp_path: Path) -> None:
    """Calls of tools, with calls inside of them, a compaction, and an event of the application."""

    async def run() -> SessionHarness:
        class Outer(MockTool):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                return await harness.session.execute_tool("Inner", {"n": 1})

        tools = [Outer("Outer"), MockTool("Inner")]
        script = [{"text": "word " * 40}, {"text": "b"}, {"text": "c"}]
        async with SessionHarness(script, tools=tools, context_config={"keep_last": 1}) as harness:
            await harness.session.execute_tool("Outer", {})
            await harness.session.execute_tool("Missing", {})
            await harness.session.execute("one")
            await harness.session.execute("two")
            await compact_now(harness.session.context)
            await harness.coordinator.execute_with_hooks("deploy:start", {"to": "staging"})
            await harness.session.execute("three")
        return harness

    harness = asyncio.run(run())
    found = replay_harness(harness, tmp_path)
    assert found.status == "identical", describe(found)
    assert found.totals.calls == 2
    told = {one["event"] for one in harness.trail.of_type("dispatch")}
    assert {"deploy:start", "context:pre_compact"} <= told


def test_a_turn_that_took_too_long_takes_too_long_again(tmp_path: Path) -> None:
    """By the same limit, in no time."""

    async def run() -> SessionHarness:
        class Slow(MockTool):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                await asyncio.sleep(3600)
                return ToolResult()

        limit = {"turn_timeout": 0.05}
        async with SessionHarness([calls("Slow")], tools=[Slow("Slow")], session=limit) as harness:
            with pytest.raises(TimeoutError):
                await harness.session.execute("one")
        return harness

    found = replay_harness(asyncio.run(run()), tmp_path)
    assert found.status == "identical", describe(found)


def test_a_turn_that_somebody_broke_off_is_broken_off_again(tmp_path: Path) -> None:
    """Though no record tells of it: nothing else ended what was under way."""

    async def run() -> SessionHarness:
        running = asyncio.Event()

        class Slow(MockTool):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                running.set()
                await asyncio.sleep(3600)
                return ToolResult()

        async with SessionHarness([calls("Slow"), {"text": "ok"}], tools=[Slow("Slow")]) as harness:
            turn = asyncio.create_task(harness.session.execute("one"))
            await running.wait()
            turn.cancel()
            await asyncio.wait([turn])
            await harness.session.execute("two")
        return harness

    found = replay_harness(asyncio.run(run()), tmp_path)
    assert found.status == "identical", describe(found)


DENIES_A_PART = """from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    if data["tool_call_id"] == "a:1":
        return HookResult(action="deny", reason="not this part")
"""


async def ask_about_echo(event: str, data: dict[str, Any]) -> HookResult | None:
    """Ask about one of the tools."""
    asks = HookResult(action="ask_user", approval_prompt="Echo?")
    return asks if data["tool_name"] == "Echo" else None


async def tell_as_another_program() -> SessionHarness:
    """A call of which a part is judged too, words for a sub-agent, and hooks that hang."""
    given = {"tool_name": "Write", "tool_input": {"n": 1}, "agent_id": "helper"}
    async with SessionHarness() as harness:
        host: Any = harness.coordinator
        harness.hooks.register("agent:spawn", injects("be brief"), name="speaker")
        outcome = await host.judge(events.TOOL_PRE, {**given, "tool_call_id": "a"})
        await host.judge(events.TOOL_PRE, {**given, "tool_call_id": "a:1"})
        await start_call(host, outcome, dict(outcome.data or {}), same_tool=True)
        await host.execute_with_hooks("guest:setup", {})
        told = await host.judge(events.AGENT_SPAWN, {"agent_name": "x"})
        await host.inject_answers(events.AGENT_SPAWN, list(told.answers))
        await host.deny("tool:pre", DEADLINE, "the hooks did not answer within 3 seconds")
    return harness


def test_an_agent_that_another_program_ran_is_replayed_event_by_event(tmp_path: Path) -> None:
    """What the trail does not have is told."""
    found = replay_harness(asyncio.run(tell_as_another_program()), tmp_path)
    assert found.status == "identical", describe(found)
    assert (found.totals.calls, found.totals.injections) == (1, 1)
    (doubt,) = found.totals.doubts.values()
    assert doubt == "policy:violation: what hooks had to judge at tool:pre is missing"


def test_a_part_of_a_call_that_is_denied_now_is_a_difference(tmp_path: Path) -> None:
    """Though the other program ran the call, and its part was never one of its own."""
    own = tmp_path / "own.py"
    own.write_text(DENIES_A_PART)
    hooks = [{"module": "own", "source": str(own)}]
    found = replay_harness(asyncio.run(tell_as_another_program()), tmp_path, hooks=hooks)
    (difference,) = found.differences
    assert difference.what == "tool:pre of Write"
    assert difference.changes[0] == Change("decision", "continue", "deny")


def test_calls_beside_a_question_that_was_withdrawn_come_to_their_ends(tmp_path: Path) -> None:
    """A server died under all of them, as the person was still thinking."""

    async def run() -> SessionHarness:
        dies, asked = asyncio.Event(), asyncio.Event()

        class Server(MockTool):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                await dies.wait()
                raise RuntimeError("the server is gone")

        async def think(question: ApprovalQuestion) -> str:
            asked.set()
            await asyncio.Event().wait()
            return "Deny"

        tools = [Server("Hold"), MockTool("Echo")]
        async with SessionHarness(tools=tools, approval=ScriptedApproval(think)) as harness:
            harness.hooks.register("tool:pre", ask_about_echo, name="guard")
            held = [asyncio.create_task(harness.session.execute_tool("Hold", {})) for _ in "ab"]
            waits = asyncio.create_task(harness.session.execute_tool("Echo", {}))
            await asked.wait()
            dies.set()
            await asyncio.wait(held)
            waits.cancel()
            await asyncio.wait([waits])
        return harness

    found = replay_harness(asyncio.run(run()), tmp_path)
    assert found.status == "identical", describe(found)
    assert (found.totals.calls, found.totals.questions) == (2, 1)


async def test_a_trail_that_begins_in_the_middle_is_refused() -> None:
    """What was said before is not in it."""
    recording = make(note("session_started", 1, resumed=True), event("session:start", 2))
    driver = Driver(Playback(recording), lambda state: asyncio.sleep(0))  # type: ignore[arg-type]
    with pytest.raises(CannotReplay, match="begins in the middle"):
        await driver.drive()


def test_a_bundle_that_does_not_load_is_no_difference(tmp_path: Path) -> None:
    """It is an error, with the reason."""
    harness = record_session([{"text": "ok"}])
    missing = [{"module": "hooks-rate-limit", "required": True}]
    with pytest.raises(ModuleLoadError, match="nothing is limited"):
        replay_harness(harness, tmp_path, hooks=missing)
