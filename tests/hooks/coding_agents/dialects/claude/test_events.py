"""Claude Code's events: what its hooks are told, and what we read from what it told."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.claude import DIALECT, EVENTS
from amplifier_hooks.coding_agents.dialects.claude_events import (
    TOOL_EVENTS,
    build_response,
    drop_common,
)
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call
from tests.hooks.coding_agents.dialects.recordings import (
    list_recordings,
    load_recording,
    make_incoming,
    read_recording,
)


def test_a_sub_agents_event_names_the_sub_agent() -> None:
    """The session's own events have no such field."""
    assert "agent_id" not in DIALECT.build_payload(make_call("PreToolUse", TOOL))
    payload = DIALECT.build_payload(make_call("PreToolUse", TOOL, agent_id="child-7"))
    assert payload["agent_id"] == "child-7"


def test_an_events_own_fields_are_those_that_not_every_event_has() -> None:
    """They are what guests are told of events that only the program has."""
    own = drop_common(load_recording("claude", "TaskCreated"))
    assert own == {"task_id": "1", "task_subject": "t1", "task_description": "d"}


@pytest.mark.parametrize(
    ("tool_input", "result", "expected"),
    [
        ({}, {"success": True, "output": "text"}, {"success": True, "output": "text"}),
        (
            {},
            {"success": True, "output": {"stdout": "a", "stderr": ""}},
            {"success": True, "stdout": "a", "stderr": ""},
        ),
        (
            {"file_path": "a.py"},
            {"success": True, "output": "Created"},
            {"success": True, "filePath": "a.py", "output": "Created"},
        ),
        ({}, {"success": False, "output": None}, {"success": False, "output": None}),
        ({}, "bare", {"success": True, "output": "bare"}),
    ],
)
def test_a_response_is_an_object_in_which_scripts_find_their_fields(
    tool_input: Data, result: Any, expected: Data
) -> None:
    """Whether it worked, the file it was about, and whatever the tool said."""
    data = {**TOOL, "tool_name": "Other", "tool_input": tool_input, "tool_result": result}
    assert build_response(make_call("PostToolUse", data)) == expected


def test_the_result_of_a_shell_stands_where_scripts_look_for_it() -> None:
    """Ours is one text."""
    result = {"success": True, "output": "built", "error": None}
    response = build_response(make_call("PostToolUse", {**TOOL, "tool_result": result}))
    assert (response["stdout"], response["stderr"]) == ("built", "")


@pytest.mark.parametrize("name", ["Agent", "Task"])
def test_a_sub_agents_tool_is_known_by_its_old_name_too(name: str) -> None:
    """Older versions of the program, and older hook files, have that."""
    assert read_recording("claude", "PreToolUse", tool_name=name).data["tool_name"] == "Delegate"
    matched = DIALECT.list_matched(make_call("PreToolUse", {**TOOL, "tool_name": "Delegate"}))
    assert set(matched) == {"Delegate", "Agent", "Task"}


@pytest.mark.parametrize(
    ("tool", "given", "part"),
    [
        (
            "NotebookEdit",
            {"notebook_path": "/p/a.ipynb", "new_source": "x = 1", "cell_id": "c"},
            (
                "Edit",
                {"file_path": "/p/a.ipynb", "old_string": "", "new_string": "x = 1"},
            ),
        ),
        ("Monitor", {"command": "tail -f log"}, ("Bash", {"command": "tail -f log"})),
        ("Bash", {"command": "ls"}, None),
        ("mcp__demo__run", {"command": "ls"}, None),
        ("Other", {"command": ["ls"]}, None),
    ],
)
def test_what_runs_a_shell_or_writes_a_file_is_judged_as_that_too(
    tool: str, given: Data, part: tuple[str, Data] | None
) -> None:
    """A guard that is written for Bash knows nothing of the program's other tools."""
    found = read_recording("claude", "PreToolUse", tool_name=tool, tool_input=given)
    expected = () if part is None else ({"tool_name": part[0], "tool_input": part[1]},)
    assert found.also == expected


def test_what_has_run_is_not_taken_apart_again() -> None:
    """Its parts were judged before."""
    given = {"command": "tail -f log"}
    assert read_recording("claude", "PostToolUse", tool_name="Monitor", tool_input=given).also == ()


