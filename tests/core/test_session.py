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

from amplifier_core.errors import ApprovalError, ModuleLoadError, SessionDenied, SessionStateError
from amplifier_core.hooks import HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock
from amplifier_core.models import HookResult
from amplifier_core.session import (
    SHADOW,
    STATE_VERSION,
    AmplifierSession,
    read_end_reason,
    read_state,
)
from amplifier_core.testing import EventRecorder, MockTool, ScriptedApproval
from tests.support.sessions import SessionHarness, calls, plan_for


@pytest.mark.parametrize("missing", ["orchestrator", "context"])
def test_a_plan_without_loop_or_context_is_refused(missing: str) -> None:
    """When it is made, with the line to add."""
    plan = plan_for([])
    del plan["session"][missing]
    with pytest.raises(ValueError, match=f"must specify session.{missing}"):
        AmplifierSession(plan)


@pytest.mark.parametrize(("plan", "kind"), [(None, ValueError), ({}, ValueError), ("x", TypeError)])
def test_a_plan_of_another_type_is_refused(plan: Any, kind: type[Exception]) -> None:
    """Bad input gets a clear error."""
    with pytest.raises(kind, match="needs a mount plan"):
        AmplifierSession(plan)


@pytest.mark.parametrize("limit", [0, -1, "many", True, 1.5])
def test_a_limit_that_is_none_is_refused(limit: Any) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(ValueError, match=r"session\.tool_result_limit: a positive number"):
        AmplifierSession(plan_for([], session={"tool_result_limit": limit}))


async def test_a_session_is_announced_once_before_its_first_work_and_after_all_is_mounted() -> None:
    """Who registers after the mounting still hears the start."""
    harness = SessionHarness([{"text": "one"}, {"text": "two"}])
    await harness.session.initialize()
    heard = harness.listen()
    assert heard.names == []
    await harness.session.execute("x")
    await harness.session.execute("y")
    assert heard.names[0] == "session:start"
    assert heard.names.count("session:start") == 1
    await harness.session.cleanup()


async def test_who_starts_a_session_that_is_starting_waits_for_it() -> None:
    """Two at once announce it once, and starting it again changes nothing."""
    harness = SessionHarness([])
    heard, started, go = harness.listen(), asyncio.Event(), asyncio.Event()

    async def wait(event: str, data: dict[str, Any]) -> None:
        started.set()
        await go.wait()

    harness.hooks.register("session:start", wait)
    first = asyncio.ensure_future(harness.session.start())
    await started.wait()
    second = asyncio.ensure_future(harness.session.start())
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(first, second)
    await harness.session.start()
    assert heard.names == ["session:start"]
    await harness.session.cleanup()


async def test_a_loader_of_others_need_not_clean_up() -> None:
    """What it does not have is not called."""

    class Finder:
        def __init__(self) -> None:
            self._loader = ModuleLoader()
            self.load = self._loader.load

    session = AmplifierSession(plan_for([]), loader=Finder())  # type: ignore[arg-type]
    await session.initialize()
    await session.cleanup()
    assert session.status == "ended"


async def test_a_child_without_its_parents_hooks_tells_of_itself() -> None:
    """session:fork comes after the mounting; a parent whose hooks are shared tells it instead."""
    harness = SessionHarness([], parent_id="p", session={"metadata": {"team": "a"}})
    heard = harness.listen()
    await harness.session.start()
    assert heard.names[:2] == ["session:fork", "session:start"]
    fork, start = (data for _, data in heard.events[:2])
    assert (fork["parent"], fork["parent_id"]) == ("p", "p")
    assert fork["child_id"] == fork["session_id"] == harness.session.session_id
    assert fork["metadata"] == start["metadata"] == {"team": "a"}
    await harness.session.cleanup()


@pytest.mark.parametrize("point", ["orchestrator", "context", "providers"])
async def test_a_prompt_needs_a_loop_a_context_and_a_provider(point: str) -> None:
    """Modules may be taken away by hand; then the prompt says what is missing."""
    async with SessionHarness([]) as harness:
        await harness.coordinator.unmount(point, "scripted")
        with pytest.raises(RuntimeError, match=f"No {point} mounted"):
            await harness.session.execute("x")


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


