"""Replays of sessions, here and in a process of its own."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core import events
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.errors import ModuleLoadError
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.testing import MockTool, ScriptedApproval
from amplifier_core.tool_call import start_call
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.loops.model_call import compact_now
from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.insight.changes import Change
from amplifier_hooks.insight.replay.job import (
    Driver,
    Job,
    Replay,
    ReplayFailed,
    ReplaySink,
    VirtualTimeLoop,
    digest_material,
    do_job,
    launch_replay,
    replay_session,
)
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recording import DEADLINE, CannotReplay, Run, read_recording
from amplifier_hooks.sandbox.protection import examine_machine
from tests.hooks.insight.replay.items import event, note
from tests.hooks.insight.replay.test_recording import make
from tests.support.hooks import injects
from tests.support.project import Project, script
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


async def test_each_record_is_compared_as_it_is_written() -> None:
    """The first one that differs stops the replay; what comes after is not looked at."""
    stopped: list[bool] = []
    playback = Playback(make(event("session:start", 1), event("prompt:submit", 2, prompt="x")))
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    playback.on_stop = lambda: stopped.append(True)
    sink = ReplaySink(playback)
    body = {"action": "continue", "hooks": [], "data": {}}
    first = sink.append("dispatch", body, session="s", event="session:start")
    assert not playback.differences
    other = {**body, "data": {"prompt": object()}}
    assert sink.append("dispatch", other, session="s", event="prompt:submit") == first + 1
    sink.append("dispatch", body, session="s", event="session:end")
    await sink.commit()
    await sink.close()
    (difference,) = playback.differences
    assert [one.field for one in difference.changes] == ["given prompt"]
    assert stopped == [True]


SEVERAL: list[dict[str, Any]] = [
    {
        "text": "both",
        "tool_calls": [
            {"name": "Echo", "input": {"word": "a"}},
            {"name": "Fails", "input": {}},
            {"name": "Nope", "input": {}},
        ],
    },
    {"error": "overloaded"},
    {"text": "done"},
]


class Fails(MockTool):
    """Raises."""

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        raise RuntimeError("it is broken")


def own_hook(folder: Path, code: str) -> dict[str, Any]:
    """A hook file, as a plan names it."""
    path = folder / "own.py"
    path.write_text(f"from amplifier_core.models import HookResult\n\n{code}")
    return {"module": "own", "source": str(path)}


DENY = """async def on_tool_pre(event, data):
    if data["tool_input"].get("word") == "a":
        return HookResult(action="deny", reason="not a")
