"""A call waited for a person, and the process died: it is asked about again, and runs once."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.agent.session.resuming.open_calls import NOT_RUN, follow_waiting, is_unchanged
from amplifier_hooks.agent.session.resuming.unknown_outcomes import complete_state
from amplifier_hooks.modules.open_calls import GO_ON, OPEN_CALLS
from tests.support.processes import is_written
from tests.support.project import Project, script
from tests.support.sessions import calls
from tests.support.waiting import wait_until

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
    from amplifier_core.approval.passage import digest_operation

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