@pytest.mark.parametrize("immediate", [False, True])
async def test_a_run_that_was_interrupted_ends_because_of_the_user(immediate: bool) -> None:
    """An interrupted run is user_exit, whether it was stopped at once or after a step."""
    harness = SessionHarness([{"text": "late", "delay": 30}])
    heard = harness.listen()

    async def stop(event: str, data: Any) -> None:
        await harness.coordinator.request_cancel(immediate=immediate)

    async with harness.session as session:
        harness.hooks.register("prompt:submit", stop)
        await session.execute("go")
        assert session.status == "interrupted"
    assert [data["reason"] for _, data in heard.get_events("session:end")] == ["user_exit"]


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


async def test_a_turn_begins_only_when_the_one_before_has_ended() -> None:
    """However slow its hooks are, and also when somebody gives up waiting for their turn."""
    steps: list[str] = []

    async def hook(event: str, data: dict[str, Any]) -> HookResult:
        steps.append(f"{event} {data['prompt']}")
        for _ in range(20):
            await asyncio.sleep(0)
        steps.append(f"{event} {data['prompt']} seen")
        return HookResult()

    async with SessionHarness([{"text": "one"}, {"text": "two"}]) as harness:
        for event in ("prompt:submit", "prompt:complete"):
            harness.hooks.register(event, hook)
        first, given_up, last = (asyncio.create_task(harness.session.execute(p)) for p in "abc")
        while not steps:
            await asyncio.sleep(0)
        given_up.cancel()
        replies = await asyncio.gather(first, given_up, last, return_exceptions=True)
    assert [replies[0], replies[2]] == ["one", "two"]
    turns = [f"prompt:{event}" for event in ("submit", "complete")]
    assert steps == [f"{t} {p}{end}" for p in "ac" for t in turns for end in ("", " seen")]


async def test_the_end_of_a_session_is_on_record_with_its_reason_and_its_numbers() -> None:
    """A log makes a checkpoint of it."""
    async with SessionHarness([{"text": "one"}]) as harness:
        await harness.session.execute("a")
    (ended,) = harness.trail.of_type("session_ended")
    assert ended["body"]["reason"] == "complete"
    assert ended["body"]["stats"]["total_messages"] == 2


async def test_the_approval_system_is_fixed_once_the_session_runs() -> None:
    """A module cannot answer questions in the person's place."""
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


async def test_a_stop_counts_for_the_first_turn_and_is_forgotten_after_it() -> None:
    """A sub-agent may be told to stop before it gets its task."""
    async with SessionHarness([{"text": "1"}]) as harness:
        await harness.coordinator.request_cancel()
        assert await harness.session.execute("x") == "Stopped, as requested."
        assert harness.session.status == "interrupted"
        assert await harness.session.execute("y") == "1"


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
from amplifier_core.session import SHADOW, AmplifierSession
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


async def test_a_resumed_session_holds_its_conversation_once() -> None:
    """What it was resumed from is let go; the caller's state stays as it is."""
    saved = [{"role": "user", "content": "hello"}]
    state = {"version": 1, "messages": saved}
    held = sys.getrefcount(saved)
    async with AmplifierSession(plan_for([]), state=state) as session:
        assert [one["content"] for one in session.context.get_messages()] == ["hello"]  # type: ignore[union-attr]
        assert sys.getrefcount(saved) == held
    assert state["messages"] is saved


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
    assert "Unknown module 'hooks-nonsense'; have context-simple, " in (entry.error or "")
    assert "it is left out" in caplog.text


async def test_a_required_module_that_does_not_load_is_fatal() -> None:
    """`required: true` makes it fatal, and nothing stays mounted."""
    harness = SessionHarness([], hooks=[{"module": "hooks-nonsense", "required": True}])
    with pytest.raises(ModuleLoadError, match="Unknown module 'hooks-nonsense'"):
        await harness.session.initialize()
    assert harness.session.mounting.mounted == []


@pytest.mark.timeout(240)  # on a busy machine; alone it takes seconds
@pytest.mark.parametrize("count", [200, pytest.param(1_000, marks=pytest.mark.slow)])
async def test_many_sessions_at_once_do_not_mix(count: int) -> None:
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

    for outcome in await asyncio.gather(*(one(n) for n in range(count))):
        number, reply, seen = outcome
        assert (reply, seen) == (f"done {number}", [f"s{number}"])
    assert len(asyncio.all_tasks()) == before
    gc.collect()
    assert not [o for o in gc.get_objects() if type(o) is AmplifierSession and o.status != "ended"]


