"""Copilot CLI's tools and ours."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.copilot import DIALECT
from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call
from tests.hooks.coding_agents.dialects.recordings import read_recording

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


def test_other_names_are_known() -> None:
    """By which some models call the same tools."""
    assert read_recording("copilot", "preToolUse", toolName="rg").data["tool_name"] == "Grep"
    assert DIALECT.recognize_tool("str_replace") == "Edit"


def test_arguments_may_come_as_json_in_a_text() -> None:
    """Older versions did that."""
    incoming = read_recording("copilot", "preToolUse", toolArgs='{"command": "ls"}')
    assert incoming.data["tool_input"] == {"command": "ls"}


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