def test_an_interrupted_tool_failed_in_another_way() -> None:
    """And its duration may be missing."""
    data = read_recording("claude", "PostToolUseFailure", is_interrupt=True, error=None).data
    assert data["error"] == {"type": "Interrupted", "message": ""}


def test_a_tool_that_was_not_permitted_is_told_to_guests() -> None:
    """It was never recorded; its fields are those of the program's schema."""
    payload = {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "reason": "rule"}
    row = TOOL_EVENTS["PermissionDenied"]
    data = {"tool_name": "Bash", "tool_input": {}, "reason": "rule"}
    assert (row.becomes, row.read_fields(payload)) == ("guest:permission_denied", data)


COMMON = {
    "session_id": "session-1",
    "transcript_path": "/t/1.jsonl",
    "cwd": "/project",
    "permission_mode": "default",
}
BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "call-1"}
RESULT = {**TOOL, "tool_result": {"success": True, "output": "built", "error": None}}
FAILURE = {**TOOL, "tool_result": {"success": False, "output": None, "error": "no rule"}}
RESPONSE = {
    "success": True,
    "output": "built",
    "stdout": "built",
    "stderr": "",
    "interrupted": False,
    "isImage": False,
    "noOutputExpected": False,
}
STOPPED = {"stop_hook_active": False, "background_tasks": [], "session_crons": []}

PAYLOADS: list[tuple[str, Data, Data]] = [
    ("PreToolUse", TOOL, BASH),
    (
        "PostToolUse",
        RESULT,
        {**BASH, "tool_response": RESPONSE, "duration_ms": 7},
    ),
    (
        "PostToolUseFailure",
        FAILURE,
        {**BASH, "error": "no rule", "is_interrupt": False, "duration_ms": 7},
    ),
    (
        "PermissionRequest",
        TOOL,
        {"tool_name": "Bash", "tool_input": {"command": "make"}},
    ),
    ("PermissionDenied", {**TOOL, "how": "timeout"}, {**BASH, "reason": "timeout"}),
    ("UserPromptSubmit", {"prompt": "Build it"}, {"prompt": "Build it"}),
    ("SessionStart", {"source": "resume"}, {"source": "resume"}),
    ("SessionStart", {}, {"source": "startup"}),
    ("SessionEnd", {"reason": "user_exit"}, {"reason": "prompt_input_exit"}),
    ("SessionEnd", {"reason": "complete"}, {"reason": "other"}),
    (
        "Stop",
        {"final_message": {"content": "Built."}},
        {**STOPPED, "last_assistant_message": "Built."},
    ),
    ("StopFailure", {"error": {"message": "overloaded"}}, {"error": "overloaded"}),
    (
        "SubagentStart",
        {"agent_name": "critic", "child_session_id": "child-7"},
        {"agent_id": "child-7", "agent_type": "critic"},
    ),
    (
        "SubagentStop",
        {"agent_name": "critic", "result": {"output": "Looks good"}},
        {
            **STOPPED,
            "last_assistant_message": "Looks good",
            "agent_id": "critic",
            "agent_type": "critic",
            "agent_transcript_path": "",
        },
    ),
    ("PreCompact", {"trigger": "auto"}, {"trigger": "auto", "custom_instructions": ""}),
    ("PostCompact", {"trigger": "manual"}, {"trigger": "manual", "compact_summary": ""}),
    (
        "Notification",
        {"notification_type": "approval_required", "message": "May I?"},
        {"notification_type": "permission_prompt", "message": "May I?"},
    ),
    (
        "Notification",
        {"notification_type": "awaiting_input", "message": "Next?"},
        {"notification_type": "idle_prompt", "message": "Next?"},
    ),
    (
        "Notification",
        {"notification_type": "alert", "message": "Look"},
        {"notification_type": "alert", "message": "Look"},
    ),
]

OURS = {native for native, row in EVENTS.items() if row.occasions}
OPTIONAL = {"prompt_id", "model", "permission_suggestions"}
"""What Claude tells only sometimes, or what nobody could know here."""


@pytest.mark.parametrize(("native", "data", "fields"), PAYLOADS)
def test_a_hook_is_told_the_fields_of_its_event(native: str, data: Data, fields: Data) -> None:
    """And those that every event has."""
    call = make_call(native, data, transcript="/t/1.jsonl")
    assert DIALECT.build_payload(call) == {**COMMON, "hook_event_name": native, **fields}


