"""Gemini CLI's events: what its hooks are told, and what we read in what it tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.gemini import DIALECT, EVENTS
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call
from tests.hooks.coding_agents.dialects.recordings import (
    list_recordings,
    load_recording,
    read_recording,
)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Bash", "run_shell_command"),
        ("Read", "read_file"),
        ("Write", "write_file"),
        ("Edit", "replace"),
        ("Glob", "glob"),
        ("Grep", "grep_search"),
        ("LS", "list_directory"),
        ("Todo", "write_todos"),
        ("Delegate", "invoke_agent"),
        ("WebFetch", "web_fetch"),
        ("WebSearch", "google_web_search"),
        ("Mine", "Mine"),
    ],
)
def test_tools_have_the_names_that_scripts_look_for(ours: str, theirs: str) -> None:
    """Matchers may be written with ours as well."""
    call = make_call("BeforeTool", {**TOOL, "tool_name": ours})
    assert DIALECT.build_payload(call)["tool_name"] == theirs
    assert {ours, theirs} <= set(DIALECT.list_matched(call))
    assert read_recording("gemini", "BeforeTool", tool_name=theirs).data["tool_name"] == ours


def test_an_older_name_is_known() -> None:
    """In matchers as in payloads."""
    old = read_recording("gemini", "BeforeTool", tool_name="search_file_content")
    assert old.data["tool_name"] == "Grep"
    call = make_call("BeforeTool", {**TOOL, "tool_name": "Grep"})
    assert DIALECT.matches("search_file_content", DIALECT.list_matched(call))


@pytest.mark.parametrize(
    ("tool", "ours", "theirs"),
    [
        ("Read", {"file_path": "a", "offset": 3}, {"file_path": "a", "start_line": 3}),
        ("Edit", {"replace_all": True}, {"allow_multiple": True}),
        ("Glob", {"pattern": "*", "path": "a"}, {"pattern": "*", "dir_path": "a"}),
        ("Grep", {"path": "a", "glob": "*.py"}, {"dir_path": "a", "include_pattern": "*.py"}),
        ("LS", {"path": "a"}, {"dir_path": "a"}),
        ("Delegate", {"agent_name": "a", "task": "t"}, {"agent_name": "a", "prompt": "t"}),
        ("Bash", {"command": "ls"}, {"command": "ls"}),
    ],
)
def test_fields_have_the_names_that_scripts_look_for(tool: str, ours: Data, theirs: Data) -> None:
    """In both directions."""
    call = make_call("BeforeTool", {**TOOL, "tool_name": tool, "tool_input": ours})
    assert DIALECT.build_payload(call)["tool_input"] == theirs
    name = DIALECT.translate_tool(tool)
    incoming = read_recording("gemini", "BeforeTool", tool_name=name, tool_input=theirs)
    assert incoming.data["tool_input"] == ours


def test_a_field_cannot_hide_behind_another() -> None:
    """The tool uses its own, whatever else stands there."""
    given = {"dir_path": "/etc", "path": "docs"}
    incoming = read_recording("gemini", "BeforeTool", tool_name="glob", tool_input=given)
    assert incoming.data["tool_input"] == {"path": "/etc"}


@pytest.mark.parametrize(
    ("context", "name"),
    [
        ({"server_name": "demo", "tool_name": "add"}, "mcp__demo__add"),
        ({"server_name": "demo"}, "mcp_demo_add"),
        ("demo", "mcp_demo_add"),
    ],
)
def test_a_tool_of_a_server_has_the_name_that_guards_are_written_for(
    context: object, name: str
) -> None:
    """If Gemini tells which server it is."""
    changed = {"tool_name": "mcp_demo_add", "mcp_context": context}
    assert read_recording("gemini", "BeforeTool", **changed).data["tool_name"] == name


def test_a_command_is_also_judged_where_it_runs() -> None:
    """A relative path in it begins there."""
    given = {"command": "rm x", "dir_path": "my prod"}
    incoming = read_recording("gemini", "BeforeTool", tool_input=given)
    assert incoming.data["tool_input"] == given
    command = "cd 'my prod' && rm x"
    assert incoming.also == ({"tool_name": "Bash", "tool_input": {"command": command}},)


def test_files_that_are_read_at_once_are_judged_one_by_one() -> None:
    """As if each were read alone."""
    given = {"include": ["a.txt", 7, "b/*"]}
    incoming = read_recording("gemini", "BeforeTool", tool_name="read_many_files", tool_input=given)
    paths = [part["tool_input"]["file_path"] for part in incoming.also]
    assert (paths, incoming.also[0]["tool_name"]) == (["a.txt", "b/*"], "Read")


TIME = "2026-03-04T05:06:07+00:00"
BASH = {"tool_name": "run_shell_command", "tool_input": {"command": "make"}}
MESSAGES = [{"role": "user", "content": "Build it"}, {"role": "assistant", "content": "Yes"}]
REQUEST = {
    "model": "m-1",
    "messages": [{"role": "user", "content": "Build it"}, {"role": "model", "content": "Yes"}],
    "config": {},
}

# What hooks are told

PAYLOADS: list[tuple[str, Data, Data]] = [
    ("BeforeTool", TOOL, BASH),
    (
        "AfterTool",
        {**TOOL, "tool_result": {"success": True, "output": "built"}},
        {**BASH, "tool_response": {"llmContent": "built", "returnDisplay": "built"}},
    ),
    (
        "AfterTool",
        {**TOOL, "error": {"message": "no rule"}, "tool_result": {"output": "partly"}},
        {
            **BASH,
            "tool_response": {
                "llmContent": "partly",
                "returnDisplay": "partly",
                "error": {"type": "execution_failed", "message": "no rule"},
            },
        },
    ),
    ("BeforeAgent", {"prompt": "Build it"}, {"prompt": "Build it"}),
    (
        "AfterAgent",
        {"prompt": "Build it", "final_message": {"content": "Built."}},
        {"prompt": "Build it", "prompt_response": "Built.", "stop_hook_active": False},
    ),
    ("BeforeModel", {"model": "m-1", "messages": MESSAGES}, {"llm_request": REQUEST}),
    ("BeforeToolSelection", {"model": "m-1", "messages": MESSAGES}, {"llm_request": REQUEST}),
    (
        "AfterModel",
        {
            "model": "m-1",
            "messages": MESSAGES,
            "response": {"content": "Built."},
            "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5},
        },
        {
            "llm_request": REQUEST,
            "llm_response": {
                "text": "Built.",
                "candidates": [{"content": {"role": "model", "parts": ["Built."]}, "index": 0}],
                "usageMetadata": {
                    "promptTokenCount": 3,
                    "candidatesTokenCount": 2,
                    "totalTokenCount": 5,
                },
            },
        },
    ),
    ("SessionStart", {"source": "resume"}, {"source": "resume"}),
    ("SessionStart", {}, {"source": "startup"}),
    ("SessionEnd", {"reason": "complete"}, {"reason": "exit"}),
    ("SessionEnd", {"reason": "user_exit"}, {"reason": "prompt_input_exit"}),
    ("SessionEnd", {"reason": "error"}, {"reason": "other"}),
    ("SessionEnd", {"reason": "denied"}, {"reason": "other"}),
    (
        "Notification",
        {"notification_type": "approval_required", "message": "May I?", "metadata": {"a": 1}},
        {"notification_type": "ToolPermission", "message": "May I?", "details": {"a": 1}},
    ),
    (
        "Notification",
        {"notification_type": "alert", "message": "Look"},
        {"notification_type": "alert", "message": "Look", "details": {}},
    ),
    ("PreCompress", {"trigger": "auto"}, {"trigger": "auto"}),
]


@pytest.mark.parametrize(("native", "data", "fields"), PAYLOADS)
def test_a_hook_is_told_the_fields_of_its_event(native: str, data: Data, fields: Data) -> None:
    """And those that every event has."""
    call = make_call(native, {**data, "timestamp": TIME}, transcript="/t/1.jsonl")
    assert DIALECT.build_payload(call) == {
        "session_id": "session-1",
        "transcript_path": "/t/1.jsonl",
        "cwd": "/project",
        "hook_event_name": native,
        "timestamp": TIME,
        **fields,
    }


def test_a_hook_is_told_what_the_real_program_tells() -> None:
    """Key for key; only what tools were given and gave is their own."""
    for name in list_recordings("gemini"):
        recorded = load_recording("gemini", name)
        data = {**read_recording("gemini", name).data, "prompt": "x"}
        built = DIALECT.build_payload(make_call(name.split(".")[0], data))
        assert built.keys() == recorded.keys(), name
        for key in ("tool_response", "llm_request", "llm_response"):
            assert built.get(key, {}).keys() == recorded.get(key, {}).keys(), name


@pytest.mark.parametrize(
    ("native", "data", "expected"),
    [
        ("SessionStart", {"source": "resume"}, ("resume",)),
        ("SessionEnd", {}, ("exit",)),
        ("PreCompress", {"trigger": "manual"}, ("manual",)),
        ("Notification", {"notification_type": "approval_required"}, ("ToolPermission",)),
        ("BeforeAgent", {"prompt": "x"}, ()),
        ("BeforeModel", {}, ()),
    ],
)
def test_a_matcher_is_compared_with_the_value_that_tells_occurrences_apart(
    native: str, data: Data, expected: tuple[str, ...]
) -> None:
    """Where there is one."""
    assert DIALECT.list_matched(make_call(native, data)) == expected


# What we read

COMMAND = {"command": "echo ORIG > out.txt; cat out.txt", "description": "run"}
NOTE = {"file_path": "/project/n.txt"}
CONVERSATION: Data = {
    "provider": "gemini",
    "model": "gemini-2.5-flash",
    "messages": load_recording("gemini", "BeforeModel")["llm_request"]["messages"],
    "tools": [],
    "iteration": 0,
}


def make_result(output: Any) -> Data:
    """The fields of a result that Gemini took for a good one."""
    result = {"success": True, "output": output, "error": None}
    return {"tool_result": result, "success": True, "duration_ms": 0}


def make_end(text: str) -> Data:
    """The end of a turn in which this was said."""
    return {
        "orchestrator": "gemini",
        "final_message": {"role": "assistant", "content": text},
        "turn_count": 0,
        "request_count": 0,
        "duration_ms": 0,
        "status": "success",
    }


READ: dict[str, tuple[str, Data]] = {
    "BeforeTool": (
        "tool:pre",
        {"tool_name": "Bash", "tool_input": COMMAND, "tool_call_id": ""},
    ),
    "BeforeTool.read_file": (
        "tool:pre",
        {"tool_name": "Read", "tool_input": NOTE, "tool_call_id": ""},
    ),
    "BeforeTool.replace": (
        "tool:pre",
        {
            "tool_name": "Edit",
            "tool_input": {
                **NOTE,
                "old_string": "two",
                "new_string": "three",
                "instruction": "x",
            },
            "tool_call_id": "",
        },
    ),
    "BeforeTool.write_file": (
        "tool:pre",
        {
            "tool_name": "Write",
            "tool_input": {**NOTE, "content": "one\ntwo\n"},
            "tool_call_id": "",
        },
    ),
    "AfterTool": (
        "tool:post",
        {
            "tool_name": "Bash",
            "tool_input": COMMAND,
            "tool_call_id": "",
            **make_result(
                "<untrusted_context>\nOutput: ORIG\nProcess Group PGID: 13355\n</untrusted_context>"
            ),
        },
    ),
    "AfterTool.read_file": (
        "tool:post",
        {
            "tool_name": "Read",
            "tool_input": NOTE,
            "tool_call_id": "",
            **make_result("one\ntwo\n"),
        },
    ),
    "AfterTool.write_file": (
        "tool:post",
        {
            "tool_name": "Write",
            "tool_input": {**NOTE, "content": "one\ntwo\n"},
            "tool_call_id": "",
            **make_result(
                "Successfully created and wrote to new file: /project/n.txt. "
                "Here is the updated code:\none\ntwo\n"
            ),
        },
    ),
    "BeforeTool.glob": (
        "tool:pre",
        {
            "tool_name": "Glob",
            "tool_input": {"pattern": "*.txt", "path": "sub"},
            "tool_call_id": "",
        },
    ),
    "BeforeTool.grep_search": (
        "tool:pre",
        {
            "tool_name": "Grep",
            "tool_input": {"pattern": "two", "path": "sub", "glob": "*.txt"},
            "tool_call_id": "",
        },
    ),
    "BeforeTool.list_directory": (
        "tool:pre",
        {"tool_name": "LS", "tool_input": {"path": "sub"}, "tool_call_id": ""},
    ),
    "BeforeTool.invoke_agent": (
        "tool:pre",
        {
            "tool_name": "Delegate",
            "tool_input": {"agent_name": "codebase_investigator", "task": "look"},
            "tool_call_id": "",
        },
    ),
    "BeforeTool.write_todos": (
        "tool:pre",
        {
            "tool_name": "Todo",
            "tool_input": {"todos": [{"description": "a", "status": "pending"}]},
            "tool_call_id": "",
        },
    ),
    "BeforeTool.dir_path": (
        "tool:pre",
        {
            "tool_name": "Bash",
            "tool_input": {
                "command": "pwd; cat a.txt",
                "description": "x",
                "dir_path": "sub",
            },
            "tool_call_id": "",
        },
    ),
    "AfterTool.failed": (
        "tool:post",
        {
            "tool_name": "Read",
            "tool_input": {"file_path": "nope.txt"},
            "tool_call_id": "",
            "tool_result": {
                "success": False,
                "output": "Could not read file because no file was found at the specified path.",
                "error": {
                    "message": "File not found: /project/nope.txt",
                    "type": "file_not_found",
                },
            },
            "success": False,
            "duration_ms": 0,
        },
    ),
    "BeforeAgent": ("prompt:submit", {"prompt": "please do it", "metadata": {}}),
    "AfterAgent": ("orchestrator:complete", make_end("I run it. \nDone.")),
    "AfterAgent.active": ("orchestrator:complete", make_end("one\ntwo")),
    "BeforeModel": ("provider:request", CONVERSATION),
    "BeforeToolSelection": (
        "guest:before_tool_selection",
        {"llm_request": load_recording("gemini", "BeforeToolSelection")["llm_request"]},
    ),
    "AfterModel": (
        "provider:response",
        {
            "provider": "gemini",
            "model": "gemini-2.5-flash",
            "response": {"role": "assistant", "content": "I run it."},
            "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
            "duration_ms": 0,
        },
    ),
    "SessionStart": ("session:start", {"mount_plan": {}, "source": "startup"}),
    "SessionEnd": (
        "session:end",
        {
            "reason": "complete",
            "duration_ms": 0,
            "stats": {
                "total_messages": 0,
                "tool_invocations": 0,
                "total_tokens": 0,
                "hook_failures": 0,
            },
        },
    ),
    "Notification": (
        "user:notification",
        {
            "notification_type": "approval_required",
            "message": "Tool Confirm Shell Command requires execution",
            "metadata": {
                "type": "exec",
                "title": "Confirm Shell Command",
                "command": "echo ORIG > out.txt; cat out.txt",
                "rootCommand": "echo, redirection (>), cat",
            },
        },
    ),
    "PreCompress": (
        "context:pre_compact",
        {"trigger": "auto", "current_tokens": 0, "target_tokens": 0, "messages_count": 0},
    ),
}


def test_what_the_real_program_tells_is_an_event_of_ours() -> None:
    """With the fields that hooks expect at it, and where it belongs."""
    for name in list_recordings("gemini"):
        incoming = read_recording("gemini", name)
        recorded = load_recording("gemini", name)
        assert (incoming.event, incoming.data) == READ[name], name
        assert (incoming.session_id, incoming.cwd) == (recorded["session_id"], "/project"), name
        assert incoming.transcript == recorded["transcript_path"], name
        assert (incoming.call_id, incoming.agent_id) == ("", ""), name
        assert bool(incoming.also) == (name == "BeforeTool.dir_path"), name


def read_changed(name: str, **changed: Any) -> Incoming:
    """A recording with other values."""
    payload = {**load_recording("gemini", name), **changed}
    return read_payload(DIALECT, name.split(".")[0], json.dumps(payload))


PARTS = [{"text": "a"}, {"inlineData": {"mimeType": "image/png", "data": ""}}]
FAILED = {"type": "execution_failed", "message": "no"}
FAILURE = {"llmContent": "no", "error": FAILED}


@pytest.mark.parametrize(
    ("name", "field", "theirs", "read", "ours"),
    [
        ("SessionStart", "source", "startup", "source", "startup"),
        ("SessionStart", "source", "resume", "source", "resume"),
        ("SessionStart", "source", "clear", "source", "startup"),
        ("SessionEnd", "reason", "exit", "reason", "complete"),
        ("SessionEnd", "reason", "clear", "reason", "complete"),
        ("SessionEnd", "reason", "logout", "reason", "user_exit"),
        ("SessionEnd", "reason", "prompt_input_exit", "reason", "user_exit"),
        ("SessionEnd", "reason", "other", "reason", "complete"),
        ("PreCompress", "trigger", "manual", "trigger", "manual"),
        ("PreCompress", "trigger", "sudden", "trigger", "auto"),
        ("Notification", "notification_type", "Sound", "notification_type", "alert"),
        # Gemini says why a tool failed beside what the model reads; parts of a result stay parts.
        ("AfterTool", "tool_response", FAILURE, "success", False),
        (
            "AfterTool",
            "tool_response",
            FAILURE,
            "tool_result",
            {"success": False, "output": "no", "error": FAILED},
        ),
        (
            "AfterTool",
            "tool_response",
            {"llmContent": PARTS},
            "tool_result",
            {"success": True, "output": PARTS, "error": None},
        ),
    ],
)
def test_their_words_become_ours(name: str, field: str, theirs: Any, read: str, ours: Any) -> None:
    """Hooks compare with ours; a word that nobody knows becomes the most harmless one."""
    assert read_changed(name, **{field: theirs}).data[read] == ours


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("BeforeTool", {"tool_name": None}),
        ("BeforeTool", {"tool_name": ""}),
        ("BeforeTool", {"tool_input": "rm -rf /"}),
        ("BeforeTool", {"tool_input": None}),
        ("BeforeTool", {"session_id": 7}),
        ("AfterTool", {"tool_response": "text"}),
        ("BeforeAgent", {"prompt": ["a"]}),
        ("BeforeModel", {"llm_request": None}),
    ],
)
def test_what_cannot_be_judged_is_not_read(name: str, changed: Data) -> None:
    """At a gate that is a denial."""
    with pytest.raises(UnreadablePayload):
        read_changed(name, **changed)


# What an answer can do


@pytest.mark.parametrize(
    ("native", "powers", "gate", "noisy"),
    [
        ("BeforeTool", {"deny", "rewrite", "stop", "tell"}, True, False),
        ("AfterTool", {"deny", "replace", "inject", "stop", "tell"}, True, False),
        ("BeforeAgent", {"deny", "inject", "tell"}, True, False),
        ("AfterAgent", {"deny", "tell"}, False, False),
        ("BeforeModel", {"deny", "tell"}, False, True),
        ("AfterModel", {"tell"}, False, True),
        ("BeforeToolSelection", {"tell"}, False, True),
        ("SessionStart", {"inject", "tell"}, False, False),
        ("SessionEnd", {"tell"}, False, False),
        ("Notification", {"tell"}, False, False),
        ("PreCompress", {"tell"}, False, True),
    ],
)
def test_an_event_has_the_powers_that_were_measured(
    native: str, powers: set[str], gate: bool, noisy: bool
) -> None:
    """With version 0.61."""
    row = EVENTS[native]
    assert (set(row.powers), row.gate, row.noisy) == (powers, gate, noisy)
