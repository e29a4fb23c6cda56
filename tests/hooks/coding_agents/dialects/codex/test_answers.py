"""What replies of Codex CLI's hooks mean, and what we reply to Codex."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.codex import DIALECT, EVENTS
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.conversation import Data, read
from tests.hooks.coding_agents.dialects.recordings import answer, make_incoming, read_recording
from tests.hooks.coding_agents.shell_hooks.hook_files import configure, make_command, specific
from tests.support.harness import Harness

ANY = sorted(EVENTS)
BLOCKS = sorted({"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"})
ADDS = sorted({"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SubagentStart"})


def test_code_2_is_a_denial_at_every_event() -> None:
    """With the error output as reason."""
    for native in ANY:
        verdict = read(DIALECT, native, code=2, stderr="no")
        assert (verdict.decision, verdict.reason) == ("deny", "no"), native


def test_code_2_without_a_word_is_a_failure() -> None:
    """Codex lets it pass."""
    for native in ANY:
        verdict = read(DIALECT, native, code=2, stderr=" \n")
        assert verdict.decision is None, native
        assert "exited with 2 and gave no reason" in verdict.warnings[0], native


def test_a_block_in_json_is_a_denial() -> None:
    """After a tool it takes the place of the result."""
    for native in BLOCKS:
        verdict = read(DIALECT, native, {"decision": "block", "reason": "no"})
        assert (verdict.decision, verdict.reason) == ("deny", "no"), native
        assert verdict.withhold == (native == "PostToolUse"), native


def test_elsewhere_it_voids_the_answer() -> None:
    """It is a key that these events do not have."""
    for native in sorted(set(ANY) - set(BLOCKS)):
        verdict = read(DIALECT, native, {"decision": "block", "reason": "no"})
        assert verdict.decision is None, native
        assert "answered with 'decision', which Codex rejects" in verdict.warnings[0], native


def test_context_can_be_added() -> None:
    """As with Claude."""
    for native in ADDS:
        answer = specific(native, additionalContext="remember")
        assert read(DIALECT, native, answer) == Verdict(context=("remember",)), native


REJECTED: list[tuple[Data, str]] = [
    (specific("PreToolUse", permissionDecision="deny"), "a deny without a reason"),
    (specific("PreToolUse", permissionDecision="ask"), "'permissionDecision: ask'"),
    (specific("PreToolUse", permissionDecision="allow"), "a bare 'allow'"),
    (specific("PreToolUse", updatedInput={}), "'updatedInput' without 'allow'"),
    ({"continue": False}, "'continue: false'"),
    ({"stopReason": "enough"}, "'stopReason'"),
    ({"suppressOutput": True}, "'suppressOutput'"),
    ({"decision": "approve"}, "'decision: approve'"),
    ({"decision": "block"}, "a block without a reason"),
    ({"decision": "block", "reason": " "}, "a block without a reason"),
    ({"decision": "block", "reason": "half \ud800"}, "half a character"),
    ({"decision": "block", "reason": "x", "colour": None}, "'colour'"),
    (
        {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "x"}},
        "no 'hookEventName'",
    ),
    (specific("PreToolUse", decision={"behavior": "deny"}), "'decision'"),
]
OF_TOOLS_ONLY = ["'continue: false'", "'stopReason'", "'suppressOutput'"]


@pytest.mark.parametrize(("answer", "what"), REJECTED)
def test_most_answers_before_a_tool_are_rejected(answer: Data, what: str) -> None:
    """Then it is as if the hook had failed."""
    verdict = read(DIALECT, "PreToolUse", answer)
    assert verdict == Verdict(warnings=(f"Hook 'hook' answered with {what}, which Codex rejects",))
    assert read(DIALECT, "PreToolUse", answer, fail_closed=True).decision == "deny"


@pytest.mark.parametrize("answer", [answer for answer, what in REJECTED if what in OF_TOOLS_ONLY])
def test_at_other_events_a_run_can_be_ended(answer: Data) -> None:
    """Only tools are so strict."""
    assert read(DIALECT, "Stop", answer).warnings == ()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="x"),
            Verdict("deny", "x"),
        ),
        (
            specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls"}),
            Verdict("allow", tool_input={"command": "ls"}),
        ),
        ({"systemMessage": "look"}, Verdict(notes=("look",))),
        ({"decision": "block", "reason": "x", "stopReason": None}, Verdict("deny", "x")),
        ({"decision": "block", "reason": "x", "continue": True}, Verdict("deny", "x")),
    ],
)
def test_a_denial_with_a_reason_and_a_rewrite_with_a_permission_are_accepted(
    answer: Data, expected: Verdict
) -> None:
    """And a message for the person."""
    assert read(DIALECT, "PreToolUse", answer) == expected


def test_a_rejected_answer_with_a_code_is_judged_by_the_code() -> None:
    """Codex reads the output of a success only."""
    assert read(DIALECT, "PreToolUse", {"continue": False}, code=2, stderr="no").decision == "deny"
    verdict = read(DIALECT, "PreToolUse", {"continue": False}, failure="It is gone")
    assert verdict.warnings == ("It is gone",)


@pytest.mark.parametrize("key", ["updatedToolOutput", "updatedMCPToolOutput"])
def test_no_output_can_be_rewritten(key: str) -> None:
    """Codex knows the keys and does not take them."""
    verdict = read(DIALECT, "PostToolUse", specific("PostToolUse", **{key: "x"}))
    assert verdict.output is UNCHANGED
    assert f"answered with {key!r}, which Codex rejects" in verdict.warnings[0]


@pytest.mark.parametrize("key", ["updatedInput", "interrupt", "updatedPermissions"])
def test_a_permission_says_yes_or_no_and_nothing_else(key: str) -> None:
    """What it cannot do yet is no permission."""
    answer = specific("PermissionRequest", decision={"behavior": "allow", key: {}})
    verdict = read(DIALECT, "PermissionRequest", answer)
    assert (verdict.decision, len(verdict.warnings)) == (None, 1)
    answer = specific("PermissionRequest", decision={"behavior": "deny", "message": "never"})
    assert read(DIALECT, "PermissionRequest", answer) == Verdict("deny", "never")


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="x"), "deny"),
        (specific("PreToolUse", permissionDecision="deny"), "continue"),
        (specific("PreToolUse", permissionDecision="ask"), "continue"),
        (specific("PreToolUse", permissionDecision="allow"), "continue"),
        ({"continue": False}, "continue"),
        ({"decision": "approve"}, "continue"),
        ({"suppressOutput": True}, "continue"),
        ({"decision": "block", "reason": "x"}, "deny"),
    ],
)
async def test_what_is_rejected_goes_ahead(
    harness: Harness, answer: dict[str, Any], action: str
) -> None:
    """From the file to the decision."""
    config = {**configure("PreToolUse", make_command(answer)), "dialect": "codex"}
    async with harness.mounted("shell", config):
        assert (await harness.pre("Bash", command="ls")).action == action


DENY = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="R")
REWRITE = specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls"})
BEFORE_A_TOOL: list[tuple[str, Any, Data, str | None]] = [
    ("deny", DENY, {}, "deny"),
    ("no reason", specific("PreToolUse", permissionDecision="deny"), {}, None),
    ("an unknown key", {**DENY, "colour": "red"}, {}, None),
    ("suppressOutput", {**DENY, "suppressOutput": True}, {}, None),
    ("deny and stop", {**DENY, "continue": False}, {}, None),
    ("deny and stopReason", {**DENY, "stopReason": "x"}, {}, None),
    ("systemMessage", {**DENY, "systemMessage": "x"}, {}, "deny"),
    (
        "deny and context",
        specific(
            "PreToolUse",
            permissionDecision="deny",
            permissionDecisionReason="R",
            additionalContext="c",
        ),
        {},
        "deny",
    ),
    ("ask", specific("PreToolUse", permissionDecision="ask"), {}, None),
    ("allow", specific("PreToolUse", permissionDecision="allow"), {}, None),
    ("rewrite", REWRITE, {}, "allow"),
    ("stop alone", {"continue": False}, {}, None),
    ("exit 2", "", {"code": 2, "stderr": "R"}, "deny"),
    ("exit 2, silent", "", {"code": 2}, None),
    ("exit 2, allow", REWRITE, {"code": 2, "stderr": "R"}, "deny"),
    ("exit 1", "", {"code": 1, "stderr": "R"}, None),
    ("exit 1, deny", DENY, {"code": 1, "stderr": "R"}, None),
    ("exit 127", "", {"code": 127, "stderr": "R"}, None),
    ("killed", "", {"code": -9}, None),
    ("time-out", "", {"failure": "too slow", "timed_out": True}, None),
    ("broken JSON", '{"decision": "block"', {}, None),
    ("text before the JSON", 'note {"decision": "block", "reason": "R"}', {}, None),
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
    """Measured with the program."""
    assert read(DIALECT, "PreToolUse", printed, **fields).decision == expected


# Written

CHANGES: dict[str, Verdict] = {
    "PreToolUse": Verdict(tool_input={"command": "ls", "description": "list"}),
    "PermissionRequest": Verdict("allow", tool_input={"command": "ls"}),
    "PostToolUse": Verdict(output="[hidden]"),
    "UserPromptSubmit": Verdict(prompt="other"),
}
BLOCK = {"decision": "block", "reason": "no"}
CANNOT = " (codex cannot ask a person here)"
ASKS = {"decision": "block", "reason": f"sure?{CANNOT}"}


def remember(native: str) -> Data:
    """The answer that adds context."""
    return specific(native, additionalContext="remember\n\nthis")


def permit(behavior: str, **more: str) -> Data:
    """The answer to a question of the program."""
    return specific("PermissionRequest", decision={"behavior": behavior, **more})


def refuse_change(native: str) -> str:
    """The reason where nothing can be changed."""
    return f"a hook changed this, and codex takes no changes at {native}"


# What we print for a denial, a change, added context and a question.
WRITTEN: dict[str, tuple[Data, Data, Data, Data]] = {
    "PreToolUse": (
        specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"),
        specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls"}),
        remember("PreToolUse"),
        specific(
            "PreToolUse", permissionDecision="deny", permissionDecisionReason=f"sure?{CANNOT}"
        ),
    ),
    "PermissionRequest": (
        permit("deny", message="no"),
        permit("deny", message=refuse_change("PermissionRequest")),
        {},
        permit("deny", message=f"sure?{CANNOT}"),
    ),
    "PostToolUse": (
        BLOCK,
        {"decision": "block", "reason": "[hidden]"},
        remember("PostToolUse"),
        ASKS,
    ),
    "UserPromptSubmit": (
        BLOCK,
        {"decision": "block", "reason": refuse_change("UserPromptSubmit")},
        remember("UserPromptSubmit"),
        ASKS,
    ),
    "SessionStart": (
        {"systemMessage": "no"},
        {},
        remember("SessionStart"),
        {"systemMessage": f"sure?{CANNOT}"},
    ),
    "SubagentStart": (
        specific("SubagentStart", additionalContext="no"),
        {},
        remember("SubagentStart"),
        specific("SubagentStart", additionalContext=f"sure?{CANNOT}"),
    ),
    "Stop": (BLOCK, {}, {}, {"systemMessage": f"sure?{CANNOT}"}),
    "SubagentStop": (BLOCK, {}, {}, {"systemMessage": f"sure?{CANNOT}"}),
}


def test_each_action_at_each_event_has_one_answer() -> None:
    """Where the program cannot do it, the next stricter thing that it can."""
    for native in ANY:
        incoming = make_incoming("codex", native)
        injected = Verdict(context=("remember", "this"))
        verdicts = (Verdict("deny", "no"), CHANGES.get(native, NOTHING), injected)
        printed = [answer("codex", incoming, one) for one in (*verdicts, Verdict("ask", "sure?"))]
        assert tuple(printed) == WRITTEN.get(native, ({}, {}, {}, {})), native
        assert answer("codex", incoming, NOTHING) == {}, native
        assert answer("codex", incoming, Verdict("allow")) == (
            permit("allow") if native == "PermissionRequest" else {}
        ), native


@pytest.mark.parametrize(
    ("native", "printed"),
    [
        (
            "PreToolUse",
            specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="enough"),
        ),
        ("PostToolUse", {"decision": "block", "reason": "enough"}),
        ("UserPromptSubmit", {"decision": "block", "reason": "enough"}),
        ("PermissionRequest", permit("deny", message="enough")),
        ("SessionStart", {"continue": False, "stopReason": "enough"}),
        ("Stop", {}),
    ],
)
def test_a_run_ends_where_it_begins_and_elsewhere_only_the_next_step(
    native: str, printed: Data
) -> None:
    """`continue: false` before a tool would let the tool run."""
    assert answer("codex", make_incoming("codex", native), Verdict(stop="enough")) == printed


@pytest.mark.parametrize(
    "changed",
    [{"command": "ls", "timeout": 5}, {"cmd": "ls"}, {"command": " "}, {"command": ["ls"]}, {}],
)
def test_a_shell_takes_a_command_and_nothing_else(changed: Data) -> None:
    """What it would ignore may have been what the hook wanted."""
    printed = answer("codex", make_incoming("codex", "PreToolUse"), Verdict(tool_input=changed))
    decision = printed["hookSpecificOutput"]
    assert decision["permissionDecision"] == "deny"
    assert decision["permissionDecisionReason"].endswith("Codex takes a command only")


def test_the_input_of_another_tool_is_handed_over_whole() -> None:
    """Tools of MCP servers."""
    incoming = read_recording(
        "codex", "PreToolUse", tool_name="mcp__demo__add", tool_input={"a": 1, "b": 2}
    )
    printed = answer("codex", incoming, Verdict(tool_input={"a": 1, "b": 3}))
    changed = specific("PreToolUse", permissionDecision="allow", updatedInput={"a": 1, "b": 3})
    assert printed == changed


@pytest.mark.parametrize(
    ("output", "reason"),
    [("[hidden]", "[hidden]"), ({"sum": 3}, '{"sum": 3}'), ("", "(no output)")],
)
def test_what_is_shown_instead_of_a_result_is_a_reason(output: Any, reason: str) -> None:
    """A block without one would be void."""
    printed = answer("codex", make_incoming("codex", "PostToolUse"), Verdict(output=output))
    assert printed == {"decision": "block", "reason": reason}


def test_a_denied_result_is_withheld_whatever_it_was_changed_to() -> None:
    """The denial is the stronger of the two."""
    verdict = Verdict("deny", "no", output="x")
    assert answer("codex", make_incoming("codex", "PostToolUse"), verdict) == BLOCK


def test_half_a_character_in_a_reason_does_not_void_the_denial() -> None:
    """The program would let the call pass."""
    verdict = Verdict("deny", "no \ud800 way")
    printed = answer("codex", make_incoming("codex", "PreToolUse"), verdict)
    assert read(DIALECT, "PreToolUse", printed) == Verdict("deny", "no ? way")


words = st.text(max_size=20)


@given(st.text(min_size=1, max_size=20).filter(str.strip), st.lists(words, max_size=2))
def test_a_changed_command_and_context_come_back(command: str, context: list[str]) -> None:
    """As Codex reads them."""
    verdict = Verdict(tool_input={"command": command}, context=tuple(context))
    printed = answer("codex", make_incoming("codex", "PreToolUse"), verdict)
    found = read(DIALECT, "PreToolUse", printed)
    whole = command.encode("utf-8", "replace").decode()
    assert (found.tool_input, found.decision) == ({"command": whole}, "allow")
    assert len(found.context) == bool("".join(context) or len(context) > 1)
