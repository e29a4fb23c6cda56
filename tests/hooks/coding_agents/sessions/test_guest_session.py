"""One session of another agent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from amplifier_core.events import ORCHESTRATOR_COMPLETE, POLICY_VIOLATION, SESSION_END, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.approvals.stores.store import open_store
from tests.hooks.coding_agents.sessions.agents import make_project, read, start
from tests.support.trust import trust_project

HOOK = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def judge(event, data):
        return HookResult(action="deny", reason="ANSWER")
    return coordinator.hooks.register("tool:pre", judge, name="file")
"""
BUNDLE = "hooks:\n  - {module: file, source: ./file.py}\n"


async def test_a_hook_that_stops_the_run_stops_the_agent(project: Path) -> None:
    """The verdict says so from then on, until the next prompt."""
    async with start("claude", project) as one:

        async def stop(event: str, data: object) -> HookResult:
            await one.guest.coordinator.request_cancel()
            return HookResult()

        one.guest.coordinator.hooks.register(TOOL_PRE, stop, 1, "stop")
        assert (await one.tell("PreToolUse")).stop
        one.guest.coordinator.hooks.unregister("stop")
        assert (await one.tell("PreToolUse")).stop
        await one.tell("UserPromptSubmit")
        assert (await one.tell("PreToolUse")).stop is None


async def test_what_is_not_judged_in_time_is_denied_and_recorded(project: Path) -> None:
    """At a gate; at a stop a denial would keep the agent working."""
    async with start("claude", project) as one:

        async def hang(event: str, data: object) -> HookResult:
            await asyncio.Event().wait()
            return HookResult()

        told = one.hook(POLICY_VIOLATION)
        for event in (TOOL_PRE, ORCHESTRATOR_COMPLETE):
            one.guest.coordinator.hooks.register(event, hang, 1, "hang")
        before = await one.guest.handle(read("claude", "PreToolUse"), seconds=0.2)
        stop = await one.guest.handle(read("claude", "Stop"), seconds=0.2)
    assert before.decision == "deny"
    assert "did not answer within 0.2 seconds" in str(before.reason)
    assert stop.decision is None
    assert [data["hook"] for data in told] == ["deadline", "deadline"]


async def test_messages_for_the_person_go_with_the_answer(project: Path) -> None:
    """Or wait for an event at which the agent shows them."""
    async with start("copilot", project) as one:
        one.hook(TOOL_PRE, user_message="look here")
        verdict = await one.tell("preToolUse")
        powers = one.guest.dialect.events["preToolUse"].powers
        assert verdict.notes == (("look here",) if "tell" in powers else ())
    async with start("claude", project, "s2") as one:
        one.hook(TOOL_PRE, user_message="look here")
        assert (await one.tell("PreToolUse")).notes == ("look here",)


async def test_another_process_goes_on(project: Path) -> None:
    """Open calls, waiting texts, budgets and stops are what they were."""
    async with start("gemini", project) as one:
        one.hook(TOOL_PRE, action="inject_context", context_injection="later")
        await one.tell("BeforeTool")
        one.guest.blocked_stops = 3
        state = await one.guest.read_state()
        spent = one.guest.coordinator.injection_budget
        await one.guest.suspend()
    async with start("gemini", project, state=state) as two:
        known = one.guest.external.tools.running.list_ids()
        assert two.guest.external.tools.running.list_ids() == known != []
        assert two.guest.blocked_stops == 3
        assert two.guest.coordinator.injection_budget == spent > 0
        after = await two.tell("AfterTool")
        assert any("later" in text for text in after.context)
        assert two.guest.external.tools.running.list_ids() == []
        assert not any("unknown" in note for note in after.notes)


async def test_a_damaged_state_is_none(project: Path) -> None:
    """What is not as it should be is left out."""
    async with start("gemini", project) as one:
        state = await one.guest.read_state()
    own = {"calls": 5, "texts": [1, "kept"], "notes": None, "blocked_stops": "x", "injected": "y"}
    state["session_state"]["guest"] = own
    async with start("gemini", project, state=state) as two:
        assert two.guest.blocked_stops == 0
        assert (await two.tell("AfterTool")).context == ("kept",)


async def test_only_the_end_is_told_as_the_end(project: Path) -> None:
    """A suspended session has not ended."""
    async with start("claude", project) as one:
        told = one.hook(SESSION_END)
        await one.guest.suspend()
        assert told == []
    async with start("claude", project, "s2") as one:
        told = one.hook(SESSION_END)
        await one.guest.end("user_exit")
    assert [data["reason"] for data in told] == ["user_exit"]


async def test_changed_files_are_used_once_a_person_trusts_them(home: Path, tmp_path: Path) -> None:
    """The old hooks stay until then, and the agent cannot bring that about."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "file.py").write_text(HOOK.replace("ANSWER", "old"))
    make_project(folder, BUNDLE)
    async with start("claude", folder) as one:
        assert "old" in str((await one.tell("PreToolUse")).reason)
        (folder / "file.py").write_text(HOOK.replace("ANSWER", "new"))
        await one.tell("UserPromptSubmit")
        assert "old" in str((await one.tell("PreToolUse")).reason)
        trust_project(folder)
        await one.tell("UserPromptSubmit")
        assert "new" in str((await one.tell("PreToolUse")).reason)


async def test_a_question_is_withdrawn_when_nobody_waits_for_the_answer(project: Path) -> None:
    """People elsewhere are not left with a question that the agent's own person has answered."""
    store = await open_store()
    try:
        async with start("codex", project) as one:
            one.hook(TOOL_PRE, action="ask_user", approval_prompt="May it?")
            asking = asyncio.create_task(one.tell("PreToolUse"))
            while not (found := (await store.approvals.list())[0]):
                await asyncio.sleep(0.02)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            while (row := await store.approvals.get(found[0].id)).status == "pending":
                await asyncio.sleep(0.02)
        assert row.status == "cancelled"
        assert not one.guest.is_busy
    finally:
        await store.close()
