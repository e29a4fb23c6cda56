"""Programs that run what was installed for another one: judged as they are, and once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.daemon.protocol import Request, Response
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge, recognize
from tests.hooks.coding_agents.sessions.agents import PAYLOADS, PLAIN, make_project

DOCUMENTED = json.loads((Path(__file__).parent / "documented" / "vscode.json").read_text())
MARKS = frozenset({"COPILOT_CLI"})
CALL = ("dispatch", "tool:pre")
LINES = {"claude": "PreToolUse", "copilot": "preToolUse"}
RULES = """\
  - module: hooks-rules
    config:
      rules:
        - {name: secrets, tool: [Write, Edit], path: "**/.env", action: deny, reason: no-secrets}
        - {name: history, tool: Bash, command: git push --force, action: deny, reason: no-force}
        - {name: calm, event: "prompt:submit", regex: secret, action: deny, reason: no-prompt}
"""


@pytest.fixture
async def judge(home: Path) -> AsyncIterator[AgentJudge]:
    """A judge over an empty home."""
    found = AgentJudge()
    yield found
    await found.close()


@pytest.fixture
def project(home: Path, tmp_path: Path) -> Path:
    """With rules about commands and files."""
    return make_project(tmp_path / "project", PLAIN + RULES)


def tell(project: Path, spelling: str, **fields: Any) -> bytes:
    """What VS Code says, in the folder of the project."""
    told = {**DOCUMENTED["spellings"][spelling], **fields}
    return json.dumps(told).replace("/project", str(project)).encode()


def read_decision(response: Response) -> str:
    """What VS Code would make of it."""
    if response.code == 2:
        return "deny"
    printed = json.loads(response.stdout or b"{}")
    decision: str = printed.get("hookSpecificOutput", {}).get("permissionDecision", "")
    return decision


WAYS = list(product(LINES, DOCUMENTED["spellings"]))
CASES = [
    (kind, case, decision)
    for kind, decision in (("denied", "deny"), ("allowed", ""))
    for case in DOCUMENTED[kind]
]


@pytest.mark.parametrize(("kind", "case", "decision"), CASES)
async def test_vscode_is_denied_what_the_rules_forbid_and_nothing_else(
    judge: AgentJudge, project: Path, kind: str, case: str, decision: str
) -> None:
    """In Claude's form of an answer, by either line and in either spelling."""
    for number, (line, spelling) in enumerate(WAYS):
        told = {**DOCUMENTED[kind][case], "tool_use_id": f"tool-{number}"}
        payload = tell(project, spelling, **told)
        response = await judge.answer(Request(line, LINES[line], payload, 60.0))
        assert read_decision(response) == decision, (line, spelling, response)
        assert decision or (response.code, response.stdout) == (0, b""), (line, spelling)


async def test_a_prompt_of_vscode_is_refused_by_the_exit_code(
    judge: AgentJudge, project: Path
) -> None:
    """At this event it takes no other answer."""
    payload = tell(project, "documented", hookEventName="UserPromptSubmit", prompt="a secret")
    for line, event in (("claude", "UserPromptSubmit"), ("copilot", "userPromptSubmitted")):
        response = await judge.answer(Request(line, event, payload, 60.0))
        assert response.code == 2
        assert b"no-prompt" in response.stderr


async def test_what_vscode_says_otherwise_is_denied_with_its_name(
    judge: AgentJudge, project: Path
) -> None:
    """And with what a person can do about it."""
    payload = tell(project, "documented", tool_name="create_file", tool_input=["x"])
    response = await judge.answer(Request("claude", "PreToolUse", payload, 60.0))
    assert response.code == 2
    assert b"vscode" in response.stderr
    assert b"chat.hookFilesLocations" in response.stderr


async def test_a_result_of_vscode_ends_the_call(judge: AgentJudge, project: Path) -> None:
    """Its results are texts."""
    call = {**DOCUMENTED["allowed"]["a command"], "tool_use_id": "tool-1"}
    for event, more in (("PreToolUse", {}), ("PostToolUse", {"tool_response": "clean"})):
        payload = tell(project, "documented", hookEventName=event, **call, **more)
        assert (await judge.answer(Request("claude", event, payload, 60.0))).code == 0
    await judge.close()
    records = read_trail("vscode-session-identifier")
    assert [one["type"] for one in records].count("tool_finished") == 1


def read_trail(session: str) -> list[dict[str, Any]]:
    """The records of a session."""
    return list(read_records(open_log(locate_trail({}, session))))


def list_judged(records: list[dict[str, Any]], event: str) -> list[str]:
    """The verdicts about an event, in order."""
    found = [one for one in records if one["type"] == "dispatch" and one["event"] == event]
    return [one["body"]["action"] for one in found]


