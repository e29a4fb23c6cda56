"""An agent's own file shows that it ran tools of which it told nobody."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.daemon.protocol import Request
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge
from amplifier_hooks.coding_agents.sessions.transcripts import list_calls, measure
from tests.hooks.coding_agents.sessions.agents import make_project, record

# As the programs write them; measured with the versions that `make agents` runs.
RAN: dict[str, dict[str, Any]] = {
    "claude": {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "is_error": False, "content": "hi"}]},
        "toolUseResult": {"stdout": "hi"},
    },
    "codex": {
        "type": "event_msg",
        "payload": {"type": "item_completed", "item": {"type": "CommandExecution"}},
    },
    "gemini": {"toolCalls": [{"name": "run_shell_command", "status": "success"}]},
    "copilot": {"type": "tool.execution_complete", "data": {"success": True}},
}
NOT_RUN: list[tuple[str, dict[str, Any]]] = [
    ("claude", {**RAN["claude"], "toolUseResult": "Error: denied"}),
    ("gemini", {"toolCalls": [{"name": "write_file", "status": "error"}]}),
    ("gemini", {"toolCalls": [{"name": "complete_task", "status": "success"}]}),
    ("copilot", {"type": "tool.execution_complete", "data": {"success": False}}),
    ("codex", {"type": "event_msg", "payload": {"type": "item_completed", "item": {}}}),
]
PROMPTS = {
    "claude": "UserPromptSubmit",
    "codex": "UserPromptSubmit",
    "gemini": "BeforeAgent",
    "copilot": "userPromptSubmitted",
}


@pytest.fixture
async def judge(home: Path) -> AsyncIterator[AgentJudge]:
    """A judge over an empty home."""
    found = AgentJudge()
    yield found
    await found.close()


def write(path: Path, *lines: dict[str, Any]) -> str:
    """A file as agents keep it."""
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return str(path)


@pytest.mark.parametrize("agent", RAN)
def test_a_result_is_found(tmp_path: Path, agent: str) -> None:
    """Behind the place from which we have seen the session."""
    path = write(tmp_path / "t.jsonl", RAN[agent])
    assert len(list_calls(agent, path)) == 1
    assert list_calls(agent, path, measure(path)) == []


@pytest.mark.parametrize(("agent", "line"), NOT_RUN)
def test_what_did_not_run_is_no_call(tmp_path: Path, agent: str, line: dict[str, Any]) -> None:
    """Nor is what an agent never tells of, in any mode."""
    assert list_calls(agent, write(tmp_path / "t.jsonl", line)) == []


@pytest.mark.parametrize("text", [b"", b"{", b"[1]\n5\n", b'{"payload": 5, "type": "event_msg"}'])
@pytest.mark.parametrize("agent", RAN)
def test_rubbish_is_no_call(tmp_path: Path, agent: str, text: bytes) -> None:
    """The agent's file is only evidence, and nothing depends on it being readable."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(text)
    assert list_calls(agent, str(path)) == []
    assert list_calls(agent, str(tmp_path)) == []
    assert list_calls(agent, "relative") == []


@pytest.mark.parametrize("agent", PROMPTS)
async def test_a_session_that_tells_of_no_call_is_said_to_be_unguarded(
    judge: AgentJudge, home: Path, tmp_path: Path, agent: str
) -> None:
    """At the next prompt: to the person, in the status and in the trail."""
    project = make_project(tmp_path / "project")
    path = tmp_path / "t.jsonl"
    write(path)
    await ask(judge, agent, PROMPTS[agent], project, path)
    assert judge.list_alarms() == []
    write(path, RAN[agent])
    answer = await ask(judge, agent, PROMPTS[agent], project, path)
    (alarm,) = judge.list_alarms()
    assert "NOT GUARDED" in alarm
    assert agent == "copilot" or "NOT GUARDED" in answer


@pytest.mark.parametrize("agent", ["claude", "codex"])
async def test_a_session_whose_calls_come_is_guarded(
    judge: AgentJudge, home: Path, tmp_path: Path, agent: str
) -> None:
    """Whatever its file says."""
    project = make_project(tmp_path / "project")
    path = tmp_path / "t.jsonl"
    write(path)
    await ask(judge, agent, "PreToolUse", project, path)
    write(path, RAN[agent])
    await ask(judge, agent, "UserPromptSubmit", project, path)
    assert judge.list_alarms() == []


async def ask(judge: AgentJudge, agent: str, event: str, folder: Path, transcript: Path) -> str:
    """What the agent is answered."""
    found: dict[str, Any] = record(agent, event, cwd=str(folder))
    camel = "sessionId" in found
    found["sessionId" if camel else "session_id"] = "one"
    found["transcriptPath" if camel else "transcript_path"] = str(transcript)
    response = await judge.answer(Request(agent, event, json.dumps(found).encode(), 60.0))
    return response.stdout.decode()
