"""Copilot CLI's events in PascalCase: what hooks are told, and what we read."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.dialects.copilot import (
    CLAUDE_FORM,
    DIALECT,
    read_snake,
    write_snake,
)
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call
from tests.hooks.coding_agents.dialects.recordings import (
    list_recordings,
    load_recording,
    read_recording,
)

TIME = "2026-03-04T05:06:07+00:00"
PAIRS = {
    "PreToolUse": "preToolUse",
    "PermissionRequest": "permissionRequest",
    "PostToolUse": "postToolUse",
    "PostToolUseFailure": "postToolUseFailure",
    "PreMcpToolCall": "preMcpToolCall",
    "UserPromptSubmit": "userPromptSubmitted",
    "UserPromptTransformed": "userPromptTransformed",
    "Stop": "agentStop",
    "SubagentStart": "subagentStart",
    "SubagentStop": "subagentStop",
    "SessionStart": "sessionStart",
    "SessionEnd": "sessionEnd",
    "PreCompact": "preCompact",
    "Notification": "notification",
    "ErrorOccurred": "errorOccurred",
}


def test_every_event_has_both_spellings_and_the_same_powers() -> None:
    """One table says what an answer can do."""
    assert set(PAIRS) == set(CLAUDE_FORM.events)
    assert set(PAIRS.values()) == set(DIALECT.events)
    for pascal, camel in PAIRS.items():
        one, other = CLAUDE_FORM.events[pascal], DIALECT.events[camel]
        assert (one.powers, one.gate, one.refusal) == (other.powers, other.gate, other.refusal)
        assert (one.occasions, one.noisy) == (other.occasions, other.noisy)


def test_a_file_may_use_either_spelling() -> None:
    """Each event gets the form that belongs to its spelling."""
    assert DIALECT.find_form("preToolUse") is DIALECT
    assert DIALECT.find_form("PreToolUse") is CLAUDE_FORM
    assert DIALECT.find_form("PostToolBatch") is None


@pytest.mark.parametrize(
    ("native", "data", "fields"),
    [
        ("PreToolUse", TOOL, {"tool_name": "Bash", "tool_input": {"command": "make"}}),
        (
            "PostToolUse",
            {**TOOL, "tool_result": {"success": True, "output": "built"}},
            {
                "tool_name": "Bash",
                "tool_input": {"command": "make"},
                "tool_result": {"result_type": "success", "text_result_for_llm": "built"},
            },
        ),
        ("UserPromptSubmit", {"prompt": "Build it"}, {"prompt": "Build it"}),
        ("SessionStart", {"source": "startup"}, {"source": "new", "initial_prompt": ""}),
        (
            "Stop",
            {},
            {"transcript_path": "/t", "stop_reason": "end_turn", "stop_hook_active": False},
        ),
    ],
)
def test_a_hook_is_told_snake_case(native: str, data: Data, fields: Data) -> None:
    """And the time as a text."""
    call = make_call(native, {**data, "timestamp": TIME}, transcript="/t")
    assert CLAUDE_FORM.build_payload(call) == {
        "hook_event_name": native,
        "session_id": "session-1",
        "timestamp": "2026-03-04T05:06:07.000Z",
        "cwd": "/project",
        **fields,
    }


@pytest.mark.parametrize("native", ["PermissionRequest", "SubagentStart"])
def test_two_events_stay_in_camel_case(native: str) -> None:
    """As the program has it."""
    told = CLAUDE_FORM.build_payload(make_call(native, TOOL))
    assert told == DIALECT.build_payload(make_call(PAIRS[native], TOOL))
    assert told["sessionId"] == "session-1"


def test_what_a_tool_was_given_keeps_its_spelling() -> None:
    """Its fields are its own."""
    told = {"toolArgs": {"viewRange": [1]}, "toolResult": {"resultType": "success"}}
    spelled = write_snake(told)
    assert spelled == {
        "tool_input": {"viewRange": [1]},
        "tool_result": {"result_type": "success"},
    }
    read = read_snake(spelled)
    assert read["toolArgs"] == told["toolArgs"]
    assert read["toolResult"]["resultType"] == "success"


def test_what_the_real_program_tells_is_read_as_in_the_other_spelling() -> None:
    """The same event of ours, with the same fields, and where it belongs."""
    for name in list_recordings("copilot-claude"):
        recorded, incoming = (
            load_recording("copilot-claude", name),
            read_recording("copilot-claude", name),
        )
        native = name.split(".")[0]
        other = read_recording("copilot", PAIRS[native])
        assert incoming.event == other.event, name
        assert incoming.data.keys() == other.data.keys(), name
        assert incoming.session_id == recorded.get("session_id", recorded.get("sessionId")), name
        assert incoming.cwd == "/project", name
        path = recorded.get("transcript_path", recorded.get("transcriptPath", ""))
        assert incoming.transcript == path, name
        assert incoming.agent_id == recorded.get("agent_id", ""), name
        assert incoming.parent_id == recorded.get("parent_agent_id", ""), name


def test_the_values_are_those_that_were_told() -> None:
    """One of each kind."""
    data = {name: read_recording("copilot-claude", name).data for name in PAIRS if name in DATA}
    assert data == DATA


BASH: Data = {
    "tool_name": "Bash",
    "tool_input": {"command": "echo ORIG > out.txt; cat out.txt", "description": "run"},
    "tool_call_id": "",
}
OUTPUT = "ORIG\n<shellId: 0 completed with exit code 0>"
DATA: dict[str, Data] = {
    "PreToolUse": BASH,
    "PostToolUse": {
        **BASH,
        "tool_result": {"success": True, "output": OUTPUT, "error": None},
        "success": True,
        "duration_ms": 0,
    },
    "PostToolUseFailure": {
        "tool_name": "Write",
        "tool_input": {"file_path": "P/a.txt", "content": "one\n"},
        "tool_call_id": "",
        "error": {"type": "Error", "message": "Parent directory does not exist"},
    },
    "PermissionRequest": {
        "tool_name": "Bash",
        "tool_input": {"command": "echo ORIG > out.txt; cat out.txt"},
        "tool_call_id": "",
    },
    "UserPromptSubmit": {"prompt": "please do it", "metadata": {}},
    "SubagentStop": {
        "parent_session_id": load_recording("copilot-claude", "SubagentStop")["session_id"],
        "agent_name": "task",
        "task": "",
        "result": {"output": "done"},
        "duration_ms": 0,
        "status": "success",
    },
}
