"""What replies of Claude Code's hooks mean, and what we reply to Claude Code."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.claude import DIALECT, EVENTS, has_shape, reshape
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.conversation import Data, read
from tests.hooks.coding_agents.dialects.recordings import (
    answer,
    list_recordings,
    load_recording,
    make_incoming,
    read_recording,
)
from tests.hooks.coding_agents.shell_hooks.hook_files import specific

SECRET = "sk-live-1234567890"
RECORDED = [name for name in list_recordings("claude") if name.startswith("PostToolUse.")]


def list_texts(value: Any) -> list[str]:
    """Every text in a value."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in list_texts(one)]


def describe(value: Any) -> Any:
    """The shape of a value: its keys, and the kinds of what they hold."""
    if isinstance(value, dict):
        return {key: describe(inner) for key, inner in value.items()}
    return type(value)


@pytest.mark.parametrize("name", ["PostToolUse", *RECORDED])
def test_a_result_keeps_its_shape_and_shows_the_text_once(name: str) -> None:
    """The program drops a result of any other shape, and shows the old one."""
    recorded = load_recording("claude", name)
    shaped = reshape(recorded["tool_name"], recorded["tool_response"], "[hidden]")
    assert describe(shaped) == describe(recorded["tool_response"])
    assert list_texts(shaped).count("[hidden]") == 1


@pytest.mark.parametrize(
    ("tool", "shape", "expected"),
    [
        (
            "Bash",
            {"stdout": "", "stderr": SECRET, "interrupted": True, "isImage": False},
            {"stdout": "T", "stderr": "", "interrupted": True, "isImage": False},
        ),
        (
            "Bash",
            {"stdout": "aW1hZ2U=", "stderr": "", "interrupted": False, "isImage": True},
            {"stdout": "T", "stderr": "", "interrupted": False, "isImage": False},
        ),
        (
            "Grep",
            {"mode": "content", "filenames": [], "content": SECRET, "numLines": 1},
            {"mode": "content", "filenames": [], "content": "T", "numLines": 1},
        ),
        (
            "Grep",
            {"mode": "files_with_matches", "filenames": ["a", SECRET], "numFiles": 2},
            {"mode": "files_with_matches", "filenames": ["T"], "numFiles": 2},
        ),
        (
            "Glob",
            {"filenames": ["a", "b"], "durationMs": 1, "numFiles": 2, "truncated": False},
            {"filenames": ["T"], "durationMs": 1, "numFiles": 2, "truncated": False},
        ),
        (
            "WebFetch",
            {"bytes": 9, "code": 200, "codeText": "OK", "result": SECRET, "url": "https://a.test"},
            {"bytes": 9, "code": 200, "codeText": "", "result": "T", "url": ""},
        ),
        (
            "TaskOutput",
            {"retrieval_status": "success", "task": {"task_type": "bash", "log": SECRET}},
            {"retrieval_status": "success", "task": {"task_type": "bash", "log": "T"}},
        ),
        (
            "ToolSearch",
            {"matches": ["TaskCreate"], "query": "select:TaskCreate", "total_deferred_tools": 15},
            {"matches": [], "query": "T", "total_deferred_tools": 15},
        ),
        ("Unknown", {"a": "x", "b": SECRET, "n": 1}, {"a": "", "b": "T", "n": 1}),
        ("Unknown", {"n": 1, "empty": []}, {"n": 1, "empty": []}),
        ("Unknown", [{"text": SECRET}, {"text": "x"}], [{"text": "T"}, {"text": ""}]),
        ("Unknown", SECRET, "T"),
        ("Unknown", None, "T"),
    ],
)
def test_nothing_is_left_of_the_old_result_but_what_says_what_it_is(
    tool: str, shape: Any, expected: Any
) -> None:
    """Words with a fixed set of values stay, or the program would refuse the whole."""
    assert reshape(tool, shape, "T") == expected


@pytest.mark.parametrize(
    "shape",
    [
        {"type": "image", "file": {"base64": "aW1hZ2U=", "filePath": "/p/a.png"}},
        {"type": "notebook", "file": {"filePath": "/p/a.png", "cells": [{"source": SECRET}]}},
    ],
)
def test_a_picture_that_must_not_be_seen_becomes_a_file_of_text(shape: Any) -> None:
    """A text in the place of its bytes would be no picture."""
    file = {"filePath": "/p/a.png", "content": "T", "numLines": 1, "startLine": 1, "totalLines": 1}
    assert reshape("Read", shape, "T") == {"type": "text", "file": file}