async def test_the_plan_is_told_where_it_is_asked_for_with_its_secrets_masked() -> None:
    """`session.raw`; without it nobody hears of the plan that way."""
    for raw, count in ((True, 1), (False, 0)):
        harness = SessionHarness([], session={"raw": raw}, agents={"a": {"api_key": "s3cret"}})
        heard = harness.listen()
        await harness.session.start()
        await harness.session.cleanup()
        told = [data for event, data in heard.events if event == "session:config"]
        assert len(told) == count
        for data in told:
            assert data["session_id"] == harness.session.session_id
            assert data["raw"]["session"]["raw"] is True
            assert "s3cret" not in str(data)


async def test_a_session_that_nobody_hears_works() -> None:
    """Without a hook and without a trail."""
    session = AmplifierSession(plan_for([calls("Echo"), {"text": "done"}]))
    await session.initialize()
    tool = MockTool("Echo", "said")
    await session.coordinator.mount("tools", tool)
    assert await session.execute("go") == "done"
    await session.cleanup()
    assert len(tool.calls) == 1


class Counting:
    """A model that can count: every character is a token."""

    name = "counting"

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        return ChatResponse(content=[TextBlock(text="ok")])

    def count_tokens(self, text: str) -> int:
        return len(text)


async def test_two_prompts_on_a_session_that_has_not_started_start_it_once() -> None:
    """initialize is called when needed, and once."""
    harness = SessionHarness([{"text": "one"}, {"text": "two"}])
    heard = harness.listen()
    replies = await asyncio.gather(*(harness.session.execute(p) for p in "ab"))
    await harness.session.cleanup()
    assert sorted(replies) == ["one", "two"]
    assert heard.names.count("session:start") == 1


@pytest.mark.parametrize("what", ["execute", "execute_tool", "initialize"])
async def test_an_ended_session_starts_nothing_again(what: str) -> None:
    """An ended session says so, whatever it is asked for."""
    async with SessionHarness([{"text": "x"}], tools=[MockTool("Echo")]) as harness:
        pass
    given: Any = {"execute": ("x",), "execute_tool": ("Echo", {}), "initialize": ()}[what]
    with pytest.raises(SessionStateError, match="has ended"):
        await getattr(harness.session, what)(*given)
    assert harness.session.mounting.mounted == []


async def test_a_hook_of_the_start_cannot_work_with_a_session_that_is_not_there_yet() -> None:
    """It fails; the session starts all the same, and nothing hangs."""
    harness = SessionHarness([{"text": "fine"}])

    async def early(event: str, data: dict[str, Any]) -> None:
        await harness.session.execute_tool("Echo", {})

    harness.hooks.register("session:start", early)
    async with asyncio.timeout(50):
        assert await harness.session.execute("x") == "fine"
    await harness.session.cleanup()


async def test_a_hook_of_a_turn_cannot_start_another_turn() -> None:
    """One turn at a time: its own hook gets an error instead of waiting for itself."""
    caught: list[str] = []
    async with SessionHarness([{"text": "fine"}]) as harness:

        async def nested(event: str, data: dict[str, Any]) -> None:
            try:
                await harness.session.execute("again")
            except SessionStateError as error:
                caught.append(str(error))

        harness.hooks.register("prompt:submit", nested)
        async with asyncio.timeout(50):
            assert await harness.session.execute("x") == "fine"
    assert caught == ["A turn is under way; its own hooks cannot start another"]


LISTENER = """
async def mount(coordinator, config):
    heard = coordinator.session_state.setdefault("heard", [])

    async def listen(event, data):
        heard.append([event, data["reason"]])

    return coordinator.hooks.register("session:end", listen)
"""


async def test_a_refused_start_is_on_record_with_its_end() -> None:
    """The trail of a session that a hook refused has a beginning and an end."""
    harness = SessionHarness([])
    no = HookResult(action="deny", reason="not today")
    harness.hooks.register("session:start", EventRecorder(no), name="doorman")
    with pytest.raises(SessionDenied, match="Operation denied by doorman: not today"):
        await harness.session.execute("x")
    (ended,) = harness.trail.of_type("session_ended")
    assert ended["body"]["reason"] == "denied"


