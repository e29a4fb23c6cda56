"""Copilot CLI's events: what hooks are told, what we read, and what an answer can do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects import DIALECTS, Dialect
from amplifier_hooks.coding_agents.dialects.copilot import CLAUDE_FORM, DIALECT
from amplifier_hooks.coding_agents.dialects.copilot_events import EVENTS
from amplifier_hooks.coding_agents.dialects.reading import name_event, read_payload
from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call, read
from tests.hooks.coding_agents.dialects.recordings import (
    list_recordings,
    load_recording,
    read_recording,
)


@pytest.mark.parametrize("stamp", [None, "", "yesterday", 7])
def test_a_time_that_is_none_is_the_beginning_of_time(stamp: Any) -> None:
    """A number in any case."""
    assert DIALECT.build_payload(make_call("agentStop", {"timestamp": stamp}))["timestamp"] == 0


def test_a_result_that_is_no_text_is_written_as_json() -> None:
    """The model would read it so."""
    data = {**TOOL, "tool_result": {"success": True, "output": {"lines": 3}}}
    result = DIALECT.build_payload(make_call("postToolUse", data))["toolResult"]
    assert result["textResultForLlm"] == '{"lines": 3}'


def test_a_call_without_arguments_is_not_one_whose_arguments_are_missing() -> None:
    """A program that calls them otherwise tomorrow must not pass unseen."""
    assert read_recording("copilot", "preToolUse", toolArgs=None).data["tool_input"] == {}
    payload = load_recording("copilot", "preToolUse")
    del payload["toolArgs"]
    with pytest.raises(UnreadablePayload):
        read_payload(DIALECT, "preToolUse", json.dumps(payload))


FORMS = {"copilot": ("preToolUse", "toolName", "toolArgs")}
FORMS["copilot-claude"] = ("PreToolUse", "tool_name", "tool_input")


@pytest.mark.parametrize(
    ("ours", "camel", "pascal"),
    [
        ("Bash", "bash", "Bash"),
        ("Read", "view", "Read"),
        ("Write", "create", "Write"),
        ("Edit", "edit", "Edit"),
        ("Glob", "glob", "Glob"),
        ("Grep", "grep", "Grep"),
        ("Delegate", "task", "Agent"),
        ("Todo", "update_todo", "TodoWrite"),
        ("WebFetch", "web_fetch", "WebFetch"),
        ("Mine", "Mine", "Mine"),
    ],
)
def test_tools_have_the_names_that_scripts_look_for(ours: str, camel: str, pascal: str) -> None:
    """Matchers may be written with ours as well, and must fit the whole name."""
    for form, theirs in (("copilot", camel), ("copilot-claude", pascal)):
        native, name, _ = FORMS[form]
        call = make_call(native, {**TOOL, "tool_name": ours})
        matched = DIALECTS[form].list_matched(call)
        assert DIALECTS[form].build_payload(call)[name] == theirs
        assert DIALECTS[form].matches(theirs, matched)
        assert DIALECTS[form].matches(ours, matched)
        assert not DIALECTS[form].matches(theirs[:-1], matched)
        if ours != "Edit":
            assert read_recording(form, native, **{name: theirs}).data["tool_name"] == ours


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize(
    ("tool", "ours", "theirs"),
    [
        ("Read", {"file_path": "a"}, {"path": "a"}),
        ("Write", {"file_path": "a", "content": "x"}, {"path": "a", "file_text": "x"}),
        (
            "Edit",
            {"file_path": "a", "old_string": "x", "new_string": "y"},
            {"path": "a", "old_str": "x", "new_str": "y"},
        ),
        ("Glob", {"pattern": "*", "path": "a"}, {"pattern": "*", "paths": "a"}),
        ("Grep", {"pattern": "x", "path": ["a", "b"]}, {"pattern": "x", "paths": ["a", "b"]}),
        ("Delegate", {"agent_name": "a", "task": "t"}, {"agent_type": "a", "prompt": "t"}),
        ("Bash", {"command": "ls"}, {"command": "ls"}),
    ],
)
def test_fields_have_copilots_names_in_both_spellings(
    form: str, tool: str, ours: Data, theirs: Data
) -> None:
    """Also beside Claude's name of the tool."""
    native, name, given = FORMS[form]
    call = make_call(native, {**TOOL, "tool_name": tool, "tool_input": ours})
    told = DIALECTS[form].build_payload(call)
    assert told[given] == theirs
    changed = {name: told[name], given: theirs}
    assert read_recording(form, native, **changed).data["tool_input"] == ours


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_field_cannot_hide_behind_another(form: str) -> None:
    """The tool uses its own, whatever else stands there."""
    native, name, given = FORMS[form]
    told = {"path": "/etc/passwd", "file_path": "notes.txt"}
    changed = {name: "Read" if form == "copilot-claude" else "view", given: told}
    incoming = read_recording(form, native, **changed)
    assert incoming.data["tool_input"] == {"file_path": "/etc/passwd"}


