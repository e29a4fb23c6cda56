"""What Cursor tells at each event, as its documentation and its own program have it."""

from __future__ import annotations

import json
from typing import Any

from amplifier_hooks.coding_agents.dialects.cursor import DIALECT
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.external.incoming import Incoming

COMMON: dict[str, Any] = {
    "conversation_id": "conv-1",
    "generation_id": "gen-1",
    "model": "composer-2",
    "session_id": "conv-1",
    "cursor_version": "2026.09.18-9a7762b",
    "workspace_roots": ["/project"],
    "user_email": "a@example.org",
    "transcript_path": "/home/a/conv-1.jsonl",
}
SHELL = {
    "tool_name": "Shell",
    "tool_input": {"command": "make"},
    "tool_use_id": "call-1\nfc-1",
    "cwd": "",
}
EDITS = [{"old_string": "x", "new_string": "y"}, {"old_string": "a", "new_string": "b"}]

PAYLOADS: dict[str, dict[str, Any]] = {
    "preToolUse": SHELL,
    "postToolUse": {**SHELL, "tool_output": '{"output": "built", "exitCode": 0}', "duration": 70.4},
    "postToolUseFailure": {
        **SHELL,
        "error_message": "Command failed with exit code 2",
        "failure_type": "timeout",
        "duration": 70,
        "is_interrupt": False,
    },
    "beforeShellExecution": {"command": "make", "cwd": "/project/part", "sandbox": False},
    "afterShellExecution": {"command": "make", "output": "built", "duration": 70, "sandbox": True},
    "beforeMCPExecution": {
        "tool_name": "add",
        "tool_input": '{"a": 1}',
        "mcp_server_name": "demo",
        "command": "demo-server",
    },
    "afterMCPExecution": {
        "tool_name": "add",
        "tool_input": '{"a": 1}',
        "mcp_server_name": "demo",
        "result_json": '{"content": [{"type": "text", "text": "2"}]}',
        "duration": 70,
    },
    "beforeReadFile": {"file_path": "/project/a.py", "content": "x = 1", "attachments": []},
    "afterFileEdit": {"file_path": "/project/a.py", "edits": EDITS},
    "beforeTabFileRead": {"file_path": "/project/.env", "content": "KEY=1"},
    "afterTabFileEdit": {"file_path": "/project/a.py", "edits": EDITS[:1]},
    "beforeSubmitPrompt": {"prompt": "Build it", "attachments": []},
    "stop": {"status": "completed", "loop_count": 1},
    "afterAgentResponse": {"text": "Built."},
    "afterAgentThought": {"text": "Hm.", "duration_ms": 5},
    "subagentStart": {
        "subagent_id": "sub-1",
        "subagent_type": "explore",
        "task": "Read it",
        "parent_conversation_id": "conv-1",
        "tool_call_id": "call-7",
    },
    "subagentStop": {
        "subagent_type": "explore",
        "status": "aborted",
        "task": "Read it",
        "summary": "Half of it",
        "duration_ms": 900,
        "loop_count": 0,
    },
    "preCompact": {
        "trigger": "manual",
        "context_usage_percent": 91,
        "context_tokens": 182_340,
        "context_window_size": 200_000,
        "message_count": 146,
    },
    "sessionStart": {"is_background_agent": False, "composer_mode": "agent"},
    "sessionEnd": {"reason": "window_close", "duration_ms": 1200, "final_status": "completed"},
}


def read_event(native: str, **changed: Any) -> Incoming:
    """The event as we read it, with some fields changed."""
    payload = {**COMMON, "hook_event_name": native, **PAYLOADS[native], **changed}
    return read_payload(DIALECT, native, json.dumps(payload))
