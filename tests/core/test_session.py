"""The life of a session: start, state, resume, end, and many of them at once."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ApprovalError, ModuleLoadError, SessionStateError
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import EventRecorder, MockTool, ScriptedApproval
from tests.support.sessions import SessionHarness, calls, plan_for


@pytest.mark.parametrize("missing", ["orchestrator", "context"])
def test_a_plan_without_loop_or_context_is_refused(missing: str) -> None:
    """ValueError when session.orchestrator or session.context is missing."""
    plan = plan_for([])
    del plan["session"][missing]
    with pytest.raises(ValueError, match=f"needs session.{missing}"):
        AmplifierSession(plan)


@pytest.mark.parametrize("plan", [None, [], "x"])
def test_a_plan_of_another_type_is_refused(plan: Any) -> None:
    """Bad input gets a clear error."""
    with pytest.raises(TypeError, match="needs a mount plan"):
        AmplifierSession(plan)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (None, "complete"),
        (ValueError, "error"),
        (TimeoutError, "timeout"),
        (KeyboardInterrupt, "user_exit"),
        (asyncio.CancelledError, "user_exit"),
    ],
)
async def test_the_end_says_why(error: type[BaseException] | None, reason: str) -> None:
    """session:end for complete, user_exit, error and timeout."""
    harness = SessionHarness([])
    heard = harness.listen()
    await harness.session.__aenter__()
    await harness.session.__aexit__(error, None, None)
    assert [data["reason"] for _, data in heard.get_events("session:end")] == [reason]


async def test_the_end_comes_once_and_after_it_nothing_runs() -> None:
    """cleanup twice changes nothing; an ended session says so."""
    harness = SessionHarness([{"text": "hi"}])
    heard = harness.listen()
    async with harness:
        await harness.session.execute("x")
    await harness.session.cleanup()
    assert heard.names.count("session:end") == 1
    with pytest.raises(SessionStateError, match="has ended"):
        await harness.session.execute("again")


async def test_execute_starts_a_session_that_was_not_started() -> None:
    """initialize is called when needed, and once."""
    harness = SessionHarness([{"text": "hi"}])
    heard = harness.listen()
    assert await harness.session.execute("x") == "hi"
    await harness.session.initialize()
    await harness.session.cleanup()
    assert heard.names.count("session:start") == 1


async def test_a_session_that_never_started_ends_quietly() -> None:
    """No session:end without session:start."""
    harness = SessionHarness([])
    heard = harness.listen()
    await harness.session.cleanup()
    assert heard.names == []


async def test_two_prompts_at_once_are_processed_one_after_the_other() -> None:
    """A conversation has one turn at a time."""
    async with SessionHarness([{"text": "one"}, {"text": "two"}]) as harness:
        replies = await asyncio.gather(*(harness.session.execute(p) for p in "ab"))
        roles = [one["role"] for one in harness.messages]
    assert sorted(replies) == ["one", "two"]
    assert roles == ["user", "assistant"] * 2


async def test_the_approval_system_is_fixed_once_the_session_runs() -> None:
    """Replacing the approval_system before the start is an application's right, later refused."""
    harness = SessionHarness([], approval=None)
    harness.coordinator.approval_system = ScriptedApproval("Allow")
    async with harness:
        with pytest.raises(ApprovalError, match="fixed once the session has started"):
            harness.coordinator.approval_system = ScriptedApproval("Allow")
        refused = harness.trail.of_type("configuration_changed")
    assert [one["body"]["refused"] for one in refused] == [True]


async def test_before_each_turn_the_callbacks_run() -> None:
    """Hot reload takes effect at the next turn."""
    seen: list[str] = []

    async def later() -> None:
        seen.append("async")

    async with SessionHarness([{"text": "1"}, {"text": "2"}]) as harness:
        harness.session.on_turn(lambda: seen.append("sync"))
        harness.session.on_turn(later)
        await harness.session.execute("x")
        await harness.session.execute("y")
    assert seen == ["sync", "async"] * 2