async def test_hooks_are_told_of_the_end_of_a_session_that_one_refused(tmp_path: Path) -> None:
    """Once, while they are still mounted, also if somebody cleans up afterwards."""
    listener = tmp_path / "listener.py"
    listener.write_text(LISTENER)
    harness = SessionHarness([], hooks=[{"module": str(listener)}])
    no = HookResult(action="deny", reason="not today")
    harness.hooks.register("session:start", EventRecorder(no), name="doorman")
    with pytest.raises(SessionDenied):
        await harness.session.start()
    await harness.session.cleanup()
    assert harness.coordinator.session_state["heard"] == [["session:end", "denied"]]
    assert len(harness.trail.of_type("session_ended")) == 1


async def test_a_refused_session_may_be_tried_again_and_ends_for_itself() -> None:
    """Each try has its own end."""
    harness = SessionHarness([{"text": "fine"}])
    heard = EventRecorder()
    harness.hooks.register("session:end", heard)
    no = EventRecorder(HookResult(action="deny", reason="not today"))
    remove = harness.hooks.register("session:start", no)
    with pytest.raises(SessionDenied):
        await harness.session.start()
    remove()
    assert await harness.session.execute("x") == "fine"
    await harness.session.cleanup()
    assert [data["reason"] for _, data in heard.events] == ["denied", "complete"]


async def test_hooks_are_told_of_the_end_of_a_session_that_could_not_start(tmp_path: Path) -> None:
    """Whatever fails once they are mounted: they can put away what they had prepared."""
    listener, broken = tmp_path / "listener.py", tmp_path / "broken.py"
    listener.write_text(LISTENER)
    broken.write_text("async def mount(coordinator, config):\n    raise RuntimeError('no')\n")
    hooks = [{"module": str(listener)}, {"module": str(broken), "required": True}]
    harness = SessionHarness([], hooks=hooks)
    with pytest.raises(ModuleLoadError):
        await harness.session.initialize()
    await harness.session.cleanup()
    assert harness.coordinator.session_state["heard"] == [["session:end", "error"]]