RECORDED_AS = {
    "PreToolUse": TOOL,
    "PostToolUse": RESULT,
    "PostToolUse.Read": {**RESULT, "tool_name": "Read", "tool_input": {"file_path": "/p/a"}},
    "PostToolUse.Write": {
        **RESULT,
        "tool_name": "Write",
        "tool_input": {"file_path": "/p/a", "content": "x"},
    },
    "PostToolUse.Edit": {
        **RESULT,
        "tool_name": "Edit",
        "tool_input": {
            "file_path": "/p/a",
            "old_string": "a",
            "new_string": "b",
            "replace_all": False,
        },
    },
    "PostToolUseFailure": FAILURE,
    "PermissionRequest": TOOL,
    "UserPromptSubmit": {"prompt": "x"},
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "complete"},
    "Stop": {},
    "SubagentStart": {"agent_name": "critic"},
    "SubagentStop": {"agent_name": "critic"},
    "PreCompact": {"trigger": "manual"},
    "PostCompact": {"trigger": "manual"},
}


def test_a_hook_finds_every_field_that_the_program_gives() -> None:
    """Also inside the result of a tool that both have."""
    for name in sorted(RECORDED_AS):
        recorded = load_recording("claude", name)
        built = DIALECT.build_payload(make_call(name.split(".")[0], RECORDED_AS[name]))
        assert recorded.keys() - OPTIONAL <= built.keys(), name
        response, ours = recorded.get("tool_response", {}), built.get("tool_response", {})
        assert response.keys() <= ours.keys(), name
        for key, value in response.items():
            assert not isinstance(value, dict) or value.keys() <= ours[key].keys(), name


@pytest.mark.parametrize(
    ("native", "data", "expected"),
    [
        ("PreToolUse", {"tool_name": "Todo"}, {"Todo", "TodoWrite"}),
        ("PermissionRequest", {"tool_name": "Bash"}, {"Bash"}),
        ("PermissionRequest", {}, set()),
        ("SessionStart", {"source": "resume"}, {"resume"}),
        ("SessionEnd", {"reason": "user_exit"}, {"prompt_input_exit"}),
        ("Notification", {"notification_type": "awaiting_input"}, {"idle_prompt"}),
        ("PreCompact", {"trigger": "auto"}, {"auto"}),
        ("PostCompact", {"trigger": "auto"}, {"auto"}),
        ("SubagentStart", {"agent_name": "critic"}, {"critic"}),
        ("SubagentStop", {"agent_name": "critic"}, {"critic"}),
        ("UserPromptSubmit", {"prompt": "x"}, set()),
        ("Stop", {}, set()),
        ("StopFailure", {}, set()),
    ],
)
def test_a_matcher_is_compared_with_the_value_that_tells_occurrences_apart(
    native: str, data: Data, expected: set[str]
) -> None:
    """In the words of Claude, as its files are written in them."""
    assert set(DIALECT.list_matched(make_call(native, data))) == expected


# Read from the real program

STATS = {"total_messages": 0, "tool_invocations": 0, "total_tokens": 0, "hook_failures": 0}
BASH_INPUT = {"command": "echo hello-$((40+2)) > out.txt; cat out.txt", "description": "run"}
AGENT_INPUT = {
    "description": "sub",
    "task": "SUBTASK do",
    "agent_name": "general-purpose",
    "run_in_background": False,
}
SEARCH_INPUT = {"query": "select:TaskCreate,TaskUpdate", "max_results": 5}


def pre(tool: str, given: Data, call: str) -> Data:
    """The data of tool:pre."""
    return {"tool_name": tool, "tool_input": given, "tool_call_id": call}


def stopped(said: str) -> Data:
    """The data of orchestrator:complete."""
    counts = {"turn_count": 0, "request_count": 0, "duration_ms": 0}
    message = {"role": "assistant", "content": said}
    return {"orchestrator": "claude", "final_message": message, **counts, "status": "success"}


def sub_agent_stopped(session: str, agent: str, said: str) -> Data:
    """The data of agent:complete."""
    return {
        "parent_session_id": session,
        "agent_name": agent,
        "task": "",
        "result": {"output": said},
        "duration_ms": 0,
        "status": "success",
    }


SUB = "45e2548e-c6f9-4490-a277-ac4bc0530802"
COMPACTED = "66c3a809-5de0-48bc-b382-43127d1d96ea"
TASK = {"task_id": "1", "task_subject": "t1", "task_description": "d"}