async def test_injections_can_be_reviewed() -> None:
    """Injections can be reviewed by the user, with their provenance."""
    inject = HookResult(action="inject_context", context_injection="remember this")
    async with SessionHarness([{"text": "ok"}]) as harness:
        harness.hooks.register("prompt:submit", EventRecorder(inject), name="reminder")
        await harness.session.execute("x")
        (one,) = await harness.session.injections()
    assert one["content"] == "remember this"
    assert one["metadata"]["hook_name"] == "reminder"
    assert one["metadata"]["event"] == "prompt:submit"
    assert one["metadata"]["source"] == "hook"
    assert one["metadata"]["timestamp"]


RESUME = """
import asyncio, json, sys
from amplifier_core.session import AmplifierSession
async def main():
    saved = json.load(open(sys.argv[1]))
    session = AmplifierSession(saved["plan"], state=saved["state"])
    async with session:
        reply = await session.execute("and now?")
        messages = [m["content"] for m in session.context.get_messages()]
    sys.stdout.write(json.dumps([session.session_id, reply, messages,
                                 session.coordinator.session_state, session.stats]))
asyncio.run(main())
"""


async def test_a_saved_session_goes_on_in_another_process(tmp_path: Path) -> None:
    """Session state can be saved and resumed in another process."""
    async with SessionHarness([{"text": "first"}], session_id="abc") as harness:
        await harness.session.execute("hello")
        harness.coordinator.session_state["name"] = "greeting"
        state = await harness.session.state()
    saved = tmp_path / "state.json"
    saved.write_text(json.dumps({"plan": plan_for([{"text": "second"}]), "state": state}))
    program = [sys.executable, "-c", RESUME, str(saved)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    session_id, reply, messages, kept, stats = json.loads(done.stdout)
    assert (session_id, reply) == ("abc", "second")
    assert messages == ["hello", "first", "and now?", "second"]
    assert kept == {"name": "greeting"}
    assert stats["total_messages"] == 4


@pytest.mark.parametrize("state", [{}, {"version": 99}])
def test_a_state_of_another_version_is_refused(state: dict[str, Any]) -> None:
    """A saved state that cannot be resumed says so."""
    with pytest.raises(SessionStateError, match="A saved state of version"):
        AmplifierSession(plan_for([]), state=state)


async def test_a_module_that_does_not_load_is_reported_and_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A hook, tool or provider that fails to load is reported with its reason and left out."""
    broken = {"module": "hooks-nonsense"}
    async with SessionHarness([{"text": "ok"}], hooks=[broken]) as harness:
        assert await harness.session.execute("x") == "ok"
        (entry,) = [one for one in harness.session.mounting.mounted if one.kind == "hooks"]
    assert "Unknown module 'hooks-nonsense'; have [" in (entry.error or "")
    assert "it is left out" in caplog.text


async def test_a_required_module_that_does_not_load_is_fatal() -> None:
    """`required: true` makes it fatal, and nothing stays mounted."""
    harness = SessionHarness([], hooks=[{"module": "hooks-nonsense", "required": True}])
    with pytest.raises(ModuleLoadError, match="Unknown module 'hooks-nonsense'"):
        await harness.session.initialize()
    assert harness.session.mounting.mounted == []


async def test_a_thousand_sessions_at_once_do_not_mix() -> None:
    """1,000 sessions at once in one process: no leak, no cross-talk."""
    before = len(asyncio.all_tasks())

    async def one(number: int) -> tuple[int, str, list[str]]:
        script = [calls("Echo", word=f"w{number}"), {"text": f"done {number}"}]
        tool = MockTool("Echo", lambda given: f"said {given['word']}")
        async with SessionHarness(script, tools=[tool], session_id=f"s{number}") as harness:
            seen: list[str] = []

            async def hook(event: str, data: dict[str, Any]) -> HookResult:
                seen.append(data["session_id"])
                return HookResult(action="inject_context", context_injection=f"note {number}")

            harness.hooks.register("tool:post", hook)
            reply = await harness.session.execute(f"p{number}")
            assert harness.texts("system") == [f"note {number}"]
            assert harness.texts("tool") == [f"said w{number}"]
            return number, reply, seen

    for outcome in await asyncio.gather(*(one(n) for n in range(1000))):
        number, reply, seen = outcome
        assert (reply, seen) == (f"done {number}", [f"s{number}"])
    assert len(asyncio.all_tasks()) == before
    gc.collect()
    assert not [o for o in gc.get_objects() if type(o) is AmplifierSession and o.status != "ended"]