@pytest.mark.parametrize(
    ("shape", "output", "expected"),
    [
        ({"a": 1}, {"a": "x"}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": 1}, [1], False),
        ([1], ["a", "b"], True),
        ([1], {"a": 1}, False),
        ("text", {"a": 1}, True),
    ],
)
def test_a_shape_is_known_by_its_outermost_keys(shape: Any, output: Any, expected: bool) -> None:
    """A tool that gives no object takes anything."""
    assert has_shape(shape, output) is expected


values = st.recursive(
    st.text(max_size=9) | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(st.sampled_from(["Bash", "Read", "Other"]), values)
def test_no_shape_can_break_it_and_no_secret_survives(tool: str, shape: Any) -> None:
    """Whatever a tool of tomorrow gives."""
    shaped = reshape(tool, {"unknown": shape, "secret": SECRET}, "T")
    assert SECRET not in list_texts(shaped)


def test_a_bottomless_result_is_cut_off() -> None:
    """It is not worth a crash."""
    deep: Any = SECRET
    for _ in range(900):
        deep = {"a": deep}
    assert SECRET not in list_texts(reshape("Other", deep, "T"))


ANY = sorted(EVENTS)


def test_code_2_is_a_denial_at_almost_every_event() -> None:
    """What a denial comes to is up to the event."""
    for native in [one for one in ANY if one != "PermissionRequest"]:
        verdict = read(DIALECT, native, code=2, stderr="no")
        assert verdict == Verdict(decision="deny", reason="no"), native


def test_code_2_is_no_answer_to_a_permission() -> None:
    """So when nobody can judge it, a denial is printed instead."""
    verdict = read(DIALECT, "PermissionRequest", code=2, stderr="no")
    assert verdict == Verdict(warnings=("Hook 'hook' exited with 2: no",))
    refusal = EVENTS["PermissionRequest"].refusal
    reason = "amplifier: this was not judged, so it is not allowed"
    assert read(DIALECT, "PermissionRequest", refusal) == Verdict("deny", reason)


def test_context_can_be_added_at_every_event() -> None:
    """Where it ends up is up to the event."""
    for native in ANY:
        verdict = read(DIALECT, native, specific(native, additionalContext="remember"))
        assert verdict == Verdict(context=("remember",)), native


SPEAKS_PLAINLY = {"UserPromptSubmit", "UserPromptExpansion", "SessionStart"}


def test_plain_text_is_context_for_a_prompt_and_a_start_only() -> None:
    """Elsewhere nobody reads it, and it is no failure."""
    for native in ANY:
        expected = ("branch: main",) if native in SPEAKS_PLAINLY else ()
        assert read(DIALECT, native, "branch: main\n") == Verdict(context=expected), native


@pytest.mark.parametrize("decision", ["allow", "deny", "ask", "defer"])
def test_a_tool_can_be_decided_in_four_ways(decision: Any) -> None:
    """The reason may stand beside the decision or above it."""
    fields = {"permissionDecision": decision}
    answer = specific("PreToolUse", **fields, permissionDecisionReason="because")
    assert read(DIALECT, "PreToolUse", answer) == Verdict(decision, "because")
    answer = {**specific("PreToolUse", **fields), "reason": "above"}
    assert read(DIALECT, "PreToolUse", answer) == Verdict(decision, "above")


@pytest.mark.parametrize("key", ["updatedToolOutput", "updatedMCPToolOutput"])
@pytest.mark.parametrize("output", ["clean", None, {"stdout": "clean"}])
def test_an_output_is_rewritten_with_anything(key: str, output: Any) -> None:
    """Also with nothing: that is not the same as leaving it alone."""
    assert read(DIALECT, "PostToolUse", specific("PostToolUse", **{key: output})).output == output
    assert read(DIALECT, "PostToolUse", specific("PostToolUse")).output is UNCHANGED


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"behavior": "allow"}, Verdict("allow")),
        (
            {"behavior": "allow", "updatedInput": {"command": "ls"}},
            Verdict("allow", tool_input={"command": "ls"}),
        ),
        ({"behavior": "deny", "message": "never"}, Verdict("deny", "never")),
        ({}, NOTHING),
    ],
)
def test_a_permission_request_has_a_form_of_its_own(decision: Data, expected: Verdict) -> None:
    """An object with a behaviour."""
    answer = specific("PermissionRequest", decision=decision)
    assert read(DIALECT, "PermissionRequest", answer) == expected


