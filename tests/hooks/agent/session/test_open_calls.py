"""A call waited for a person, and the process died: it is asked about again, and runs once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.records import ToolStarted
from amplifier_core.testing import MockTool, ScriptedApproval
from amplifier_hooks.agent.session.open_calls import (
    NOT_RUN,
    UnknownOutcome,
    add_missing_results,
    complete_state,
    follow_waiting,
    is_unchanged,
    report_unknown_outcomes,
    unknown_outcomes,
)
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.modules.conversation import GO_ON, OPEN_CALLS
from tests.support.processes import is_written
from tests.support.project import Project, script
from tests.support.sessions import SessionHarness, calls
from tests.support.waiting import wait_until

GUARD_MODULE = """
from amplifier_core.interfaces import hook
from amplifier_core.models import HookResult

@hook("tool:pre")
async def guard(event, data):
    return HookResult(action="ask_user", approval_prompt="deploy?")
"""

DYING_PROGRAM = """
import asyncio, sys
from amplifier_hooks import load_bundle, open_session
from amplifier_core.testing import ScriptedApproval

async def main():
    bundle = load_bundle(project_dir=sys.argv[1], env={"HOME": sys.argv[2]})
    session = await open_session(bundle, session_id="dying", working_dir=sys.argv[1],
                                 approval_system=ScriptedApproval("Allow"))
    await session.execute("deploy")

asyncio.run(main())
"""


def plan(project: Project) -> dict[str, Any]:
    command = f"echo once >> '{project.folder}/deployed'; sleep 50"
    return {
        "providers": script(calls("Bash", command=command), "It is done."),
        "tools": ["tool-bash"],
        "hooks": ["./guard.py"],
        "audit": {"enabled": True, "path": str(project.home / "trail")},
    }


async def die_during_a_call(project: Project) -> None:
    """Another process runs the approved call and is killed while it runs.

    Not by the call itself: behind its wall it cannot signal the agent.
    """
    project.write("guard.py", GUARD_MODULE)
    project.save(**plan(project))
    program = [sys.executable, "-c", DYING_PROGRAM, str(project.folder), str(project.home)]
    agent = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    await wait_until(lambda: is_written(project.folder / "deployed"), timeout=50)
    agent.kill()
    assert await asyncio.to_thread(agent.wait, 20) == -signal.SIGKILL


async def test_a_call_that_died_with_its_process_is_told_as_unknown_and_never_run_twice(
    project: Project,
) -> None:
    """Killed while its tool ran: nobody knows what it did, and it is not run again."""
    await die_during_a_call(project)
    bundle = project.bundle(**{**plan(project), "providers": script("What happened?")})
    folder = locate_trail(bundle.mount_plan["audit"], "dying")
    (left,) = unknown_outcomes(read_records(open_log(folder)), "dying")
    assert (left.tool, left.gated, left.session) == ("Bash", True, "dying")
    state = {"version": 1, "session_id": "dying", "messages": []}
    async with project.session(bundle, resume=state) as session:
        assert project.shown("session") == [left.sentence]
        assert "which was approved, is unknown" in left.sentence
        (note,) = session.context.get_messages()
        assert note["content"] == left.sentence
        await session.execute("go on")
    assert (project.folder / "deployed").read_text() == "once\n"
    assert unknown_outcomes(read_records(open_log(folder))) == []


async def test_what_was_told_once_is_not_told_again(project: Project) -> None:
    """The trail says that the outcome is unknown, so the next process has nothing to tell."""
    await die_during_a_call(project)
    bundle = project.bundle(**{**plan(project), "providers": script("a", "b")})
    state = {"version": 1, "session_id": "dying", "messages": []}
    for _ in range(2):
        async with project.session(bundle, resume=state):
            pass
    assert len(project.shown("session")) == 1


async def test_a_session_without_a_trail_has_nothing_to_tell(project: Project) -> None:
    """No trail, no claim; and a trail that is not there yet is not an error."""
    state = {"version": 1, "session_id": "fresh", "messages": []}
    trail = {"enabled": True, "path": str(project.home / "trail")}
    for options in ({"enabled": False}, trail):
        async with project.session(project.bundle(audit=options), resume=state):
            pass
    assert project.shown("session") == []


def record(kind: str, call_id: str, session: str = "s") -> dict[str, Any]:
    return {"type": kind, "session": session, "time": "now", "body": {"tool": "T", "id": call_id}}


def test_calls_are_matched_by_session_and_id() -> None:
    """Only what was started and not finished is unknown; an id may come again."""
    records = [
        record("tool_started", "1"),
        record("tool_finished", "1"),
        record("tool_started", "1"),
        record("tool_started", "2", "other"),
        record("tool_finished", "2"),
        record("dispatch", "3"),
    ]
    assert [(one.session, one.call_id) for one in unknown_outcomes(records)] == [
        ("s", "1"), ("other", "2"),
    ]  # fmt: skip
    assert [one.call_id for one in unknown_outcomes(records, "other")] == ["2"]


def test_the_sentence_of_an_ungated_call_claims_no_approval() -> None:
    """What is said is what is known."""
    assert "approved" not in UnknownOutcome("T", "1").sentence


async def test_a_saved_conversation_with_an_open_call_can_go_on(project: Project) -> None:
    """A call without a result gets one that says so, before anything else is said."""
    made = [{"id": "1", "name": "A", "arguments": {}}, {"id": "2", "name": "B", "arguments": {}}]
    saved = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": made},
        {"role": "tool", "content": "done", "tool_call_id": "1"},
        {"role": "user", "content": "still there?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "3", "name": "C"}]},
    ]
    shaped = add_missing_results(json.loads(json.dumps(saved)))
    assert [(one["role"], one.get("tool_call_id")) for one in shaped] == [
        ("user", None), ("assistant", None), ("tool", "1"), ("tool", "2"), ("user", None),
        ("assistant", None), ("tool", "3"),
    ]  # fmt: skip
    state = {"version": 1, "session_id": os.urandom(4).hex(), "messages": saved}
    async with project.session(resume=state) as session:
        assert len(session.context.get_messages()) == 7


@pytest.mark.parametrize("key", ["name", "tool"])
def test_a_call_is_named_in_the_words_of_its_loop(key: str) -> None:
    """Loops of the ecosystem store the name of a tool under another key."""
    saved = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", key: "Deploy"}]}
    _, result = add_missing_results([saved])
    assert (result["name"], "Deploy" in result["content"]) == ("Deploy", True)


async def test_calls_of_a_dead_process_are_told_to_person_and_agent() -> None:
    """What nobody knows is said, in the conversation and on the screen, and recorded."""
    async with SessionHarness([], tools=[MockTool("Echo")]) as harness:
        start = ToolStarted(tool="Echo", id="9", digest="", gated=True)
        harness.coordinator.trail.write(start)
        left = unknown_outcomes(harness.trail.records)
        await report_unknown_outcomes(harness.session, left)
        assert harness.texts("system") == [left[0].sentence]
        assert harness.screen.messages == [(left[0].sentence, "warning", "session")]
        assert unknown_outcomes(harness.trail.records) == []


GUARD = """
from amplifier_core.interfaces import hook
from amplifier_core.models import HookResult

