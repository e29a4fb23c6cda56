"""OpenCode's events, as our plugin tells them and as we read them."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.opencode import DIALECT, EVENTS
from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call
from tests.hooks.coding_agents.dialects.opencode.opencode_payloads import (
    SESSION,
    build_payload,
    get_native,
    read_event,
    read_recording,
)
from tests.hooks.coding_agents.dialects.recordings import list_recordings

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
EDIT = {"filePath": "a", "oldString": "x", "newString": "y", "replaceAll": True}


@pytest.mark.parametrize(
    ("name", "given", "ours", "seen"),
    [
        ("read", {"filePath": "a", "limit": 3}, "Read", {"file_path": "a", "limit": 3}),
        (
            "edit",
            EDIT,
            "Edit",
            {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True},
        ),
        ("grep", {"pattern": "x", "include": "*.py"}, "Grep", {"pattern": "x", "glob": "*.py"}),
        ("glob", {"pattern": "*"}, "Glob", {"pattern": "*"}),
        ("demo_add", {"a": 1}, "demo_add", {"a": 1}),
    ],
)
def test_a_guard_sees_the_tool_that_it_knows(name: str, given: Data, ours: str, seen: Data) -> None:
    """And its fields."""
    incoming = read_event("tool.execute.before", tool_name=name, tool_input=given)
    assert (incoming.data["tool_name"], incoming.data["tool_input"]) == (ours, seen)
    assert incoming.also == ()


def test_a_command_is_judged_where_it_runs() -> None:
    """As well as it stands."""
    given = {"command": "make", "workdir": "/else where"}
    incoming = read_event("tool.execute.before", tool_input=given)
    assert incoming.data["tool_input"] == given
    [part] = incoming.also
    assert part == {"tool_name": "Bash", "tool_input": {"command": "cd '/else where' && make"}}


def test_each_file_of_a_patch_is_judged() -> None:
    """The patch itself can be judged, too."""
    given = {"patchText": PATCH}
    incoming = read_event("tool.execute.before", tool_name="apply_patch", tool_input=given)
    assert incoming.data["tool_name"] == "apply_patch"
    [part] = incoming.also
    assert part["tool_name"] == "Edit"
    assert part["tool_input"]["file_path"] == "/project/a.py"


@pytest.mark.parametrize("given", [{}, {"patchText": 7}, {"patchText": PATCH[:30]}])
def test_a_patch_that_cannot_be_read_is_not_let_through(given: Data) -> None:
    """Nobody knows which files it changes."""
    with pytest.raises(UnreadablePayload):
        read_event("tool.execute.before", tool_name="apply_patch", tool_input=given)


def test_every_event_says_where_it_belongs() -> None:
    """Session, folder and event."""
    for native in sorted(EVENTS):
        payload = DIALECT.build_payload(make_call(native, TOOL))
        assert payload["session_id"] == "session-1", native
        assert payload["cwd"] == "/project", native
        assert payload["hook_event_name"] == native, native


BASH: Data = {"command": "echo ORIG > out.txt; cat out.txt", "description": "run"}
TASK: Data = {"description": "part", "task": "inner", "agent_name": "general"}
DONE = (
    '<task id="ses_e1de0e0d8ffeBLZimCrM2OszDm" state="completed">\n'
    "<task_result>\ndone\n</task_result>\n</task>"
)
IDLE: Data = {
    "orchestrator": "opencode",
    "final_message": {},
    "turn_count": 0,
    "request_count": 0,
    "duration_ms": 0,
    "status": "success",
}
START: Data = {"mount_plan": {}, "source": "startup"}


def hold_result(output: str) -> Data:
    """What a tool returned, as our events have it."""
    result = {"success": True, "output": output, "error": None}
    return {"tool_result": result, "success": True, "duration_ms": 0}


def hold_call(tool: str, given: Data, call_id: str) -> Data:
    """A tool call, as our events have it."""
    return {"tool_name": tool, "tool_input": given, "tool_call_id": call_id}


RECORDED: dict[str, tuple[str, Data]] = {
    "chat.message": ("prompt:submit", {"prompt": '"please do it"', "metadata": {}}),
    "session.created": ("session:start", START),
    "session.created.sub": ("session:start", START),
    "session.idle": ("orchestrator:complete", IDLE),
    "tool.execute.after": (
        "tool:post",
        {**hold_call("Bash", BASH, "call_2_1"), **hold_result("ORIG\n")},
    ),
    "tool.execute.after.task": (
        "tool:post",
        {**hold_call("Delegate", TASK, "call_4_1"), **hold_result(DONE)},
    ),
    "tool.execute.before": ("tool:pre", hold_call("Bash", BASH, "call_2_1")),
    "tool.execute.before.task": ("tool:pre", hold_call("Delegate", TASK, "call_4_1")),
    "tool.execute.before.write": (
        "tool:pre",
        hold_call("Write", {"file_path": "/project/w.txt", "content": "x"}, "call_3_1"),
    ),
}


def test_a_recorded_event_is_one_of_ours() -> None:
    """A field that the model made up does not hide the file that will be written."""
    for recording in list_recordings("opencode"):
        incoming = read_recording(recording)
        assert (incoming.event, incoming.data) == RECORDED[recording], recording
        assert incoming.cwd == "/project", recording


@pytest.mark.parametrize("recording", ["tool.execute.before", "tool.execute.after"])
def test_we_would_tell_the_same(recording: str) -> None:
    """The same fields, in the other direction."""
    payload = DIALECT.build_payload(make_call(get_native(recording), TOOL))
    assert set(payload) == set(build_payload(recording))


OTHERS: dict[str, tuple[str, Data]] = {
    "command.execute.before": (
        "guest:command_execute_before",
        {"command": "review", "arguments": "all of it"},
    ),
    "experimental.session.compacting": (
        "context:pre_compact",
        {"trigger": "auto", "current_tokens": 0, "target_tokens": 0, "messages_count": 0},
    ),
    "session.compacted": (
        "context:post_compact",
        {
            "trigger": "auto",
            "tokens_before": 0,
            "tokens_after": 0,
            "messages_before": 0,
            "messages_after": 0,
        },
    ),
    "session.error": (
        "error:orchestration",
        {"error": {"type": "error", "message": "overloaded"}},
    ),
    "session.deleted": ("session:end", {"reason": "user_exit", "duration_ms": 0, "stats": {}}),
    "dispose": ("session:end", {"reason": "user_exit", "duration_ms": 0, "stats": {}}),
}


def test_what_was_not_recorded_is_read_as_well() -> None:
    """From the form that the plugin gives it."""
    for native in sorted(OTHERS):
        incoming = read_event(native)
        assert (incoming.event, incoming.data) == OTHERS[native], native


@pytest.mark.parametrize("native", ["permission.asked", "permission.replied"])
def test_what_has_no_counterpart_is_told_as_it_came(native: str) -> None:
    """Without the fields that every event has."""
    incoming = read_event(native, permission="bash", sessionID=SESSION)
    assert incoming.event == f"guest:{native.replace('.', '_')}"
    assert incoming.data["permission"] == "bash"
    assert not {"session_id", "sessionID", "cwd", "hook_event_name"} & set(incoming.data)


@pytest.mark.parametrize(
    ("native", "changed"),
    [
        ("tool.execute.before", {"tool_name": ""}),
        ("tool.execute.before", {"tool_name": None}),
        ("tool.execute.before", {"tool_input": "ls"}),
        ("tool.execute.after", {"tool_input": None}),
        ("chat.message", {"prompt": ["x"]}),
        ("command.execute.before", {"command": 7}),
        ("session.idle", {"session_id": ""}),
    ],
)
def test_what_cannot_be_judged_is_unreadable(native: str, changed: dict[str, Any]) -> None:
    """At a gate that is a denial."""
    with pytest.raises(UnreadablePayload, match=f"opencode {native}"):
        read_event(native, **changed)


def test_a_subagent_works_in_the_session_that_started_it() -> None:
    """The plugin tells which one that is."""
    incoming = read_event("tool.execute.before", agent_id="ses_child")
    assert (incoming.session_id, incoming.agent_id) == (SESSION, "ses_child")