@pytest.mark.parametrize(
    "decision",
    [{"behavior": "deny", "message": 5}, {"behavior": "maybe"}, {"updatedInput": "ls"}, "deny"],
)
def test_a_permission_of_another_form_is_a_failure(decision: Any) -> None:
    """It must not break the verdicts of the other hooks."""
    answer = specific("PermissionRequest", decision=decision)
    verdict = read(DIALECT, "PermissionRequest", answer)
    assert "answered with a wrong 'hookSpecificOutput.decision" in verdict.warnings[0]
    assert read(DIALECT, "PermissionRequest", answer, fail_closed=True).decision == "deny"


def test_a_session_hook_can_open_the_conversation_and_name_it() -> None:
    """The message comes after the context."""
    answer = specific(
        "SessionStart",
        additionalContext="branch: main",
        initialUserMessage="Go on",
        sessionTitle="Fix the build",
    )
    expected = Verdict(context=("branch: main", "Go on"), title="Fix the build")
    assert read(DIALECT, "SessionStart", answer) == expected


def test_every_answer_can_stop_the_run_speak_to_the_person_and_be_quiet() -> None:
    """Whatever else it says."""
    answer = {"continue": False, "stopReason": "enough", "systemMessage": "m"}
    assert read(DIALECT, "PostToolUse", answer) == Verdict(stop="enough", notes=("m",))
    assert read(DIALECT, "PostToolUse", {"suppressOutput": True}) == Verdict(quiet=True)


def test_an_answer_for_another_event_is_a_failure() -> None:
    """A script that is registered twice may mix them up."""
    verdict = read(DIALECT, "PreToolUse", specific("PostToolUse", additionalContext="x"))
    assert verdict.context == ()
    assert "answered for 'PostToolUse', but was asked about 'PreToolUse'" in verdict.warnings[0]


@pytest.mark.parametrize(
    "printed",
    [
        {"decision": "perhaps"},
        {"reason": 5},
        {"hookSpecificOutput": "deny"},
        specific("PreToolUse", permissionDecision="maybe"),
        specific("PreToolUse", updatedInput="ls"),
        '{"decision": "block"',
    ],
)
def test_a_wrong_answer_is_an_open_gate_unless_the_hook_says_otherwise(printed: Any) -> None:
    """Half a denial is none."""
    assert read(DIALECT, "PreToolUse", printed).decision is None
    assert len(read(DIALECT, "PreToolUse", printed).warnings) == 1
    assert read(DIALECT, "PreToolUse", printed, fail_closed=True).decision == "deny"


DENY = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="R")
ALLOW = specific("PreToolUse", permissionDecision="allow")
BEFORE_A_TOOL: list[tuple[str, Any, Data, str | None]] = [
    ("deny", DENY, {}, "deny"),
    ("no reason", specific("PreToolUse", permissionDecision="deny"), {}, "deny"),
    ("an unknown key", {**DENY, "colour": "red"}, {}, "deny"),
    ("suppressOutput", {**DENY, "suppressOutput": True}, {}, "deny"),
    ("deny and stop", {**DENY, "continue": False, "stopReason": "x"}, {}, "deny"),
    ("systemMessage", {**DENY, "systemMessage": "x"}, {}, "deny"),
    ("ask", specific("PreToolUse", permissionDecision="ask"), {}, "ask"),
    ("allow", ALLOW, {}, "allow"),
    ("block, the older word", {"decision": "block", "reason": "no"}, {}, "deny"),
    ("approve, the older word", {"decision": "approve"}, {}, "allow"),
    ("both words", {**DENY, "decision": "approve"}, {}, "deny"),
    ("in the background", {"async": True, "decision": "block"}, {}, None),
    ("stop alone", {"continue": False}, {}, None),
    ("exit 2", "", {"code": 2, "stderr": "R"}, "deny"),
    ("exit 2, silent", "", {"code": 2}, "deny"),
    ("exit 2, allow", ALLOW, {"code": 2, "stderr": "R"}, "deny"),
    ("exit 1", "", {"code": 1, "stderr": "R"}, None),
    ("exit 1, deny", DENY, {"code": 1, "stderr": "R"}, "deny"),
    ("exit 1, allow", ALLOW, {"code": 1, "stderr": "R"}, None),
    ("exit 127", "", {"code": 127, "stderr": "R"}, None),
    ("killed", "", {"code": -9}, None),
    ("time-out", "", {"failure": "too slow", "timed_out": True}, None),
    ("broken JSON", '{"decision": "block"', {}, None),
    ("text before the JSON", 'note {"decision": "block"}', {}, None),
    ("a number that is none", '{"decision": "block", "n": NaN}', {}, None),
    ("wrong value", specific("PreToolUse", permissionDecision="maybe"), {}, None),
]