@pytest.mark.parametrize(
    ("command", "tool"),
    [("view", "Read"), ("create", "Write"), ("str_replace", "Edit"), ("insert", "Edit")],
)
def test_the_editor_of_some_models_is_four_tools(command: str, tool: str) -> None:
    """Each is judged as the one that it amounts to."""
    given = {"command": command, "path": "a"}
    incoming = read_recording(
        "copilot", "preToolUse", toolName="str_replace_editor", toolArgs=given
    )
    assert incoming.data["tool_name"] == tool
    assert incoming.data["tool_input"] == {"command": command, "file_path": "a"}


@pytest.mark.parametrize(
    ("form", "name", "path"),
    [
        ("copilot", "preToolUse.apply_patch", "/project/P/b.txt"),
        ("copilot-claude", "PreToolUse.patch", "/project/b.txt"),
    ],
)
def test_each_file_of_a_patch_is_judged(form: str, name: str, path: str) -> None:
    """Some models have no other tool to write with."""
    written = {"file_path": path, "content": "hello\n"}
    [part] = read_recording(form, name).also
    assert part["tool_name"] == "Write"
    assert part["tool_input"]["file_path"] == written["file_path"]
    assert part["tool_input"]["content"].strip() == "hello"


@pytest.mark.parametrize("patch", ["delete everything", "", "*** Begin Patch\nrm\n*** End Patch"])
def test_a_patch_that_cannot_be_read_is_not_judged(patch: str) -> None:
    """At a gate that is a denial."""
    with pytest.raises(UnreadablePayload):
        read_recording("copilot", "preToolUse.apply_patch", toolArgs=patch)
    with pytest.raises(UnreadablePayload):
        read_recording("copilot-claude", "PreToolUse.patch", tool_input=patch)


def test_what_is_typed_into_a_shell_is_a_command() -> None:
    """One that runs already was judged when it was started, and not since."""
    given = {"shellId": "0", "input": "rm -rf x\n"}
    incoming = read_recording("copilot", "preToolUse", toolName="write_bash", toolArgs=given)
    assert incoming.also == ({"tool_name": "Bash", "tool_input": {"command": "rm -rf x\n"}},)


@pytest.mark.parametrize(
    ("typed", "commands"),
    [
        ("echo a{enter}rm x{Enter}", ["echo a\nrm x\n"]),
        ("{up}{up}{enter}", []),
        ("{down}", []),
        ("y\r", ["y\n"]),
    ],
)
def test_keys_are_read_as_the_shell_gets_them(typed: str, commands: list[str]) -> None:
    """Enter ends a line; keys alone type nothing."""
    given = {"shellId": "0", "input": typed}
    incoming = read_recording("copilot", "preToolUse", toolName="write_bash", toolArgs=given)
    assert [part["tool_input"]["command"] for part in incoming.also] == commands


