"""Cursor's events, as we read them."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.cursor_events import SESSION_EVENTS, TOOL_EVENTS
from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import Data
from tests.hooks.coding_agents.dialects.cursor.cursor_payloads import EDITS, read_event

CALL_ID = "call-1\nfc-1"
BASH: Data = {"tool_name": "Bash", "tool_input": {"command": "make"}}
ADD: Data = {"tool_name": "mcp__demo__add", "tool_input": {"a": 1}, "tool_call_id": ""}
FILE: Data = {"file_path": "/project/a.py"}


def hold_result(output: Any, duration: int = 70) -> Data:
    """What a tool returned, as our events have it."""
    result = {"success": True, "output": output, "error": None}
    return {"tool_result": result, "success": True, "duration_ms": duration}


OF_TOOLS: dict[str, tuple[str, Data]] = {
    "preToolUse": ("tool:pre", {**BASH, "tool_call_id": CALL_ID}),
    "postToolUse": (
        "tool:post",
        {**BASH, "tool_call_id": CALL_ID, **hold_result({"output": "built", "exitCode": 0})},
    ),
    "postToolUseFailure": (
        "tool:error",
        {
            **BASH,
            "tool_call_id": CALL_ID,
            "error": {"type": "timeout", "message": "Command failed with exit code 2"},
        },
    ),
    "beforeShellExecution": ("tool:pre", {**BASH, "tool_call_id": ""}),
    "afterShellExecution": ("tool:post", {**BASH, "tool_call_id": "", **hold_result("built")}),
    "beforeMCPExecution": ("tool:pre", ADD),
    "afterMCPExecution": (
        "tool:post",
        {**ADD, **hold_result({"content": [{"type": "text", "text": "2"}]})},
    ),
    "beforeReadFile": (
        "tool:pre",
        {"tool_name": "Read", "tool_input": FILE, "tool_call_id": ""},
    ),
    "afterFileEdit": (
        "tool:post",
        {
            "tool_name": "MultiEdit",
            "tool_input": {**FILE, "edits": EDITS},
            "tool_call_id": "",
            **hold_result("", 0),
        },
    ),
    "beforeTabFileRead": (
        "tool:pre",
        {
            "tool_name": "Read",
            "tool_input": {"file_path": "/project/.env"},
            "tool_call_id": "",
        },
    ),
    "afterTabFileEdit": (
        "tool:post",
        {
            "tool_name": "Edit",
            "tool_input": {**FILE, **EDITS[0]},
            "tool_call_id": "",
            **hold_result("", 0),
        },
    ),
}


AGENT: Data = {"parent_session_id": "conv-1", "agent_name": "explore", "task": "Read it"}
OF_SESSIONS: dict[str, tuple[str, Data]] = {
    "beforeSubmitPrompt": ("prompt:submit", {"prompt": "Build it", "metadata": {}}),
    "stop": (
        "orchestrator:complete",
        {
            "orchestrator": "cursor",
            "final_message": {},
            "turn_count": 0,
            "request_count": 0,
            "duration_ms": 0,
            "status": "success",
        },
    ),
    "afterAgentResponse": ("prompt:complete", {"prompt": "", "response": "Built."}),
    "afterAgentThought": ("thinking:final", {"block_index": 0, "thinking": "Hm."}),
    "subagentStart": ("agent:spawn", {**AGENT, "config_override": {}}),
    "subagentStop": (
        "agent:complete",
        {
            **AGENT,
            "result": {"output": "Half of it"},
            "duration_ms": 900,
            "status": "interrupted",
        },
    ),
    "preCompact": (
        "context:pre_compact",
        {
            "trigger": "manual",
            "current_tokens": 182_340,
            "target_tokens": 0,
            "messages_count": 146,
        },
    ),
    "sessionStart": ("session:start", {"mount_plan": {}, "source": "startup"}),
    "sessionEnd": ("session:end", {"reason": "user_exit", "duration_ms": 1200, "stats": {}}),
}


def test_an_event_of_cursor_is_one_of_ours() -> None:
    """With all that our event has, under our names."""
    assert (set(OF_TOOLS), set(OF_SESSIONS)) == (set(TOOL_EVENTS), set(SESSION_EVENTS))
    for native, expected in {**OF_TOOLS, **OF_SESSIONS}.items():
        incoming = read_event(native)
        assert (incoming.event, incoming.data) == expected, native
        assert (incoming.session_id, incoming.native) == ("conv-1", native), native


@pytest.mark.parametrize(
    ("native", "changed"),
    [
        ("preToolUse", {"tool_name": None}),
        ("preToolUse", {"tool_input": ["make"]}),
        ("preToolUse", {"tool_input": "make"}),
        ("postToolUse", {"tool_input": None}),
        ("beforeShellExecution", {"command": ["make"]}),
        ("beforeMCPExecution", {"tool_input": "{" * 3000}),
        ("beforeMCPExecution", {"tool_name": 1}),
        ("beforeReadFile", {"file_path": None}),
        ("beforeTabFileRead", {"file_path": {}}),
        ("afterFileEdit", {"edits": None}),
        ("preToolUse", {"conversation_id": ""}),
        ("beforeSubmitPrompt", {"prompt": None}),
        ("beforeSubmitPrompt", {"prompt": 7}),
        ("beforeSubmitPrompt", {"prompt": ["Build"]}),
    ],
)
def test_what_cannot_be_judged_is_unreadable(native: str, changed: Data) -> None:
    """At a gate that is a denial."""
    with pytest.raises(UnreadablePayload, match=f"cursor {native}"):
        read_event(native, **changed)


def test_a_result_that_is_no_json_is_a_text() -> None:
    """Whatever else it is stays as it came."""
    for told in ("plain", "{half", '["list"]', None, 7):
        read = read_event("postToolUse", tool_output=told)
        assert read.data["tool_result"]["output"] == told


def test_each_call_is_told_once_unless_every_event_is_wanted() -> None:
    """The special events repeat what the general ones tell, or happen while the person types."""
    quiet = {name for name, row in TOOL_EVENTS.items() if not row.noisy}
    assert quiet == {"preToolUse", "postToolUse", "postToolUseFailure"}


FILES = [{"type": "file", "filePath": "/project/a"}]


@pytest.mark.parametrize(
    ("native", "said", "key", "read"),
    [
        # A session ends for one of our reasons; one that we do not know is none of trouble.
        *(
            ("sessionEnd", {"reason": said}, "reason", reason)
            for said, reason in (
                ("completed", "complete"),
                ("aborted", "user_exit"),
                ("error", "error"),
                ("user_close", "user_exit"),
                ("something new", "complete"),
                (None, "complete"),
            )
        ),
        # A turn ends in one of our ways; what is not known to be a success is an error.
        ("stop", {"status": "error"}, "status", "error"),
        ("stop", {"status": "odd"}, "status", "error"),
        ("stop", {"status": 7}, "status", "error"),
        ("stop", {"status": "aborted"}, "status", "interrupted"),
        ("beforeSubmitPrompt", {"attachments": FILES}, "metadata", {"attachments": FILES}),
        # Cursor starts hooks in its own folder and leaves `cwd` empty or out.
        ("preToolUse", {}, "cwd", "/project"),
        ("sessionStart", {}, "cwd", "/project"),
        ("beforeShellExecution", {}, "cwd", "/project/part"),
        ("preToolUse", {"workspace_roots": []}, "cwd", ""),
        ("preToolUse", {"workspace_roots": [7]}, "cwd", ""),
        # A sub-agent is known by its id, where Cursor tells it.
        ("subagentStart", {}, "agent_id", "sub-1"),
        ("preToolUse", {}, "agent_id", ""),
    ],
)
def test_each_field_is_read_as_ours(native: str, said: Data, key: str, read: Any) -> None:
    """In our words, and with what we do not know as the safer one."""
    incoming = read_event(native, **said)
    found = incoming.data[key] if key in incoming.data else getattr(incoming, key)
    assert found == read