@pytest.mark.parametrize(
    ("printed", "fields", "expected"),
    [line[1:] for line in BEFORE_A_TOOL],
    ids=[line[0] for line in BEFORE_A_TOOL],
)
def test_an_answer_before_a_tool_means_what_the_program_makes_of_it(
    printed: Any, fields: Data, expected: str | None
) -> None:
    """Measured with the program; what looks like a denial there is none by itself."""
    assert read(DIALECT, "PreToolUse", printed, **fields).decision == expected


def test_a_permission_that_interrupts_ends_the_run() -> None:
    """A denial only."""
    denied = {"behavior": "deny", "message": "enough", "interrupt": True}
    verdict = read(DIALECT, "PermissionRequest", specific("PermissionRequest", decision=denied))
    assert verdict == Verdict("deny", "enough", stop="enough")
    allowed = {"behavior": "allow", "interrupt": True}
    verdict = read(DIALECT, "PermissionRequest", specific("PermissionRequest", decision=allowed))
    assert verdict == Verdict("allow")


# Written

DENIED = Verdict("deny", "no")
CHANGES: dict[str, Verdict] = {
    "PreToolUse": Verdict(tool_input={"command": "ls"}),
    "PermissionRequest": Verdict("allow", tool_input={"command": "ls"}),
    "PostToolUse": Verdict(output="[hidden]"),
    "UserPromptSubmit": Verdict(prompt="other"),
}
INJECTED = Verdict(context=("remember", "this"))
ASKED = Verdict("ask", "sure?")
BLOCK = {"decision": "block", "reason": "no"}
CANNOT = " (claude cannot ask a person here)"
HIDDEN = {
    "stdout": "[hidden]",
    "stderr": "",
    "interrupted": False,
    "isImage": False,
    "noOutputExpected": False,
}


def remember(native: str) -> Data:
    """The answer that adds context."""
    return specific(native, additionalContext="remember\n\nthis")


def refuse_prompt(native: str, reason: str) -> Data:
    """What is refused may hold a secret, and is not repeated on the screen."""
    hidden = specific(native, suppressOriginalPrompt=True)
    return {"decision": "block", "reason": reason, **hidden}


def decline(native: str) -> tuple[Data, Data, Data, Data]:
    """What a server asks the person is declined."""
    declined = specific(native, action="decline")
    return {"reason": "no", **declined}, {}, {}, {"reason": f"sure?{CANNOT}", **declined}