@pytest.mark.parametrize("typed", ["rm", "m x{enter}r", "rx{left}m{enter}", "rx{backspace}m x\n"])
def test_a_line_that_nobody_sees_whole_is_refused(typed: str) -> None:
    """It could be typed letter by letter."""
    given = {"shellId": "0", "input": typed}
    with pytest.raises(UnreadablePayload, match="whole lines"):
        read_recording("copilot", "preToolUse", toolName="write_bash", toolArgs=given)


# What hooks are told

BASH = {"toolName": "bash", "toolArgs": {"command": "make"}}
TRANSCRIPT = {"transcriptPath": "/t/1.jsonl"}
PAYLOADS: list[tuple[str, Data, Data]] = [
    ("preToolUse", TOOL, BASH),
    (
        "postToolUse",
        {**TOOL, "tool_result": {"success": True, "output": "built"}},
        {**BASH, "toolResult": {"resultType": "success", "textResultForLlm": "built"}},
    ),
    (
        "postToolUseFailure",
        {**TOOL, "tool_result": {"success": False, "output": None, "error": "no rule"}},
        {**BASH, "error": "no rule"},
    ),
    (
        "permissionRequest",
        TOOL,
        {
            "hookName": "permissionRequest",
            "toolName": "bash",
            "toolInput": {"command": "make"},
            "permissionSuggestions": [],
        },
    ),
    ("preMcpToolCall", TOOL, {}),
    ("userPromptSubmitted", {"prompt": "Build it"}, {"prompt": "Build it"}),
    ("userPromptTransformed", {"prompt": "Build it"}, {}),
    ("sessionStart", {"source": "startup"}, {"source": "new", "initialPrompt": ""}),
    ("sessionStart", {"source": "resume"}, {"source": "resume", "initialPrompt": ""}),
    ("sessionEnd", {"reason": "complete"}, {"reason": "complete"}),
    (
        "agentStop",
        {},
        {**TRANSCRIPT, "stopReason": "end_turn", "stop_hook_active": False},
    ),
    ("subagentStart", {"agent_name": "critic"}, {**TRANSCRIPT, "agentName": "critic"}),
    (
        "subagentStop",
        {"agent_name": "critic", "result": {"output": "Fine."}},
        {
            **TRANSCRIPT,
            "agentName": "critic",
            "stopReason": "end_turn",
            "response": "Fine.",
        },
    ),
    (
        "preCompact",
        {"trigger": "auto"},
        {**TRANSCRIPT, "trigger": "auto", "customInstructions": ""},
    ),
    (
        "notification",
        {"notification_type": "approval_required", "message": "May I?"},
        {
            "message": "May I?",
            "title": "",
            "hook_event_name": "Notification",
            "notification_type": "permission_prompt",
        },
    ),
    (
        "errorOccurred",
        {"error": {"message": "overloaded"}},
        {
            "error": {"name": "Error", "message": "overloaded"},
            "errorContext": "system",
            "recoverable": False,
        },
    ),
]


@pytest.mark.parametrize(("native", "data", "fields"), PAYLOADS)
def test_a_hook_is_told_the_fields_of_its_event(native: str, data: Data, fields: Data) -> None:
    """And those that every event has; the time in milliseconds."""
    data = {**data, "timestamp": "1970-01-01T00:00:01.500+00:00"}
    call = make_call(native, data, transcript="/t/1.jsonl")
    common = {"sessionId": "session-1", "timestamp": 1500, "cwd": "/project"}
    assert DIALECT.build_payload(call) == {**common, **fields}


OPTIONAL = {
    "agentId",
    "agentType",
    "parentAgentId",
    "agent_id",
    "agent_type",
    "parent_agent_id",
    "prompt",
    "transformedPrompt",
    "stop_hook_active",
}
"""What only sub-agents have, or events that we do not tell."""