async def test_a_context_that_fails_at_the_end_does_not_keep_the_session_alive(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Everything is undone, whatever a module does."""
    undone: list[str] = []
    harness = SessionHarness([{"text": "x"}])
    heard = harness.listen()
    async with harness:
        harness.coordinator.register_cleanup(lambda: undone.append("yes"))
        harness.session.context.get_messages = lambda: 1 / 0  # type: ignore[method-assign]
    assert undone == ["yes"]
    assert heard.names.count("session:end") == 1
    assert "cannot say what it holds" in caplog.text


async def test_before_the_start_there_are_no_messages_and_no_injections() -> None:
    """State and review of a session that has not started are empty, not an error."""
    session = SessionHarness([]).session
    assert (await session.state())["messages"] == []
    assert await session.injections() == []


async def test_the_changed_plan_is_used_hooks_and_limits_included(tmp_path: Any) -> None:
    """A removed module is silent, an added one speaks, and a new limit holds."""
    added = tmp_path / "added.py"
    added.write_text(
        "from amplifier_core.models import HookResult\n"
        "async def on_prompt_submit(event, data):\n"
        "    return HookResult(user_message='added')\n"
    )
    removed = tmp_path / "removed.py"
    removed.write_text(added.read_text().replace("added", "removed"))
    harness = SessionHarness([{"text": "ok"}], hooks=[{"module": str(removed)}])

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        plan = data["mount_plan"]
        session = {**plan["session"], "injection_budget_per_turn": 7}
        plan = {**plan, "session": session, "hooks": [{"module": str(added)}]}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    harness.hooks.register("session:start", change)
    async with harness:
        await harness.session.execute("x")
        assert harness.coordinator.injection_budget_per_turn == 7
    assert [text for text, _, _ in harness.screen.messages] == ["added"]


@pytest.mark.parametrize("prompt", [None, 3, b"x", {"prompt": "x"}])
async def test_a_prompt_of_another_type_is_refused(prompt: Any) -> None:
    """Bad input gets a clear sentence."""
    async with SessionHarness([]) as harness:
        with pytest.raises(TypeError, match="A prompt is a text, got"):
            await harness.session.execute(prompt)


SILENT = """
class Tool:
    name = "Danger"
    description = "Does what nobody wants"
    input_schema = {}

    async def execute(self, input):
        return "done"

async def mount(coordinator, config):
    await coordinator.mount("tools", Tool())
"""


async def test_a_tool_that_a_hook_takes_out_of_the_plan_is_gone(tmp_path: Path) -> None:
    """Also that of a module which undoes nothing by itself."""
    (tmp_path / "silent.py").write_text(SILENT)
    harness = SessionHarness([], tool_modules=[{"module": str(tmp_path / "silent.py")}])

    async def strip(event: str, data: dict[str, Any]) -> HookResult:
        plan = {**data["mount_plan"], "tools": []}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    await harness.session.initialize()
    assert list(harness.coordinator.get("tools")) == ["Danger"]
    harness.hooks.register("session:start", strip)
    result = await harness.session.execute_tool("Danger", {})
    assert (result.success, list(harness.coordinator.get("tools"))) == (False, [])
    await harness.session.cleanup()


@pytest.mark.parametrize("change", ["leave out", "other options", "unlock", "nothing"])
async def test_no_hook_takes_a_locked_entry_out_of_the_plan(tmp_path: Path, change: str) -> None:
    """The session does not start without what a person has locked."""
    (tmp_path / "silent.py").write_text(SILENT)
    entry = {"module": str(tmp_path / "silent.py"), "locked": True}
    harness = SessionHarness([], tool_modules=[entry])
    tools = {
        "leave out": [],
        "other options": [{**entry, "config": {"x": 1}}],
        "unlock": [{**entry, "locked": False}],
        "nothing": [entry, "tool-todo"],
    }[change]

    async def strip(event: str, data: dict[str, Any]) -> HookResult:
        plan = {**data["mount_plan"], "tools": tools}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    harness.hooks.register("session:start", strip)
    if change == "nothing":
        await harness.session.start()
        assert "Danger" in harness.coordinator.get("tools")
    else:
        with pytest.raises(ModuleLoadError, match="is locked; no hook can change it"):
            await harness.session.start()
    await harness.session.cleanup()


@pytest.mark.parametrize("locked", [True, False])
async def test_no_hook_changes_a_locked_section(locked: bool) -> None:
    """Whatever its keys mean; one that is not locked can be changed."""
    harness = SessionHarness([], sandbox={"mode": "required", "locked": locked})

    async def relax(event: str, data: dict[str, Any]) -> HookResult:
        plan = {**data["mount_plan"], "sandbox": {"mode": "off"}}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    harness.hooks.register("session:start", relax)
    if locked:
        with pytest.raises(ModuleLoadError, match="section 'sandbox' is locked; no hook can"):
            await harness.session.start()
    else:
        await harness.session.start()
    await harness.session.cleanup()


async def test_a_hook_may_choose_another_context_and_the_first_messages_move_over() -> None:
    """What was injected before is in the new one."""
    harness = SessionHarness([{"text": "ok"}])
    first = HookResult(action="inject_context", context_injection="know this")
    harness.hooks.register("session:start", EventRecorder(first), name="early", priority=1)

    async def change(event: str, data: dict[str, Any]) -> HookResult:
        plan = data["mount_plan"]
        context = {"module": "context-simple", "config": {"keep_last": 3}}
        plan = {**plan, "session": {**plan["session"], "context": context}}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    harness.hooks.register("session:start", change, priority=2)
    async with harness:
        assert harness.session.context.config.keep_last == 3  # type: ignore[attr-defined]
        assert harness.texts("system") == ["know this"]


async def test_options_of_loop_and_context_may_stand_beside_the_session() -> None:
    """Plans of the ecosystem keep the config of the loop under `orchestrator` at the top."""
    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "orchestrator": {"config": {"max_turns": 3}},
        "context": {"keep_last": 2},
    }
    async with AmplifierSession(plan) as session:
        assert session.coordinator.get("orchestrator").config.max_turns == 3
        assert session.context.config.keep_last == 2  # type: ignore[attr-defined]


async def test_a_module_that_mounts_no_context_is_named() -> None:
    """A session without a context cannot run."""
    plan = plan_for([])
    plan["session"]["context"] = {"module": "hooks-datetime"}
    with pytest.raises(ModuleLoadError, match="Module 'hooks-datetime' mounted no context"):
        await AmplifierSession(plan).initialize()


async def test_a_start_that_somebody_else_finished_is_not_started_again() -> None:
    """Whoever waited for the start finds it done."""
    harness = SessionHarness([])

    async def slow(event: str, data: dict[str, Any]) -> None:
        await asyncio.sleep(0.01)

    harness.hooks.register("session:start", slow)
    await asyncio.gather(*(harness.session.initialize() for _ in range(3)))
    assert len([one for one in harness.session.mounting.mounted if one.kind == "context"]) == 1
    await harness.session.cleanup()


async def test_the_end_of_a_session_says_what_each_hook_did() -> None:
    """Counted, in the event and in the record; the figures of the session itself stay."""
    ends = EventRecorder()
    async with SessionHarness([{"text": "fine"}]) as harness:
        harness.hooks.register("prompt:submit", EventRecorder(), name="watches")
        harness.hooks.register("session:end", ends, name="last")
        await harness.session.execute("x")
    ((_, data),) = ends.events
    told = data["stats"]["hooks"]["watches"]
    assert (told["calls"], told["answers"]) == (1, {"continue": 1})
    (record,) = harness.trail.of_type("session_ended")
    assert record["body"]["stats"] == data["stats"]
    assert "hooks" not in harness.session.stats


class TestModes:
    """What the answers of hooks may do is said in the plan, and holds from the start."""

    async def test_shadow_mode_is_told_at_the_start_and_recorded(self) -> None:
        """Loudly: whoever believes that guards hold must not be wrong."""
        async with SessionHarness([{"text": "fine"}], session={"evaluate_only": True}) as harness:
            harness.hooks.register(
                "prompt:submit", EventRecorder(HookResult(action="deny", reason="no"))
            )
            assert await harness.session.execute("x") == "fine"
        assert (SHADOW, "warning", "session") in harness.screen.messages
        assert [one["body"]["shadow"] for one in harness.trail.of_type("session_started")] == [True]

    async def test_a_session_with_effect_says_so_in_its_record(self) -> None:
        """And nothing on the screen."""
        async with SessionHarness([]) as harness:
            pass
        assert harness.screen.messages == []
        assert harness.trail.of_type("session_started")[0]["body"]["shadow"] is False

    async def test_a_refused_start_starts_in_shadow_mode(self) -> None:
        """Nothing is denied, not even the session."""
        harness = SessionHarness([], session={"evaluate_only": True})
        no = HookResult(action="deny", reason="not today")
        harness.hooks.register("session:start", EventRecorder(no))
        async with harness:
            pass
        (record,) = harness.trail.of_type("shadowed")
        assert record["body"]["would"] == "would have denied the session: not today"

    @pytest.mark.parametrize("switch", ["evaluate_only", "run_all"])
    async def test_no_hook_switches_the_mode(self, switch: str) -> None:
        """The start fails instead."""

        async def change(_: str, data: dict[str, Any]) -> HookResult:
            plan = data["mount_plan"]
            changed = {**plan, "session": {**plan["session"], switch: True}}
            return HookResult(action="modify", data={**data, "mount_plan": changed})

        harness = SessionHarness([])
        harness.hooks.register("session:start", change)
        with pytest.raises(ModuleLoadError, match="hold from the start; no hook can change them"):
            await harness.session.start()

    @pytest.mark.parametrize("switch", ["evaluate_only", "run_all"])
    def test_a_switch_is_true_or_false(self, switch: str) -> None:
        """Anything else would be taken for what it may not mean."""
        with pytest.raises(TypeError, match=f"session.{switch}: true or false, got 'no'"):
            AmplifierSession(plan_for([], session={switch: "no"}))

    async def test_a_sub_agent_is_in_the_mode_of_its_session(self) -> None:
        """It is told of once."""
        parent = HookRegistry(mode="evaluate_only")
        async with SessionHarness([], parent_id="p", parent_hooks=parent) as harness:
            assert harness.hooks.mode == "evaluate_only"
        assert harness.screen.messages == []
        with pytest.raises(ValueError, match="the hooks of the parent have an effect"):
            SessionHarness([], parent_hooks=HookRegistry(), session={"evaluate_only": True})

    async def test_with_run_all_a_session_shows_denied_calls_to_its_observers(self) -> None:
        """The tool does not run."""
        tool, last = MockTool("Write"), EventRecorder()
        async with SessionHarness([], tools=[tool], session={"run_all": True}) as harness:
            no = HookResult(action="deny", reason="no")
            harness.hooks.register("tool:pre", EventRecorder(no), name="guard")
            harness.hooks.register("tool:pre", last)
            assert not (await harness.session.execute_tool("Write", {})).success
        assert last.events[0][1]["denied_by"] == "guard"
        assert tool.call_count == 0


EACH_TURN = [
    *("prompt:submit", "execution:start", "provider:request", "provider:response"),
    *("decision:tool_resolution", "tool:pre", "tool:post", "provider:request"),
    *("provider:response", "orchestrator:complete", "execution:complete"),
    *("prompt:answer", "prompt:complete", "user:notification"),
]
"""What a turn with one tool call tells of, in order."""


@pytest.mark.parametrize("moment", range(len(EACH_TURN)))
async def test_who_begins_to_listen_in_the_middle_of_a_turn_hears_the_rest(moment: int) -> None:
    """Whatever the session found out before the turn about who listens."""
    session = AmplifierSession(plan_for([calls("Echo"), {"text": "done"}] * 2))
    hooks, late, left = session.coordinator.hooks, EventRecorder(), iter(range(moment))
    async with session:
        await session.coordinator.mount("tools", MockTool("Echo"))
        await session.execute("nobody listens: that is known now")

        async def begin(event: str, data: dict[str, Any]) -> HookResult:
            if next(left, None) is None:
                undo()
                for one in dict.fromkeys(EACH_TURN):
                    hooks.register(one, late)
            return HookResult()

        def undo() -> None:
            while removals:
                removals.pop()()

        removals = [hooks.register(one, begin) for one in dict.fromkeys(EACH_TURN)]
        await session.execute("now somebody does")
    assert late.names == EACH_TURN[moment + 1 :]


@pytest.mark.parametrize("place", ["model", "tool"])
async def test_what_a_turn_itself_registers_hears_the_rest(place: str) -> None:
    """Nobody listened before: a tool or a model that brings a hook along has it called at once."""
    session = AmplifierSession(plan_for([calls("Echo"), {"text": "done"}] * 2))
    coordinator, late = session.coordinator, EventRecorder()
    async with session:
        await coordinator.mount("tools", MockTool("Echo"))
        await session.execute("nobody listens: that is known now")
        owner: Any = coordinator.get("tools")["Echo"]
        if place == "model":
            (owner,) = coordinator.get("providers").values()
        name = "execute" if place == "tool" else "complete"
        inner = getattr(owner, name)

        async def outer(*args: Any, **more: Any) -> Any:
            setattr(owner, name, inner)
            for one in dict.fromkeys(EACH_TURN):
                coordinator.hooks.register(one, late)
            return await inner(*args, **more)

        setattr(owner, name, outer)
        await session.execute("now somebody does")
    assert late.names == EACH_TURN[6 if place == "tool" else 3 :]


def test_a_state_is_a_dict_of_ones_own() -> None:
    """What the session does to it, nobody else sees; without one there is nothing."""
    saved = {"version": STATE_VERSION, "messages": []}
    assert read_state(saved) == saved
    assert read_state(saved) is not saved
    assert read_state(None) == {}


@pytest.mark.parametrize("state", [{}, {"version": 99}])
def test_another_version_is_refused(state: dict[str, Any]) -> None:
    """It says which there is and which is understood."""
    with pytest.raises(SessionStateError, match=r"A saved state of version .*; this is 1"):
        read_state(state)


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [
        (None, "idle", "complete"),
        (None, "interrupted", "user_exit"),
        (TimeoutError, "idle", "timeout"),
        (KeyboardInterrupt, "idle", "user_exit"),
        (asyncio.CancelledError, "idle", "user_exit"),
        (SystemExit, "idle", "user_exit"),
        (RuntimeError, "interrupted", "error"),
    ],
)
def test_the_reason_follows_from_how_the_block_was_left(kind, status, reason):
    """Each way to leave has one."""
    assert read_end_reason(kind, status) == reason
