"""Codex CLI's events: what its hooks are told, and what we read from what it told."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.codex import DIALECT, EVENTS
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call
from tests.hooks.coding_agents.dialects.recordings import (
    list_recordings,
    load_recording,
    read_recording,
)

ANY = sorted(EVENTS)
RESULT = {**TOOL, "tool_result": {"success": True, "output": "built", "error": None}}
RECORDED_AS: dict[str, Data] = {
    "PreToolUse": TOOL,
    "PermissionRequest": TOOL,
    "PostToolUse": RESULT,
    "UserPromptSubmit": {"prompt": "x"},
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "complete"},
    "SubagentStart": {"agent_name": "critic"},
    "SubagentStop": {"agent_name": "critic"},
    "Stop": {},
    "Interrupt": {"immediate": True},
    "PreCompact": {"trigger": "auto"},
    "PostCompact": {"trigger": "auto"},
    "PreModelRequest": {"model": "m"},
    "PostModelRequest": {"usage": {"input_tokens": 5}},
}


def test_a_hook_finds_every_field_that_the_program_gives() -> None:
    """There may be more of them."""
    for native in ANY:
        payload = DIALECT.build_payload(make_call(native, RECORDED_AS[native]))
        recorded = load_recording("codex", native)
        assert recorded.keys() <= payload.keys(), native
        assert payload["hook_event_name"] == native, native
        assert payload["session_id"] == "session-1", native


@pytest.mark.parametrize(
    ("data", "turn", "model"),
    [
        ({"turn_id": "t-3", "model": "m-1"}, "t-3", "m-1"),
        ({"tool_call_id": "call-1"}, "call-1", ""),
        ({}, "", ""),
    ],
)
def test_the_turn_and_the_model_are_texts_in_any_case(data: Data, turn: str, model: str) -> None:
    """A tool call stands for the turn where nothing better is known."""
    payload = DIALECT.build_payload(make_call("Stop", data))
    assert (payload["turn_id"], payload["model"]) == (turn, model)


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        ("Bash", {"success": True, "output": "built"}, "built"),
        ("Bash", {"success": True, "output": {"stdout": "a"}}, '{"stdout": "a"}'),
        ("Bash", {"success": False, "output": None, "error": "no rule"}, "no rule"),
        ("mcp__demo__add", {"success": True, "output": {"sum": 3}}, {"sum": 3}),
    ],
)
def test_a_result_is_a_text_but_that_of_another_program(
    tool: str, result: Data, expected: Any
) -> None:
    """Tools of MCP servers give objects."""
    call = make_call("PostToolUse", {**TOOL, "tool_name": tool, "tool_result": result})
    assert DIALECT.build_payload(call)["tool_response"] == expected


@pytest.mark.parametrize("success", [True, False])
def test_a_tool_that_failed_is_told_as_any_other(success: bool) -> None:
    """Codex has no event for failures."""
    row = EVENTS["PostToolUse"]
    assert row.happens_at("tool:post", {"success": success})
    assert row.happens_at("tool:error", {"error": {}})


@pytest.mark.parametrize("native", ["PostToolUseFailure", "Notification", "StopFailure"])
def test_some_of_claudes_events_do_not_exist(native: str) -> None:
    """A file that names one gets a notice."""
    assert DIALECT.find_form(native) is None


def test_what_a_request_cost_is_told_in_their_words() -> None:
    """And read in ours."""
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 3, "total_tokens": 7}
    told = DIALECT.build_payload(make_call("PostModelRequest", {"usage": usage}))
    assert told["token_usage"] == {
        "input_tokens": 5,
        "cached_input_tokens": 3,
        "cache_write_input_tokens": 0,
        "output_tokens": 2,
        "reasoning_output_tokens": 0,
        "total_tokens": 7,
    }
    found = EVENTS["PostModelRequest"].read_fields(told)["usage"]
    assert found == {**usage, "cache_write_tokens": 0, "reasoning_tokens": 0}


# Read from the real program

STATS = {"total_messages": 0, "tool_invocations": 0, "total_tokens": 0, "hook_failures": 0}
COMMAND = {"command": "echo ORIG > out.txt; cat out.txt"}
PATCH = {"command": "*** Begin Patch\n*** Add File: out.txt\n+PATCHED\n*** End Patch\n"}
SUB = "01a1e206-79e6-7e71-81af-3e1d4d5bd7a7"
CHILD = "01a1e206-7afe-7042-96e3-0fd6fd451623"
WAIT = {"targets": [CHILD], "timeout_ms": 10000}
SPAWN = {"task": "SUBTASK do it", "agent_name": "sub"}


def pre(tool: str, given: Data, call: str) -> Data:
    """The data of tool:pre."""
    return {"tool_name": tool, "tool_input": given, "tool_call_id": call}


def post(tool: str, given: Data, call: str, output: Any) -> Data:
    """The data of tool:post."""
    result = {"success": True, "output": output, "error": None}
    outcome = {"tool_result": result, "success": True, "duration_ms": 0}
    return {**pre(tool, given, call), **outcome}


def stopped(said: str) -> Data:
    """The data of orchestrator:complete."""
    counts = {"turn_count": 0, "request_count": 0, "duration_ms": 0}
    message = {"role": "assistant", "content": said}
    return {"orchestrator": "codex", "final_message": message, **counts, "status": "success"}


READ: dict[str, tuple[str, Data]] = {
    "PreToolUse": ("tool:pre", pre("Bash", COMMAND, "call_1_1")),
    "PreToolUse.apply_patch": ("tool:pre", pre("apply_patch", PATCH, "call_1")),
    "PreToolUse.multi_agent_v1wait_agent": (
        "tool:pre",
        pre("multi_agent_v1wait_agent", WAIT, "call_2"),
    ),
    "PreToolUse.spawn_agent": ("tool:pre", pre("Delegate", SPAWN, "call_1")),
    "PreToolUse.view_image": ("tool:pre", pre("view_image", {"path": "/opt/tool"}, "call_1_1")),
    "PostToolUse": ("tool:post", post("Bash", COMMAND, "call_1_1", "ORIG\n")),
    "PostToolUse.apply_patch": (
        "tool:post",
        post(
            "apply_patch",
            PATCH,
            "call_1",
            "Exit code: 0\nWall time: 0 seconds\nOutput:\n"
            "Success. Updated the following files:\nA out.txt\n",
        ),
    ),
    "PostToolUse.multi_agent_v1wait_agent": (
        "tool:post",
        post(
            "multi_agent_v1wait_agent",
            WAIT,
            "call_2",
            f'{{"status":{{"{CHILD}":{{"completed":"sub done"}}}},"timed_out":false}}',
        ),
    ),
    "PostToolUse.spawn_agent": (
        "tool:post",
        post("Delegate", SPAWN, "call_1", f'{{"agent_id":"{CHILD}","nickname":"Harvey"}}'),
    ),
    "PermissionRequest": (
        "guest:permission_request",
        pre("Bash", {"command": "echo ORIG > out.txt", "description": "need"}, ""),
    ),
    "UserPromptSubmit": ("prompt:submit", {"prompt": "please do it", "metadata": {}}),
    "SessionStart": (
        "session:start",
        {
            "mount_plan": {},
            "source": "startup",
            "metadata": {"source": "startup", "model": "gpt-5"},
        },
    ),
    "SessionStart.compact": (
        "session:start",
        {
            "mount_plan": {},
            "source": "compact",
            "metadata": {"source": "compact", "model": "gpt-5"},
        },
    ),
    "SessionEnd": ("session:end", {"reason": "complete", "duration_ms": 0, "stats": STATS}),
    "SubagentStart": (
        "agent:spawn",
        {"parent_session_id": SUB, "agent_name": "default", "task": "", "config_override": {}},
    ),
    "SubagentStop": (
        "agent:complete",
        {
            "parent_session_id": SUB,
            "agent_name": "default",
            "task": "",
            "result": {"output": "sub done"},
            "duration_ms": 0,
            "status": "success",
        },
    ),
    "Stop": ("orchestrator:complete", stopped("Done.")),
    "Stop.active": ("orchestrator:complete", stopped("n1")),
    "Interrupt": ("cancel:requested", {"immediate": True}),
    "PreCompact": (
        "context:pre_compact",
        {"trigger": "auto", "current_tokens": 0, "target_tokens": 0, "messages_count": 0},
    ),
    "PostCompact": (
        "context:post_compact",
        {
            "trigger": "auto",
            "tokens_before": 0,
            "tokens_after": 0,
            "messages_before": 0,
            "messages_after": 0,
        },
    ),
    "PreModelRequest": (
        "provider:request",
        {"provider": "", "model": "gpt-5", "messages": [], "tools": [], "iteration": 0},
    ),
    "PostModelRequest": (
        "provider:response",
        {
            "provider": "",
            "model": "gpt-5",
            "response": {"status": "completed", "error": None},
            "usage": {
                "input_tokens": 9950,
                "cache_read_tokens": 0,
                "cache_write_tokens": 0,
                "output_tokens": 13,
                "reasoning_tokens": 0,
                "total_tokens": 9963,
            },
            "duration_ms": 0,
        },
    ),
}


def test_what_the_program_told_is_an_event_of_ours() -> None:
    """With exactly this data, of that session, in that folder."""
    for name in list_recordings("codex"):
        recorded = load_recording("codex", name)
        found = read_recording("codex", name)
        assert (found.event, found.data) == READ[name], name
        assert (found.session_id, found.cwd) == (recorded["session_id"], "/project"), name
        assert found.transcript == recorded["transcript_path"], name
        assert (found.call_id, found.agent_id) == (
            recorded.get("tool_use_id", ""),
            recorded.get("agent_id", ""),
        ), name
        assert found.payload == recorded, name