@pytest.mark.parametrize(
    ("form", "name"),
    [(form, name) for form in ("copilot", "copilot-claude") for name in list_recordings(form)],
)
def test_a_hook_finds_every_field_that_the_program_has(form: str, name: str) -> None:
    """In either spelling."""
    recorded, incoming = load_recording(form, name), read_recording(form, name)
    built = DIALECTS[form].build_payload(make_call(name.split(".")[0], incoming.data))
    assert recorded.keys() - OPTIONAL == built.keys() - OPTIONAL
    for key in ("toolResult", "tool_result"):
        assert built.get(key, {}).keys() == recorded.get(key, {}).keys()


# What we read

COMMAND = {"command": "echo ORIG > out.txt; cat out.txt", "description": "run"}
PATCH = "*** Begin Patch\n*** Add File: P/b.txt\n+hello\n*** End Patch\n"
STOP: Data = {
    "orchestrator": "copilot",
    "final_message": {"role": "assistant", "content": ""},
    "turn_count": 0,
    "request_count": 0,
    "duration_ms": 0,
    "status": "success",
}


def make_tool(name: str, given_: Data) -> Data:
    """A tool call; Copilot gives it no id."""
    return {"tool_name": name, "tool_input": given_, "tool_call_id": ""}


def make_result(output: str) -> Data:
    """The fields of a result that Copilot took for a good one."""
    result = {"success": True, "output": output, "error": None}
    return {"tool_result": result, "success": True, "duration_ms": 0}


