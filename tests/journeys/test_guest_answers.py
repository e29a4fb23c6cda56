"""Every recorded event of every agent through the real command, with each of the five actions.

The answers are in `guest_answers.json`, to the byte of each text. After a change that is meant,
write them anew with AMPLIFIER_WRITE_ANSWERS=1 and read what has changed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects import DIALECTS
from tests.hooks.coding_agents.sessions.agents import PAYLOADS, record
from tests.support.guest_world import World, make_world

ANSWERS = Path(__file__).with_name("guest_answers.json")
AGENTS = ("claude", "codex", "gemini", "copilot")
ACTIONS = ("continue", "deny", "modify", "inject_context", "ask_user")
NOT_DECIDED = "Timeout - denied by default: ASKED"
NOT_PUT = re.compile(r'Not approved, (?!nobody can be asked)[^"]*: ASKED')
HOOK = """
from amplifier_core.models import HookResult

def change(event, data):
    if event == "tool:post":
        return {**data, "tool_result": {"success": True, "output": "CHANGED", "error": None}}
    if "tool_input" in data:
        return {**data, "tool_input": {**data["tool_input"], "command": "echo CHANGED"}}
    return {**data, "prompt": "CHANGED"} if "prompt" in data else {**data, "changed": True}

def answer(event, data):
    action = data["session_id"].rsplit(".", 1)[-1]
    if event.startswith(("session:", "approval:", "provider:", "prompt:complete")):
        return HookResult()
    if action == "deny":
        return HookResult(action="deny", reason="DENIED")
    if action == "modify":
        return HookResult(action="modify", data=change(event, data))
    if action == "inject_context":
        return HookResult(action="inject_context", context_injection="INJECTED")
    if action == "ask_user" and event in ("tool:pre", "prompt:submit", "guest:permission_request"):
        # Those without a prompt of their own have somebody asked elsewhere, who is not there.
        seconds = 0.01 if data["session_id"].startswith(("codex", "gemini")) else 60
        return HookResult(action="ask_user", approval_prompt="ASKED", approval_timeout=seconds)
    return HookResult()

async def mount(coordinator, config=None):
    async def judge(event, data):
        return answer(event, data)
    coordinator.hooks.register("*", judge, name="guard")
"""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A machine with a hook that answers by the name of the session."""
    with make_world(tmp_path, monkeypatch, HOOK) as found:
        command = found.project / ".claude/commands/hi.md"  # which the recorded prompt expands
        command.parent.mkdir(parents=True)
        command.write_text("Say hello to $ARGUMENTS.\n")
        yield found


def _tell_all(world: World, agent: str, action: str) -> dict[str, dict[str, Any]]:
    """All events of an agent in one session, the end last."""
    names = [path.stem for path in sorted((PAYLOADS / agent).glob("[!_]*.json"))]
    names.sort(key=lambda name: name.lower() == "sessionend")
    return {f"{agent} {name} {action}": _ask(world, agent, name, action) for name in names}


def _ask(world: World, agent: str, event: str, action: str) -> dict[str, Any]:
    keys, told = DIALECTS[agent].keys, record(agent, event)
    # A sub-agent belongs to the session of its parent, which is this one.
    own = {key: f"s.{action}" for key in (keys.session, keys.parent) if key in told}
    done = world.call(agent, event, **own)
    # A hundredth of a second is over before or after the question was put: a no in either case.
    text = NOT_PUT.sub(NOT_DECIDED, done.stdout.decode())
    answer: dict[str, Any] = {"code": done.returncode, "stderr": done.stderr.decode()}
    kept = {name: one for name, one in answer.items() if one}
    printed = json.loads(text) if text else {}
    if action == "ask_user":  # where to answer, which is another place each time
        printed.pop("systemMessage", None)
    return {**kept, "stdout": printed} if printed else kept


def test_each_action_is_answered_as_the_agent_wants_it(world: World) -> None:
    """The exit code, the object on stdout, and the text on stderr."""
    sessions = [(agent, action) for agent in AGENTS for action in ACTIONS]
    # What an agent cannot be told at one event waits for the next: the order is part of it.
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda one: _tell_all(world, *one), sessions)
    answers = {name: answer for part in found for name, answer in part.items()}
    lines = [
        f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}"
        for name, one in sorted(answers.items())
    ]
    text = ("{\n" + ",\n".join(lines) + "\n}").replace(str(world.project), "/project")
    if os.environ.get("AMPLIFIER_WRITE_ANSWERS"):
        ANSWERS.write_text(f"{text}\n")
    expected = json.loads(ANSWERS.read_text())
    written = json.loads(text)
    assert {name: one for name, one in written.items() if one != expected.get(name)} == {}
    assert written.keys() == expected.keys()
