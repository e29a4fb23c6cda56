"""Cursor's events of tools, as we read them."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.cursor_events import TOOL_EVENTS
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


EXPECTED: dict[str, tuple[str, Data]] = {
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


def test_an_event_of_cursor_is_one_of_ours() -> None:
    """With all that our event has, under our names."""
    for native in sorted(TOOL_EVENTS):
        incoming = read_event(native)
        assert (incoming.event, incoming.data) == EXPECTED[native], native
        assert (incoming.session_id, incoming.native) == ("conv-1", native), native


def test_an_event_happens_where_the_project_is() -> None:
    """Cursor starts hooks in its own folder and leaves `cwd` empty or out."""
    assert read_event("preToolUse").cwd == "/project"
    assert read_event("sessionStart").cwd == "/project"
    assert read_event("beforeShellExecution").cwd == "/project/part"
    assert read_event("preToolUse", workspace_roots=[]).cwd == ""
    assert read_event("preToolUse", workspace_roots=[7]).cwd == ""


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