READ: dict[str, tuple[str, Data]] = {
    "preToolUse": ("tool:pre", make_tool("Bash", COMMAND)),
    "preToolUse.create": (
        "tool:pre",
        make_tool("Write", {"file_path": "P/a.txt", "content": "one\n"}),
    ),
    "preToolUse.view": ("tool:pre", make_tool("Read", {"file_path": "P/a.txt"})),
    "preToolUse.edit": (
        "tool:pre",
        make_tool("Edit", {"file_path": "P/a.txt", "old_string": "one", "new_string": "two"}),
    ),
    "preToolUse.glob": ("tool:pre", make_tool("Glob", {"pattern": "*.txt"})),
    "preToolUse.grep": ("tool:pre", make_tool("Grep", {"pattern": "two"})),
    "preToolUse.apply_patch": ("tool:pre", make_tool("apply_patch", {"input": PATCH})),
    "preToolUse.task": (
        "tool:pre",
        make_tool(
            "Delegate",
            {"description": "do x", "task": "SUBPROMPT", "agent_name": "task", "name": "x1"},
        ),
    ),
    "preToolUse.subagent": (
        "tool:pre",
        make_tool("Bash", {"command": "echo ORIG >> out.txt", "description": "x"}),
    ),
    "postToolUse": (
        "tool:post",
        {
            **make_tool("Bash", COMMAND),
            **make_result("ORIG\n<shellId: 0 completed with exit code 0>"),
        },
    ),
    "postToolUse.apply_patch": (
        "tool:post",
        {
            **make_tool("apply_patch", {"input": PATCH}),
            **make_result("Added 1 file(s): /project/P/b.txt"),
        },
    ),
    "postToolUseFailure": (
        "tool:error",
        {
            **make_tool("Write", {"file_path": "P/a.txt", "content": "one\n"}),
            "error": {"type": "Error", "message": "Parent directory does not exist"},
        },
    ),
    "permissionRequest": (
        "guest:permission_request",
        make_tool("Bash", {"command": "echo ORIG > out.txt; cat out.txt"}),
    ),
    "userPromptSubmitted": ("prompt:submit", {"prompt": "please do it", "metadata": {}}),
    "userPromptSubmitted.subagent": ("prompt:submit", {"prompt": "SUBPROMPT", "metadata": {}}),
    "userPromptTransformed": (
        "guest:user_prompt_transformed",
        {
            "prompt": "please do it",
            "transformedPrompt": "<current_datetime>2026-11-16T01:59:37.206+00:00"
            "</current_datetime>\n\nplease do it",
        },
    ),
    "agentStop": ("orchestrator:complete", STOP),
    "agentStop.active": ("orchestrator:complete", STOP),
    "agentStop.subagent": ("orchestrator:complete", STOP),
    "subagentStart": (
        "agent:spawn",
        {
            "parent_session_id": load_recording("copilot", "subagentStart")["sessionId"],
            "agent_name": "task",
            "task": "",
            "config_override": {},
        },
    ),
    "subagentStop": (
        "agent:complete",
        {
            "parent_session_id": load_recording("copilot", "subagentStop")["sessionId"],
            "agent_name": "task",
            "task": "",
            "result": {"output": "done"},
            "duration_ms": 0,
            "status": "success",
        },
    ),
    "sessionStart": ("session:start", {"mount_plan": {}, "source": "startup"}),
    "sessionEnd": (
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
    "notification": (
        "user:notification",
        {
            "notification_type": "approval_required",
            "message": "Run command: echo ORIG > out.txt; cat out.txt",
            "metadata": {"title": "Permission needed"},
        },
    ),
}


def test_what_the_real_program_tells_is_an_event_of_ours() -> None:
    """With the fields that hooks expect at it, and where it belongs."""
    for name in list_recordings("copilot"):
        incoming, recorded = read_recording("copilot", name), load_recording("copilot", name)
        assert (incoming.event, incoming.data) == READ[name], name
        assert (incoming.session_id, incoming.cwd) == (recorded["sessionId"], "/project"), name
        assert incoming.transcript == recorded.get("transcriptPath", ""), name
        assert incoming.agent_id == recorded.get("agentId", ""), name
        assert incoming.parent_id == recorded.get("parentAgentId", ""), name


def test_a_sub_agent_has_a_session_of_its_own_and_tells_whose_it_is() -> None:
    """Its calls can be counted with those of the agent that started it."""
    incoming = read_recording("copilot", "preToolUse.subagent")
    started = read_recording("copilot", "subagentStart")
    assert incoming.session_id == incoming.agent_id == started.agent_id
    assert incoming.parent_id == started.session_id == started.parent_id


COMPACTED = {"current_tokens": 0, "target_tokens": 0, "messages_count": 0}
REFUSED = {"resultType": "denied", "textResultForLlm": "no"}


@pytest.mark.parametrize(
    ("name", "changed", "ours"),
    [
        ("sessionStart", {"source": "new"}, {"source": "startup"}),
        ("sessionStart", {"source": "startup"}, {"source": "startup"}),
        ("sessionStart", {"source": "resume"}, {"source": "resume"}),
        ("sessionEnd", {"reason": "complete"}, {"reason": "complete"}),
        ("sessionEnd", {"reason": "error"}, {"reason": "error"}),
        ("sessionEnd", {"reason": "abort"}, {"reason": "user_exit"}),
        ("sessionEnd", {"reason": "timeout"}, {"reason": "timeout"}),
        ("sessionEnd", {"reason": "user_exit"}, {"reason": "user_exit"}),
        (
            "notification",
            {"notification_type": "agent_idle"},
            {"notification_type": "awaiting_input"},
        ),
        ("notification", {"notification_type": "other"}, {"notification_type": "alert"}),
        # The numbers of a compaction are unknown.
        ("preCompact", {"trigger": "manual"}, {"trigger": "manual", **COMPACTED}),
        # An error is told as a text or as an object.
        ("errorOccurred", {"error": "no"}, {"error": {"type": "Error", "message": "no"}}),
        (
            "errorOccurred",
            {"error": {"name": "TypeError", "message": "no"}},
            {"error": {"type": "TypeError", "message": "no"}},
        ),
        ("errorOccurred", {"error": None}, {"error": {"type": "Error", "message": ""}}),
        # Copilot has three words for a result that is no success.
        (
            "postToolUse",
            {"toolResult": REFUSED},
            {
                "tool_result": {
                    "success": False,
                    "output": "no",
                    "error": {"type": "denied", "message": "no"},
                }
            },
        ),
        # Some models call the same tools by other names; older versions sent JSON in a text.
        ("preToolUse", {"toolName": "rg"}, {"tool_name": "Grep"}),
        ("preToolUse", {"toolArgs": '{"command": "ls"}'}, {"tool_input": {"command": "ls"}}),
    ],
)
def test_their_words_become_ours(name: str, changed: Data, ours: Data) -> None:
    """Hooks compare with ours."""
    known = name in list_recordings("copilot")
    payload = load_recording("copilot", name) if known else {"sessionId": "s", "cwd": "/"}
    read = read_payload(DIALECT, name, json.dumps({**payload, **changed})).data
    assert {key: read[key] for key in ours} == ours
    assert DIALECT.recognize_tool("str_replace") == "Edit"


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("preToolUse", {"toolName": None}),
        ("preToolUse", {"toolName": ""}),
        ("preToolUse", {"toolArgs": ["rm"]}),
        ("preToolUse", {"toolArgs": 7}),
        ("preToolUse", {"sessionId": None}),
        ("postToolUse", {"toolResult": "text"}),
        ("userPromptSubmitted", {"prompt": ["a"]}),
        ("permissionRequest", {"toolInput": 7}),
    ],
)
def test_what_cannot_be_judged_is_not_read(name: str, changed: Data) -> None:
    """At a gate that is a denial."""
    with pytest.raises(UnreadablePayload):
        read_recording("copilot", name, **changed)