"""


def test_an_unchanged_session_is_identical(tmp_path: Path) -> None:
    """Whatever happened in it: results, errors, unknown tools, tries of the model, two prompts."""
    harness = record_session(
        [*SEVERAL, {"text": "again"}], "one", "two", tools=[MockTool("Echo"), Fails("Fails")]
    )
    found = replay_harness(harness, tmp_path)
    assert found.status == "identical", describe(found)
    assert (found.totals.calls, found.totals.questions) == (2, 0)
    assert found.totals.events == len(
        [one for one in harness.trail.records if one["type"] == "dispatch"]
    )


def test_no_tool_and_no_model_of_the_recorded_session_is_called(tmp_path: Path) -> None:
    """The tools of the harness count their calls: they are those of the recording alone."""
    echo = MockTool("Echo")
    harness = record_session([calls("Echo", word="x"), {"text": "done"}], tools=[echo])
    assert replay_harness(harness, tmp_path).status == "identical"
    assert len(echo.calls) == 1


def test_a_new_denial_is_the_first_difference(tmp_path: Path) -> None:
    """Both ways are shown: what was decided, by whom, why, and about what."""
    harness = record_session(SEVERAL, tools=[MockTool("Echo"), Fails("Fails")])
    found = replay_harness(harness, tmp_path, hooks=[own_hook(tmp_path, DENY)])
    (difference,) = found.differences
    assert (difference.kind, difference.what) == ("changed", "tool:pre of Echo")
    assert difference.about == {"word": "a"}
    shown = {one.field: (one.then, one.now) for one in difference.changes}
    assert shown == {
        "decision": ("continue", "deny"),
        "reason": (None, "not a"),
        "hook own.on_tool_pre": (None, "deny: not a"),
    }


def test_a_denial_that_is_gone_is_a_difference_too(tmp_path: Path) -> None:
    """A hook that the bundle no longer has does not answer any more."""
    hooks = [own_hook(tmp_path, DENY)]
    harness = record_session(SEVERAL, tools=[MockTool("Echo"), Fails("Fails")], hooks=hooks)
    assert replay_harness(harness, tmp_path, hooks=hooks).status == "identical"
    (difference,) = replay_harness(harness, tmp_path, hooks=[]).differences
    assert {one.field: one.now for one in difference.changes}["decision"] == "continue"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (
            'async def on_tool_post(event, data):\n    return HookResult(action="inject_context", '
            'context_injection="look")\n',
            "tool:post of Echo",
        ),
        (
            "async def on_tool_pre(event, data):\n    data['tool_input'] = {'word': 'b'}\n"
            '    return HookResult(action="modify", data=data)\n',
            "tool:pre of Echo",
        ),
        (
            'async def on_prompt_submit(event, data):\n    return HookResult(action="ask_user")\n',
            "prompt:submit",
        ),
    ],
)
def test_every_kind_of_new_answer_is_found(tmp_path: Path, code: str, what: str) -> None:
    """Injections, changes and questions, at the event where they begin."""
    harness = record_session([calls("Echo", word="a"), {"text": "done"}], tools=[MockTool("Echo")])
    (difference,) = replay_harness(harness, tmp_path, hooks=[own_hook(tmp_path, code)]).differences
    assert difference.what == what


def test_after_the_first_difference_the_rest_can_be_looked_at(tmp_path: Path) -> None:
    """As far as the recording has answers."""
    script = [calls("Echo", word="a"), calls("Echo", word="b"), calls("Echo", word="a"), {}]
    harness = record_session(script, tools=[MockTool("Echo")])
    found = replay_harness(harness, tmp_path, hooks=[own_hook(tmp_path, DENY)], keep_going=True)
    denied = [one for one in found.differences if one.what == "tool:pre of Echo"]
    assert [one.about for one in denied] == [{"word": "a"}, {"word": "a"}]


@pytest.mark.parametrize(
    "answer",
    [
        "Allow",
        "Deny",
        ApprovalAnswer("Allow", by="ann", comment="go on", edited_input={"text": "edited"}),
    ],
)
def test_people_answer_as_they_answered(tmp_path: Path, answer: Any) -> None:
    """Yes, no, and with another input; nobody is asked."""
    code = (
        "async def on_tool_pre(event, data):\n"
        '    return HookResult(action="ask_user", approval_prompt="really?")\n'
    )
    hooks = [own_hook(tmp_path, code)]
    person = ScriptedApproval(answer)
    harness = record_session(
        [calls("Echo", word="a"), {"text": "done"}],
        tools=[MockTool("Echo")],
        approval=person,
        hooks=hooks,
    )
    found = replay_harness(harness, tmp_path, hooks=hooks)
    assert found.status == "identical", describe(found)
    assert found.totals.questions == 1
    assert len(person.questions) == 1


def test_a_turn_that_was_stopped_is_stopped_again(tmp_path: Path) -> None:
    """At once, in the middle of a tool; the next prompt is taken as usual."""

    async def run() -> SessionHarness:
        class Stops(MockTool):
            async def execute(self, input: dict[str, Any]) -> ToolResult:
                await harness.coordinator.request_cancel(immediate=True)
                await asyncio.sleep(60)
                return ToolResult()

        script = [calls("Stops"), {"text": "next"}]
        async with SessionHarness(script, tools=[Stops("Stops")]) as harness:
            await harness.session.execute("one")
            await harness.session.execute("two")
        return harness

    found = replay_harness(asyncio.run(run()), tmp_path)
    assert found.status == "identical", describe(found)


def test_a_conversation_is_made_smaller_at_the_same_point(tmp_path: Path) -> None:
    """Though the recorded model could read less than the context was told."""
    script = [{"text": "word " * 30}] * 6
    small = {"max_tokens": 120, "keep_last": 1}
    harness = record_session(script, *["more"] * 6, context_config=small)
    told = [one["event"] for one in harness.trail.of_type("dispatch")]
    assert "context:post_compact" in told
    harness.plan["session"]["context"]["config"] = {**small, "max_tokens": 100_000}
    found = replay_harness(harness, tmp_path)
    assert found.status == "identical", describe(found)


def test_hours_of_waiting_take_no_time(tmp_path: Path) -> None:
    """A model that is tried again waits in a clock that does not."""
    slow = {"retry_delay": 0.0}
    harness = record_session([{"error": "overloaded"}, {"text": "ok"}], loop_config=slow)
    harness.plan["session"]["orchestrator"]["config"] = {"retry_delay": 3600.0}
    assert replay_harness(harness, tmp_path).status == "identical"


def test_a_process_that_died_is_followed_to_its_last_record(tmp_path: Path) -> None:
    """What would have come next is no difference: nobody knows."""
    harness = record_session([calls("Echo", word="a"), {"text": "done"}], tools=[MockTool("Echo")])
    lines = harness.trail.lines
    started = next(place for place, line in enumerate(lines) if b'"tool_started"' in line)
    del lines[started + 1 :]
    found = replay_harness(harness, tmp_path)
    assert found.status == "identical", describe(found)
    assert found.broken_off


def test_hooks_that_no_module_brought_answer_what_they_answered(tmp_path: Path) -> None:
    """Those of an application are not here; what they said is."""

    async def run() -> SessionHarness:
        async def change(event: str, data: dict[str, Any]) -> HookResult:
            return HookResult(action="modify", data={**data, "tool_input": {"text": "other"}})

        async def inject(event: str, data: dict[str, Any]) -> HookResult:
            return HookResult(action="inject_context", context_injection="note")

        async def fail(event: str, data: dict[str, Any]) -> HookResult:
            raise ValueError("broken")

        script = [calls("Echo", word="a"), {"text": "done"}]
        async with SessionHarness(script, tools=[MockTool("Echo")]) as harness:
            harness.hooks.register("tool:pre", change)
            harness.hooks.register("tool:post", inject)
            harness.hooks.register("prompt:submit", fail)
            await harness.session.execute("one")
        return harness

    found = replay_harness(asyncio.run(run()), tmp_path)
    assert found.status == "identical", describe(found)
    assert found.totals.injections == 1


def test_two_replays_find_the_same(tmp_path: Path) -> None:
    """To the last figure."""
    harness = record_session(SEVERAL, tools=[MockTool("Echo"), Fails("Fails")])
    hooks = [own_hook(tmp_path, DENY)]
    first, second = (replay_harness(harness, tmp_path, hooks=hooks).to_dict() for _ in range(2))
    assert first == second


def test_what_was_found_can_be_told_to_another_process(tmp_path: Path) -> None:
    """And read back."""
    harness = record_session(SEVERAL, tools=[MockTool("Echo"), Fails("Fails")])
    found = replay_harness(harness, tmp_path, hooks=[own_hook(tmp_path, DENY)])
    assert Replay.from_dict(found.to_dict()) == found


DELEGATES = [
    {
        "tool_calls": [
            {"name": "Delegate", "input": {"agent_name": "reader", "task": "read a"}},
            {"name": "Delegate", "input": {"agent_name": "reader", "task": "read b"}},
        ]
    },
    {"text": "both have read"},
]
READS = {"module": "provider-scripted", "config": {"script": [{"text": "I have read"}]}}


async def record_project(project: Project, trails: Path) -> Path:
    """A session with two sub-agents at once, which is resumed by another process."""
    bundle = project.bundle(
        providers=[{"module": "provider-scripted", "config": {"script": DELEGATES}}],
        tools=["tool-delegate"],
        hooks=["hooks-datetime"],
        agents={"reader": {"description": "Reads.", "providers": [READS]}},
        audit={"enabled": True, "path": str(trails)},
    )
    async with project.session(bundle) as session:
        await session.execute("one")
        state = await session.state()
    async with project.session(bundle, resume=state) as session:
        await session.execute("two")
    (path,) = trails.iterdir()
    return path


async def test_sub_agents_and_resumed_sessions_are_replayed(
    project: Project, tmp_path: Path
) -> None:
    """Each sub-agent as the one that its call had started, at the time that it was then."""
    path = await record_project(project, tmp_path / "trails")
    recording = await asyncio.to_thread(read_recording, path)
    assert len(recording.parents) == 4
    material = collect_material(project.bundle(), project.folder)
    found = await asyncio.to_thread(replay_session, recording, material, tmp_path)
    assert found.status == "identical", describe(found)
    assert found.totals.calls == 4


async def record(project: Project, trails: Path, **sections: Any) -> Job:
    """A job that replays a short session of the project with the bundle that it has then."""
    audit = {"enabled": True, "path": str(trails)}
    bundle = project.bundle(audit=audit, providers=script("hello"), **sections)
    async with project.session(bundle) as session:
        await session.execute("x")
    (path,) = trails.iterdir()
    (trails.parent / "scratch").mkdir()
    scratch = str(trails.parent / "scratch")
    return Job(trail=str(path), folder=str(project.folder), scratch=scratch)


async def test_a_job_tells_what_it_found(project: Project, tmp_path: Path) -> None:
    """Or why it cannot be done, in a sentence."""
    job = await record(project, tmp_path / "trails")
    told = await asyncio.to_thread(do_job, job)
    assert told["found"]["totals"]["events"] > 5
    assert told["found"]["differences"] == ()
    project.write("amplifier.yaml", "nonsense: [")
    assert "amplifier.yaml" in (await asyncio.to_thread(do_job, job))["why"]


async def test_a_trail_that_cannot_be_replayed_is_told_apart(
    project: Project, tmp_path: Path
) -> None:
    """From everything that went wrong."""
    job = await record(project, tmp_path / "trails")
    (empty,) = [tmp_path / "empty.jsonl"]
    empty.write_text("")
    told = await asyncio.to_thread(do_job, replace(job, trail=str(empty)))
    assert told["kind"] in ("cannot", "failed")


@pytest.mark.slow
async def test_a_job_that_cannot_be_done_says_why(project: Project, tmp_path: Path) -> None:
    """In the words of the other process."""
    job = await record(project, tmp_path / "trails")
    with pytest.raises(ReplayFailed, match=r"cannot be replayed: .*nowhere"):
        await launch_replay(replace(job, bundle=str(tmp_path / "nowhere.yaml")))


def make_job(folder: Path) -> Job:
    """A job of a folder with a bundle and a hook file."""
    (folder / "own.py").write_text("async def on_tool_pre(event, data): ...\n")
    (folder / "amplifier.yaml").write_text("name: x\nhooks: [{module: ./own.py}]\n")
    return Job(trail="trail", folder=str(folder), keep_going=True)


def test_a_job_can_be_told_to_another_process(tmp_path: Path) -> None:
    """And read back."""
    job = make_job(tmp_path)
    assert Job.from_dict(job.to_dict()) == job


def test_only_what_a_person_has_trusted_is_loaded(tmp_path: Path) -> None:
    """Files that changed meanwhile are not."""
    job = make_job(tmp_path)
    trusted = replace(job, digest=digest_material(job.load()))
    assert "own.py" in trusted.load().files
    (tmp_path / "own.py").write_text("async def on_tool_pre(event, data): print(1)\n")
    with pytest.raises(ReplayFailed, match="have changed meanwhile"):
        trusted.load()


def test_another_bundle_file_can_be_named(tmp_path: Path) -> None:
    """Instead of the one of the folder."""
    other = tmp_path / "other.yaml"
    other.write_text("name: stricter\n")
    assert replace(make_job(tmp_path), bundle=str(other)).load().bundle.name == "stricter"


@pytest.mark.parametrize("defaults", [True, False])
def test_a_bundle_stands_on_what_the_recorded_one_stood_on(tmp_path: Path, defaults: bool) -> None:
    """A program may have left out the packaged one; where neither fits, the usual one is taken."""
    file = tmp_path / "alone.yaml"
    file.write_text("name: alone\nsession: {orchestrator: loop-basic, context: context-simple}\n")
    had = load_bundle(file, user=False, defaults=defaults)
    job = replace(make_job(tmp_path), bundle=str(file), recorded=had.digest)
    assert job.load().bundle.digest == had.digest
    assert replace(job, recorded="of an earlier bundle").load().bundle.mount_plan["hooks"]


WRITES = """
from pathlib import Path

async def on_prompt_submit(event, data):
    Path({path!r}).write_text("x")
"""


@pytest.mark.slow
async def test_hooks_cannot_write_in_a_replay(project: Project, tmp_path: Path) -> None:
    """One that could then fails now, and that is the difference."""
    file = project.folder / "written.txt"
    project.write("own.py", WRITES.format(path=str(file)))
    job = await record(project, tmp_path / "trails", hooks=[{"module": "./own.py"}])
    assert file.exists()
    file.unlink()
    found = await launch_replay(job)
    assert found.walled is (examine_machine().kind is not None)
    if found.walled:
        assert not file.exists()
        (difference,) = found.differences
        assert "Error" in str(difference.changes[0].now)