READ: dict[str, tuple[str, Data]] = {
    "PreToolUse": ("tool:pre", pre("Bash", BASH_INPUT, "toolu_1_1")),
    "PreToolUse.Agent": ("tool:pre", pre("Delegate", AGENT_INPUT, "toolu_1_1")),
    "PreToolUse.Read": ("tool:pre", pre("Read", {"file_path": "/project/n.txt"}, "toolu_2_1")),
    "PreToolUse.TaskCreate": (
        "tool:pre",
        pre("TaskCreate", {"subject": "t1", "description": "d"}, "toolu_2_1"),
    ),
    "PreToolUse.ToolSearch": ("tool:pre", pre("ToolSearch", SEARCH_INPUT, "toolu_1_1")),
    "PreToolUse.Write": (
        "tool:pre",
        pre("Write", {"file_path": "/project/n.txt", "content": "one\ntwo\n"}, "toolu_1_1"),
    ),
    "PostToolUseFailure": (
        "tool:error",
        {
            **pre("Bash", {"command": "echo bad >&2; exit 3", "description": "run"}, "toolu_1_1"),
            "error": {"type": "ToolError", "message": "Exit code 3\nbad"},
        },
    ),
    "PermissionRequest": (
        "guest:permission_request",
        pre("Bash", {"command": "echo ORIG > out.txt; cat out.txt", "description": "run"}, ""),
    ),
    "UserPromptSubmit": ("prompt:submit", {"prompt": "please do it", "metadata": {}}),
    "UserPromptExpansion": (
        "guest:user_prompt_expansion",
        {
            "expansion_type": "slash_command",
            "command_name": "hi",
            "command_args": "bob",
            "command_source": "projectSettings",
            "prompt": "/hi bob",
        },
    ),
    "SessionStart": (
        "session:start",
        {"mount_plan": {}, "source": "startup", "metadata": {"source": "startup"}},
    ),
    "SessionStart.compact": (
        "session:start",
        {
            "mount_plan": {},
            "source": "compact",
            "metadata": {"source": "compact", "model": "claude-sonnet-4-5"},
        },
    ),
    "SessionStart.resume": (
        "session:start",
        {
            "mount_plan": {},
            "source": "resume",
            "metadata": {
                "source": "resume",
                "seconds_since_last_response": 3,
                "context_tokens": 21315,
                "prompt_cache_likely_expired": False,
                "estimated_cache_write_usd": 0.0799,
            },
        },
    ),
    "SessionEnd": ("session:end", {"reason": "complete", "duration_ms": 0, "stats": STATS}),
    "Setup": ("guest:setup", {"trigger": "init"}),
    "Stop": ("orchestrator:complete", stopped("Done.")),
    "Stop.active": ("orchestrator:complete", stopped("two")),
    "SubagentStart": (
        "agent:spawn",
        {
            "parent_session_id": SUB,
            "agent_name": "general-purpose",
            "task": "",
            "config_override": {},
        },
    ),
    "SubagentStop": ("agent:complete", sub_agent_stopped(SUB, "general-purpose", "Done.")),
    "SubagentStop.compaction": (
        "agent:complete",
        sub_agent_stopped(COMPACTED, "", "<summary>S</summary>"),
    ),
    "PreCompact": (
        "context:pre_compact",
        {"trigger": "manual", "current_tokens": 0, "target_tokens": 0, "messages_count": 0},
    ),
    "PostCompact": (
        "context:post_compact",
        {
            "trigger": "manual",
            "tokens_before": 0,
            "tokens_after": 0,
            "messages_before": 0,
            "messages_after": 0,
        },
    ),
    "CwdChanged": ("guest:cwd_changed", {"old_cwd": "/project", "new_cwd": "/project/sub"}),
    "InstructionsLoaded": (
        "guest:instructions_loaded",
        {
            "file_path": "/project/CLAUDE.md",
            "memory_type": "Project",
            "load_reason": "session_start",
        },
    ),
    "MessageDisplay": (
        "guest:message_display",
        {
            "turn_id": "8c0767d9-96ab-447e-ad00-c1f60b0a41f9",
            "message_id": "831ecc6d-be2b-4e1a-85da-158e0b768721",
            "index": 0,
            "final": True,
            "delta": "I run it.",
        },
    ),
    "TaskCompleted": ("guest:task_completed", TASK),
    "TaskCreated": ("guest:task_created", TASK),
}