# What we print for a denial, a change, added context and a question.
WRITTEN: dict[str, tuple[Data, Data, Data, Data]] = {
    "PreToolUse": (
        specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"),
        specific("PreToolUse", updatedInput={"command": "ls"}),
        remember("PreToolUse"),
        specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?"),
    ),
    "PermissionRequest": (
        specific("PermissionRequest", decision={"behavior": "deny", "message": "no"}),
        specific(
            "PermissionRequest",
            decision={"behavior": "allow", "updatedInput": {"command": "ls"}},
        ),
        {},
        specific("PermissionRequest", decision={"behavior": "deny", "message": f"sure?{CANNOT}"}),
    ),
    "PostToolUse": (
        specific("PostToolUse", updatedToolOutput={**HIDDEN, "stdout": "no"}),
        specific("PostToolUse", updatedToolOutput=HIDDEN),
        remember("PostToolUse"),
        specific("PostToolUse", updatedToolOutput={**HIDDEN, "stdout": f"sure?{CANNOT}"}),
    ),
    "PostToolUseFailure": (
        specific("PostToolUseFailure", additionalContext="no"),
        {},
        remember("PostToolUseFailure"),
        specific("PostToolUseFailure", additionalContext=f"sure?{CANNOT}"),
    ),
    "UserPromptSubmit": (
        refuse_prompt("UserPromptSubmit", "no"),
        refuse_prompt(
            "UserPromptSubmit",
            "a hook changed this, and claude takes no changes at UserPromptSubmit",
        ),
        remember("UserPromptSubmit"),
        refuse_prompt("UserPromptSubmit", f"sure?{CANNOT}"),
    ),
    "UserPromptExpansion": (
        refuse_prompt("UserPromptExpansion", "no"),
        {},
        remember("UserPromptExpansion"),
        refuse_prompt("UserPromptExpansion", f"sure?{CANNOT}"),
    ),
    "SessionStart": (
        {"systemMessage": "no"},
        {},
        remember("SessionStart"),
        {"systemMessage": f"sure?{CANNOT}"},
    ),
    "Stop": (BLOCK, {}, {}, {"systemMessage": f"sure?{CANNOT}"}),
    "SubagentStart": (
        specific("SubagentStart", additionalContext="no"),
        {},
        remember("SubagentStart"),
        specific("SubagentStart", additionalContext=f"sure?{CANNOT}"),
    ),
    "SubagentStop": (BLOCK, {}, {}, {"systemMessage": f"sure?{CANNOT}"}),
    "PreCompact": (BLOCK, {}, {}, {"decision": "block", "reason": f"sure?{CANNOT}"}),
    "TaskCreated": (BLOCK, {}, {}, {"decision": "block", "reason": f"sure?{CANNOT}"}),
    "TaskCompleted": (BLOCK, {}, {}, {"decision": "block", "reason": f"sure?{CANNOT}"}),
    "TeammateIdle": (BLOCK, {}, {}, {"decision": "block", "reason": f"sure?{CANNOT}"}),
    "ConfigChange": (BLOCK, {}, {}, {"decision": "block", "reason": f"sure?{CANNOT}"}),
    "Elicitation": decline("Elicitation"),
    "ElicitationResult": decline("ElicitationResult"),
    "PreModelSwitch": (
        specific("PreModelSwitch", permissionDecision="deny", permissionDecisionReason="no"),
        {},
        {},
        specific(
            "PreModelSwitch",
            permissionDecision="deny",
            permissionDecisionReason=f"sure?{CANNOT}",
        ),
    ),
    "PostToolBatch": (
        {"systemMessage": "no"},
        {},
        remember("PostToolBatch"),
        {"systemMessage": f"sure?{CANNOT}"},
    ),
}


def test_each_action_at_each_event_has_one_answer() -> None:
    """Where the program cannot do it, the next stricter thing that it can."""
    for native in ANY:
        incoming = make_incoming("claude", native)
        verdicts = (DENIED, CHANGES.get(native, NOTHING), INJECTED, ASKED)
        printed = tuple(answer("claude", incoming, verdict) for verdict in verdicts)
        assert printed == WRITTEN.get(native, ({}, {}, {}, {})), native
        assert answer("claude", incoming, NOTHING) == {}, native


def test_a_stop_denies_the_tool_as_well() -> None:
    """`continue: false` alone lets it run and ends the turn only afterwards."""
    printed = answer("claude", make_incoming("claude", "PreToolUse"), Verdict(stop="enough"))
    assert printed == {
        **specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="enough"),
        "continue": False,
        "stopReason": "enough",
    }


@pytest.mark.parametrize("native", ["PostToolUse", "Stop", "PostToolBatch"])
def test_a_stop_elsewhere_ends_the_turn_and_denies_nothing(native: str) -> None:
    """At the end of a turn a denial would make the agent go on."""
    verdict = Verdict("deny" if native == "Stop" else None, "no", stop="enough")
    printed = answer("claude", make_incoming("claude", native), verdict)
    assert printed == {"continue": False, "stopReason": "enough"}