@hook("tool:pre")
async def guard(event, data):
    return HookResult(action="ask_user", approval_prompt="deploy?", approval_timeout=600)
"""

DYING = """
import asyncio, json, sys
from pathlib import Path
from amplifier_hooks import load_bundle, open_session
from amplifier_core.events import APPROVAL_REQUIRED

folder, home, answer = sys.argv[1:]

class Person:
    async def request_approval(self, prompt, options, timeout, default):
        Path(home, "state.json").write_text(json.dumps(await session.state()))
        Path(home, "asked").write_text("yes")
        await asyncio.sleep(600 if answer == "none" else 0)
        return answer

async def main():
    global session
    bundle = load_bundle(project_dir=folder, env={"HOME": home})
    session = await open_session(bundle, session_id="dying", working_dir=folder,
                                 approval_system=Person())
    await session.execute("deploy")

asyncio.run(main())
"""


def save_bundle(project: Project, *replies: Any) -> None:
    project.write("guard.py", GUARD)
    project.save(
        providers=script(*replies),
        tools=["tool-bash"],
        hooks=["./guard.py"],
        audit={"enabled": True, "path": str(project.home / "trail")},
    )


async def die(project: Project, answer: str, sign: Path) -> dict[str, Any]:
    """Another process asks, and is killed when the sign is there; what it had saved by then."""
    project.home.mkdir(exist_ok=True)
    program = [sys.executable, "-c", DYING, str(project.folder), str(project.home), answer]
    agent = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    await wait_until(lambda: is_written(sign), timeout=50)
    agent.kill()
    assert await asyncio.to_thread(agent.wait, 20) == -signal.SIGKILL
    state: dict[str, Any] = json.loads((project.home / "state.json").read_text())
    return state


@pytest.mark.parametrize("answer", ["Allow once", "Deny"])
async def test_a_call_that_waited_for_a_person_is_asked_about_again_and_runs_once(
    project: Project, answer: str
) -> None:
    """Killed while a person was asked: the next turn begins with that question."""
    effect = project.folder / "deployed"
    save_bundle(project, calls("Bash", command=f"echo once >> '{effect}'"))
    state = await die(project, "none", project.home / "asked")
    project.save(providers=script("It is done."))
    person = ScriptedApproval(answer)
    async with project.session(
        project.bundle(), resume=state, session_id="dying", approval_system=person
    ) as session:
        assert await session.execute(GO_ON) == "It is done."
        roles = [one["role"] for one in await session._read_messages()]
    assert [one.prompt for one in person.questions] == ["deploy?"]
    assert effect.exists() == (answer == "Allow once")
    assert roles == ["user", "assistant", "tool", "user", "assistant"]


async def test_a_call_that_had_been_started_stays_unknown(project: Project) -> None:
    """The same state, killed a moment later: the trail knows that the call was started."""
    effect = project.folder / "deployed"
    save_bundle(project, calls("Bash", command=f"echo once >> '{effect}'; sleep 50"))
    state = await die(project, "Allow once", effect)
    project.save(providers=script("I see."))
    person = ScriptedApproval("Allow once")
    async with project.session(
        project.bundle(), resume=state, session_id="dying", approval_system=person
    ) as session:
        await session.execute(GO_ON)
        messages = await session._read_messages()
    assert person.questions == []
    assert effect.read_text() == "once\n"
    (result,) = [one for one in messages if one["role"] == "tool"]
    assert result["metadata"]["outcome"] == "unknown"


def make_state(arguments: dict[str, Any]) -> dict[str, Any]:
    call = {"id": "1", "name": "Bash", "arguments": arguments}
    return {"messages": [{"role": "assistant", "content": "", "tool_calls": [call]}]}


def find_digest(arguments: dict[str, Any]) -> str:
    from amplifier_core.gatekeeper import digest_operation

    return digest_operation("tool:pre", {"tool_name": "Bash", "tool_input": arguments})


def test_only_what_is_exactly_what_was_shown_stays_open() -> None:
    """A secret was scrubbed from the saved call: running that would be another call."""
    shown = find_digest({"command": "curl -u me:password"})
    same = complete_state(
        make_state({"command": "curl -u me:password"}), {"1": shown}, finishes=True
    )
    assert same["session_state"][OPEN_CALLS] == ["1"]
    assert len(same["messages"]) == 1
    other = complete_state(make_state({"command": "curl -u [hidden]"}), {"1": shown}, finishes=True)
    assert other["session_state"][OPEN_CALLS] == []
    assert other["messages"][1]["content"] == NOT_RUN


def test_a_loop_that_does_not_finish_open_calls_gets_a_result_for_each() -> None:
    """Loops of others would send a conversation that models refuse."""
    arguments = {"command": "ls"}
    state = complete_state(make_state(arguments), {"1": find_digest(arguments)})
    assert state["messages"][1]["content"] == NOT_RUN
    assert state["session_state"][OPEN_CALLS] == []


def test_a_call_of_an_earlier_reply_is_never_run() -> None:
    """The conversation went on after it; whatever it was, it is over."""
    arguments = {"command": "ls"}
    state = make_state(arguments)
    state["messages"].append({"role": "assistant", "content": "Well."})
    done = complete_state(state, {"1": find_digest(arguments)}, finishes=True)
    assert done["session_state"][OPEN_CALLS] == []


def test_a_call_waits_from_its_question_to_its_start() -> None:
    """Records of other sessions, and calls without an id, do not count."""
    records = [
        {"type": "approval_requested", "session": "s", "body": {"id": "a", "digest": "d"}},
        {"type": "approval_requested", "session": "s", "body": {"id": "b", "digest": "e"}},
        {"type": "approval_requested", "session": "other", "body": {"id": "c", "digest": "f"}},
        {"type": "approval_requested", "session": "s", "body": {"digest": "g"}},
        {"type": "tool_started", "session": "s", "body": {"id": "b"}},
        {"type": "tool_started", "session": "other", "body": {"id": "a"}},
    ]
    waiting: dict[str, str] = {}
    assert list(follow_waiting(records, waiting, "s")) == records
    assert waiting == {"a": "d"}


def test_nothing_is_unchanged_without_a_digest() -> None:
    """A trail that does not say what was shown proves nothing."""
    assert not is_unchanged({"name": "Bash", "arguments": {}}, "")
