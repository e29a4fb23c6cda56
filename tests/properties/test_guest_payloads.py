"""Whatever an agent sends at a gate: what a guard denies never runs."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.daemon.protocol import Request, Response
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler, Reply
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge
from tests.hooks.coding_agents.sessions.agents import PAYLOADS, PLAIN, make_project

HOOK = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def refuse(event, data):
        return HookResult(action="deny", reason="No. \\x00\\x1b[31m \\ud800 \\u2028 \\"}")
    for event in ("tool:pre", "prompt:submit", "guest:permission_request"):
        coordinator.hooks.register(event, refuse, name=event)
"""
GATES = {
    "claude": ("PreToolUse", "PermissionRequest", "UserPromptSubmit"),
    "codex": ("PreToolUse", "PermissionRequest", "UserPromptSubmit"),
    "gemini": ("BeforeTool", "BeforeAgent"),
    "copilot": ("preToolUse", "permissionRequest", "userPromptSubmitted"),
    "opencode": ("tool.execute.before", "chat.message"),
}
CASES = [
    (agent, event, path)
    for agent, names in GATES.items()
    for event in names
    for path in sorted((PAYLOADS / agent).glob(f"{event}*.json"))
]
KEYS = ["session_id", "sessionId", "tool_name", "toolName", "tool_input", "toolArgs", "toolInput"]
KEYS += ["command", "input", "file_path", "path", "agent_id", "agentId", "parentAgentId", "x"]
KEYS += ["mcp_context", "tool_result", "tool_response", "error", "hook_event_name", "prompt"]
VALUES = st.one_of(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    st.sampled_from(["\ud800", "\0", "../../x", "/", "~", "x" * 5000, 10**400]),
    st.recursive(st.none(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)),
)
CHANGES = st.lists(
    st.tuples(st.booleans(), st.sampled_from(KEYS), st.booleans(), VALUES), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A person's home, and a project whose hook refuses everything."""
    with pytest.MonkeyPatch.context() as patch:
        root = tmp_path_factory.mktemp("guests")
        (root / "home").mkdir()
        patch.setenv("HOME", str(root / "home"))
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "AMPLIFIER_STORE"):
            patch.delenv(name, raising=False)
        folder = root / "project"
        folder.mkdir()
        (folder / "guard.py").write_text(HOOK)
        yield make_project(folder, f"{PLAIN}  - {{module: guard, source: ./guard.py}}\n")


@pytest.fixture(scope="module")
def ask(project: Path) -> Iterator[Any]:
    """Ask one judge, as the resident process does for all agents."""
    with asyncio.Runner() as runner:
        judge = AgentJudge()
        yield lambda request: runner.run(judge.answer(request))
        runner.run(judge.close())


def _change(payload: dict[str, Any], changes: list[tuple[bool, str, bool, Any]]) -> dict[str, Any]:
    """The payload with fields added, replaced and removed, in itself or in a part of it."""
    changed = copy.deepcopy(payload)
    for inner, key, removed, value in changes:
        parts = [part for part in changed.values() if isinstance(part, dict)]
        target = parts[0] if inner and parts else changed
        if removed:
            target.pop(key, None)
        else:
            target[key] = value
    return changed


def _is_refused(agent: str, event: str, response: Response) -> bool:
    """As the agent itself would read it."""
    reply = Reply(response.code, response.stdout.decode(), response.stderr.decode())
    handler = Handler(dialect=agent, native=event, where="test")
    call = Call("tool:pre", event, {"tool_name": "Bash", "tool_input": {}}, "s", "/")
    if response.code == 2:
        return bool(response.stderr.strip())
    return DIALECTS[agent].read_reply(handler, call, reply).decision == "deny"


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.sampled_from(CASES), CHANGES, st.sampled_from([b"", b"", b"", b"\xff", b"{}", b"\0"]))
def test_what_is_refused_stays_refused_whatever_the_payload_holds(
    project: Path,
    ask: Any,
    case: tuple[str, str, Path],
    changes: list[tuple[bool, str, bool, Any]],
    tail: bytes,
) -> None:
    """An answer that the agent obeys, or exit code 2 with a sentence."""
    agent, event, path = case
    payload = {**json.loads(path.read_text()), "cwd": str(project)}
    text = json.dumps(_change(payload, changes)).encode() + tail
    response = ask(Request(agent, event, text, 60.0, cwd=str(project)))
    assert _is_refused(agent, event, response), (response, text)


def test_copilots_own_payload_is_not_taken_for_one_of_vs_code(project: Path, ask: Any) -> None:
    """It would be answered as VS Code is, which Copilot CLI does not obey."""
    path = PAYLOADS / "copilot" / "preToolUse.create.json"
    payload = {**json.loads(path.read_text()), "cwd": str(project), "session_id": "0"}
    request = Request("copilot", "preToolUse", json.dumps(payload).encode(), 60.0, cwd=str(project))
    assert _is_refused("copilot", "preToolUse", ask(request))