def test_a_stop_at_a_permission_interrupts() -> None:
    """Its answer has a word of its own for that."""
    printed = answer("claude", make_incoming("claude", "PermissionRequest"), Verdict(stop="enough"))
    decision = {"behavior": "deny", "message": "enough", "interrupt": True}
    assert printed == specific("PermissionRequest", decision=decision)


@pytest.mark.parametrize(
    ("verdict", "decision"),
    [
        (Verdict("allow", "fine"), {"behavior": "allow"}),
        (
            Verdict(tool_input={"command": "ls"}),
            {
                "behavior": "deny",
                "message": "a hook changed this without allowing it, "
                "and here one is not taken without the other",
            },
        ),
    ],
)
def test_a_permission_is_changed_only_by_allowing_it(verdict: Verdict, decision: Data) -> None:
    """The program has no other way to say so."""
    printed = answer("claude", make_incoming("claude", "PermissionRequest"), verdict)
    assert printed == specific("PermissionRequest", decision=decision)


def test_a_changed_object_is_sent_as_it_is() -> None:
    """It has the shape of the tool's result."""
    incoming = make_incoming("claude", "PostToolUse")
    printed = answer("claude", incoming, Verdict(output={**HIDDEN, "stdout": "***"}))
    assert printed == specific("PostToolUse", updatedToolOutput={**HIDDEN, "stdout": "***"})


@pytest.mark.parametrize("tool", ["Write", "Edit", "TaskCreate"])
def test_a_text_that_a_result_does_not_show_is_told_beside_it(tool: str) -> None:
    """Of these the model reads only that they succeeded."""
    incoming = read_recording("claude", f"PostToolUse.{tool}")
    printed = answer("claude", incoming, Verdict("deny", "fix line 3"))
    assert printed["hookSpecificOutput"]["additionalContext"] == "fix line 3"
    printed = answer("claude", read_recording("claude", "PostToolUse.Read"), Verdict(output="x"))
    assert "additionalContext" not in printed["hookSpecificOutput"]


@pytest.mark.parametrize("output", [{"other": 1}, ["a"], None])
def test_an_object_of_another_shape_is_shown_as_text(output: Any) -> None:
    """The program would ignore it, and show what was to be hidden."""
    printed = answer("claude", make_incoming("claude", "PostToolUse"), Verdict(output=output))
    shown = printed["hookSpecificOutput"]["updatedToolOutput"]
    assert shown.keys() == HIDDEN.keys()
    assert shown["stdout"] in ('{"other": 1}', '["a"]', "null")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("[hidden]", "[hidden]"),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
        ({"sum": 3}, '{"sum": 3}'),
    ],
)
def test_the_result_of_another_program_has_a_key_of_its_own(output: Any, expected: Any) -> None:
    """Tools of MCP servers."""
    incoming = read_recording(
        "claude", "PostToolUse", tool_name="mcp__demo__add", tool_response=[{"text": "3"}]
    )
    printed = answer("claude", incoming, Verdict(output=output))
    assert printed == specific("PostToolUse", updatedMCPToolOutput=expected)


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(str.strip)
inputs = st.dictionaries(words, words | st.integers() | st.lists(words, max_size=2), max_size=3)


@given(
    st.sampled_from(["deny", "ask", "allow", None]),
    words,
    st.none() | inputs,
    st.lists(words, max_size=2),
    st.lists(words, max_size=2),
)
def test_what_we_write_before_a_tool_reads_as_we_meant_it(
    decision: Any, reason: str, given_input: Data | None, context: list[str], notes: list[str]
) -> None:
    """Decision, reason, input, context and notes come back."""
    verdict = Verdict(
        decision, reason, tool_input=given_input, context=tuple(context), notes=tuple(notes)
    )
    printed = answer("claude", make_incoming("claude", "PreToolUse"), verdict)
    found = read(DIALECT, "PreToolUse", printed)
    assert found.decision == decision
    assert found.reason == (reason.strip() if decision == "deny" else reason if decision else None)
    assert found.tool_input == (None if decision == "deny" else given_input)
    assert found.context == (("\n\n".join(context),) if context else ())
    assert found.notes == (("\n".join(notes),) if notes else ())