# What an answer can do


@pytest.mark.parametrize(
    ("native", "event", "powers", "gate", "noisy"),
    [
        ("preToolUse", "tool:pre", {"deny", "rewrite", "inject", "ask", "allow"}, True, False),
        ("permissionRequest", "guest:permission_request", {"deny", "allow"}, True, False),
        ("postToolUse", "tool:post", {"deny", "replace", "inject"}, True, False),
        ("postToolUseFailure", "tool:error", {"inject"}, False, False),
        ("preMcpToolCall", "guest:pre_mcp_tool_call", set(), False, True),
        ("userPromptSubmitted", "prompt:submit", {"deny", "rewrite", "inject"}, True, False),
        ("userPromptTransformed", "guest:user_prompt_transformed", set(), False, True),
        ("agentStop", "orchestrator:complete", {"deny"}, False, False),
        ("subagentStart", "agent:spawn", {"inject"}, False, False),
        ("subagentStop", "agent:complete", {"deny"}, False, False),
        ("sessionStart", "session:start", {"inject"}, False, False),
        ("sessionEnd", "session:end", set(), False, False),
        ("preCompact", "context:pre_compact", set(), False, False),
        ("notification", "user:notification", set(), False, False),
        ("errorOccurred", "error:orchestration", set(), False, False),
    ],
)
def test_an_event_has_the_powers_that_were_measured(
    native: str, event: str, powers: set[str], gate: bool, noisy: bool
) -> None:
    """With version 1.0.102."""
    row = EVENTS[native]
    assert name_event(native, row) == event
    assert (set(row.powers), row.gate, row.noisy) == (powers, gate, noisy)


@pytest.mark.parametrize("dialect", [DIALECT, CLAUDE_FORM])
def test_every_gate_can_be_closed_without_us(dialect: Dialect) -> None:
    """By an exit code, or where that does not block, by what is printed."""
    for native, row in dialect.events.items():
        if row.gate and row.refusal:
            assert read(dialect, native, row.refusal).decision == "deny"
        elif row.gate:
            assert read(dialect, native, code=2).decision == "deny"


def test_a_notification_is_matched_by_its_type_and_a_session_by_nothing() -> None:
    """Only tools and notifications have matchers."""
    call = make_call("notification", {"notification_type": "alert"})
    assert DIALECT.list_matched(call) == ("alert",)
    assert DIALECT.list_matched(make_call("sessionStart", {"source": "new"})) == ()