def test_what_the_program_told_is_an_event_of_ours() -> None:
    """With exactly this data, of that session, in that folder."""
    for name in sorted(READ):
        recorded = load_recording("claude", name)
        found = read_recording("claude", name)
        assert (found.event, found.data) == READ[name], name
        assert (found.session_id, found.cwd) == (recorded["session_id"], recorded["cwd"]), name
        assert found.transcript == recorded["transcript_path"], name
        assert (found.call_id, found.agent_id) == (
            recorded.get("tool_use_id", ""),
            recorded.get("agent_id", ""),
        ), name
        assert (found.also, found.payload) == ((), recorded), name


def test_a_result_stays_as_the_tool_gave_it() -> None:
    """An object, so that a part of it can be changed."""
    for name in sorted(
        name for name in list_recordings("claude") if name.startswith("PostToolUse.")
    ):
        recorded = load_recording("claude", name)
        found = read_recording("claude", name)
        assert found.event == "tool:post", name
        assert found.data["tool_result"] == {
            "success": True,
            "output": recorded["tool_response"],
            "error": None,
        }, name
        assert (found.data["success"], found.data["duration_ms"]) == (
            True,
            recorded["duration_ms"],
        ), name


def test_every_recording_is_read_in_a_test() -> None:
    """A new one needs a new line here."""
    others = {"PostToolBatch", "PostToolBatch.parallel", "PostToolUse"}
    results = {name for name in list_recordings("claude") if name.startswith("PostToolUse.")}
    assert set(READ) | others | results == set(list_recordings("claude"))
    for name in ("PostToolBatch", "PostToolBatch.parallel"):
        calls = load_recording("claude", name)["tool_calls"]
        assert read_recording("claude", name).data == {"tool_calls": calls}


@pytest.mark.parametrize(
    ("native", "changed", "key", "expected"),
    [
        ("SessionStart", {"source": "clear"}, "source", "startup"),
        ("SessionStart", {"source": "fork"}, "source", "resume"),
        ("SessionStart", {"source": 5}, "source", "startup"),
        ("SessionEnd", {"reason": "prompt_input_exit"}, "reason", "user_exit"),
        ("SessionEnd", {"reason": "logout"}, "reason", "user_exit"),
        ("SessionEnd", {"reason": "clear"}, "reason", "complete"),
        ("PreCompact", {"trigger": "auto"}, "trigger", "auto"),
        ("PreCompact", {"trigger": None}, "trigger", "auto"),
    ],
)
def test_words_that_only_they_have_become_the_nearest_of_ours(
    native: str, changed: Data, key: str, expected: str
) -> None:
    """Our events have a fixed set of values."""
    assert read_recording("claude", native, **changed).data[key] == expected


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("permission_prompt", "approval_required"),
        ("idle_prompt", "awaiting_input"),
        ("auth_success", "alert"),
    ],
)
def test_a_notice_is_read_in_our_words_and_keeps_theirs(theirs: str, ours: str) -> None:
    """It was never recorded; its fields are those of the program's schema."""
    payload = {"session_id": "s", "message": "Look", "title": "T", "notification_type": theirs}
    data = EVENTS["Notification"].read_fields(payload)
    metadata = {"title": "T", "notification_type": theirs}
    assert data == {"notification_type": ours, "message": "Look", "metadata": metadata}


def test_a_failed_turn_is_an_error_of_the_loop() -> None:
    """It was never recorded either."""
    failure = {"error": "rate_limit", "error_details": "429 slow down"}
    data = EVENTS["StopFailure"].read_fields(failure)
    assert data == {"error": {"type": "rate_limit", "message": "429 slow down"}}
    data = EVENTS["StopFailure"].read_fields({})
    assert data == {"error": {"type": "StopFailure", "message": ""}}


def test_an_event_that_a_hook_would_have_to_carry_out_is_no_event_of_ours() -> None:
    """Whoever listens to WorktreeCreate makes the folder, or there is none."""
    assert "WorktreeCreate" not in EVENTS
    assert len(EVENTS) == 32


def test_every_event_of_the_program_is_one_of_ours_or_told_to_guests() -> None:
    """Nothing is dropped."""
    for native in sorted(EVENTS):
        event = make_incoming("claude", native).event
        assert event in events.ALL_EVENTS or event.startswith("guest:"), native