async def test_an_event_by_two_lines_is_judged_once(judge: AgentJudge, project: Path) -> None:
    """VS Code and Copilot run both lines; the second gets the answer of the first."""
    denied = tell(project, "documented", tool_use_id="1", **DOCUMENTED["denied"]["a command"])
    answers = [await judge.answer(Request(line, LINES[line], denied, 60.0)) for line in LINES]
    assert [read_decision(one) for one in answers] == ["deny", "deny"]
    again = await judge.answer(Request("claude", "PreToolUse", denied, 60.0))
    assert read_decision(again) == "deny"
    await judge.close()
    records = read_trail("vscode-session-identifier")
    assert list_judged(records, "tool:pre") == ["deny", "deny"]  # twice, and not three times


async def test_copilot_by_two_lines_is_judged_and_ended_once(
    judge: AgentJudge, project: Path
) -> None:
    """Each in its own form, though one says `toolArgs` and the other `tool_input`."""
    own = {"sessionId": "s", "cwd": str(project), "timestamp": 1}
    other = {"session_id": "s", "cwd": str(project), "timestamp": "2026-01-01T00:00:00Z"}
    given = {"command": "git push --force", "description": "Push"}
    first = {**own, "toolName": "bash", "toolArgs": given}
    second = {**other, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": given}
    told = [("preToolUse", first, "PreToolUse", second)]
    told += [("sessionEnd", {**own, "reason": "complete"}, "SessionEnd", {**other, "reason": "x"})]
    for camel, one, pascal, two in told:
        request = Request("copilot", camel, json.dumps(one).encode(), 60.0)
        left = await judge.answer(request)
        repeated = Request("claude", pascal, json.dumps(two).encode(), 60.0, marks=MARKS)
        right = await judge.answer(repeated)
        assert left == right
    records = read_trail("copilot-s")
    assert list_judged(records, "tool:pre") == ["deny"]
    types = [one["type"] for one in records]
    assert (types.count("session_started"), types.count("session_ended")) == (1, 1)


async def test_cursor_is_recognised_behind_claudes_settings(
    judge: AgentJudge, project: Path
) -> None:
    """Made from its documentation; denied by the exit code, which blocks in any case."""
    common = {"conversation_id": "c", "generation_id": "g", "cursor_version": "2.0"}
    call = {"tool_name": "Shell", "tool_input": {"command": "git push --force"}}
    told = {**common, "workspace_roots": [str(project)], "cwd": str(project), **call}
    payload = json.dumps({**told, "hook_event_name": "preToolUse"}).encode()
    response = await judge.answer(Request("claude", "PreToolUse", payload, 60.0))
    assert response.code == 2
    assert b"no-force" in response.stderr
    own = await judge.answer(Request("cursor", "preToolUse", payload, 60.0))
    assert json.loads(own.stdout)["permission"] == "deny"
    await judge.close()
    assert list_judged(read_trail("cursor-c"), "tool:pre") == ["deny"]


def test_copilot_is_recognised_behind_claudes_settings() -> None:
    """It calls what was installed for Claude, and reads another form of answers."""
    for path in sorted((PAYLOADS / "copilot" / "pascal_case").glob("*.json")):
        marked = Request("claude", path.name.split(".")[0], path.read_bytes(), 60.0, marks=MARKS)
        told = recognize(marked)
        assert told.dialect.name == "copilot"
        assert told.dialect.events is DIALECTS["copilot-claude"].events
        assert recognize(replace(marked, marks=frozenset())).dialect.name != "copilot"


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "copilot", "opencode"])
def test_no_agent_is_taken_for_another(agent: str) -> None:
    """Also with the mark of Copilot, which a program that Copilot starts inherits."""
    for path in sorted((PAYLOADS / agent).glob("[!_]*.json")):
        for marks in (frozenset[str](), MARKS):
            asked = Request(agent, path.stem.split(".")[0], path.read_bytes(), 60.0, marks=marks)
            assert recognize(asked).dialect is DIALECTS[agent], path


@pytest.mark.parametrize("rubbish", [b"", b"[]", b"{", b"\xff"])
def test_rubbish_is_of_the_agent_whose_line_it_came_by(rubbish: bytes) -> None:
    """Which then says what is wrong with it."""
    asked = Request("claude", "PreToolUse", rubbish, 60.0, marks=MARKS)
    assert recognize(asked).dialect is DIALECTS["claude"]


async def test_relatives_of_gemini_are_shown_once(judge: AgentJudge, project: Path) -> None:
    """Qwen Code speaks as Claude does, but has Gemini's tools; made from its documentation."""
    call = {"tool_name": "run_shell_command", "tool_input": {"command": "git push --force"}}
    told = {"session_id": "q", "cwd": str(project), "timestamp": "2026-01-01T00:00:00Z", **call}
    payload = json.dumps({**told, "hook_event_name": "PreToolUse", "tool_use_id": "1"}).encode()
    response = await judge.answer(Request("claude", "PreToolUse", payload, 60.0))
    assert read_decision(response) == "deny"
    await judge.close()
    records = read_trail("claude-q")
    assert list_judged(records, "tool:pre") == ["deny"]
    (judged,) = [one for one in records if (one["type"], one.get("event")) == CALL]
    assert judged["body"]["data"]["tool_name"] == "Bash"
