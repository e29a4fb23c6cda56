"""Copilot CLI's answers: what it makes of a hook's reply, and how it is told a verdict."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.copilot import CLAUDE_FORM, DIALECT
from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.conversation import Data, read
from tests.hooks.coding_agents.dialects.recordings import answer, make_incoming, read_recording
from tests.hooks.coding_agents.shell_hooks.hook_files import specific

ANY = sorted(DIALECT.events)
DENY = {"permissionDecision": "deny", "permissionDecisionReason": "R"}
IN_CLAUDES_PLACE = specific("PreToolUse", **DENY)
BLOCK = {"decision": "block", "reason": "R"}


# What a reply means: section 1 of what was measured, line by line, and what was tried since

REPLIES: list[tuple[Data, Any]] = [
    ({"printed": DENY}, "deny"),
    ({"printed": {"permissionDecision": "deny"}}, "deny"),
    ({"printed": {**DENY, "unknown": 1}}, "deny"),
    ({"printed": {**DENY, "continue": False, "stopReason": "S"}}, "deny"),
    ({"printed": {**DENY, "systemMessage": "M", "additionalContext": "C"}}, "deny"),
    ({"printed": {"permissionDecision": "deny", "permissionDecisionReason": 5}}, "deny"),
    ({"printed": {"permissionDecision": "ask"}}, "ask"),
    ({"printed": {"permissionDecision": "allow"}}, "allow"),
    ({"code": 2, "stderr": "R"}, "deny"),
    ({"code": 2}, "deny"),
    ({"code": 2, "printed": {"permissionDecision": "allow"}}, "deny"),
    ({"code": 1, "stderr": "R"}, "deny"),
    ({"code": 1, "printed": DENY}, "deny"),
    ({"code": 127, "stderr": "not found"}, "deny"),
    ({"code": -9}, "deny"),
    ({"failure": "It is gone"}, "deny"),
    ({"failure": "It took too long", "timed_out": True}, None),
    ({"failure": "Gone", "url": "https://a.test"}, None),
    ({"printed": {"continue": False}}, None),
    ({"printed": '{"permissionDecision": "deny"'}, None),
    ({"printed": 'hello {"permissionDecision": "deny"}'}, None),
    ({"printed": '{"permissionDecision": "deny", "permissionDecisionReason": "\\ud800"}'}, None),
    ({"printed": {"permissionDecision": "maybe"}}, None),
    ({"printed": {"permissionDecision": ["deny"]}}, None),
    ({"printed": BLOCK}, None),
    ({"printed": {"behavior": "deny", "message": "R"}}, None),
]


@pytest.mark.parametrize(("reply", "decision"), REPLIES)
@pytest.mark.parametrize(("form", "native"), [(DIALECT, "preToolUse"), (CLAUDE_FORM, "PreToolUse")])
def test_a_tool_is_denied_when_the_real_program_denies_it(
    form: Any, native: str, reply: Data, decision: Any
) -> None:
    """Neither more often nor less, in either spelling."""
    assert read(form, native, **reply).decision == decision


@pytest.mark.parametrize(
    ("printed", "decision"),
    [
        (IN_CLAUDES_PLACE, "deny"),
        ({"hookSpecificOutput": DENY}, "deny"),
        (specific("PostToolUse", **DENY), "deny"),
        ({**IN_CLAUDES_PLACE, "permissionDecision": "allow"}, "deny"),
        ({**specific("PreToolUse", permissionDecision="allow"), **DENY}, "allow"),
        ({"hookSpecificOutput": "deny", **DENY}, "deny"),
    ],
)
def test_claudes_place_for_an_answer_counts_in_claudes_spelling_only(
    printed: Data, decision: Any
) -> None:
    """There it wins; in the other one the tool runs."""
    assert read(CLAUDE_FORM, "PreToolUse", printed).decision == decision
    elsewhere = "deny" if printed.get("permissionDecision") == "deny" else None
    elsewhere = "allow" if printed.get("permissionDecision") == "allow" else elsewhere
    assert read(DIALECT, "preToolUse", printed).decision == elsewhere


def test_claudes_words_for_other_things_count_before_a_tool() -> None:
    """And at no other event."""
    output = specific("PreToolUse", updatedInput={"command": "ls"}, additionalContext="C")
    verdict = read(CLAUDE_FORM, "PreToolUse", output)
    assert (verdict.tool_input, verdict.context) == ({"command": "ls"}, ("C",))
    for native in ("PostToolUse", "UserPromptSubmit", "SessionStart"):
        assert read(CLAUDE_FORM, native, specific(native, additionalContext="C")) == NOTHING
    decision = {"behavior": "deny", "message": "R"}
    output = specific("PermissionRequest", decision=decision)
    assert read(CLAUDE_FORM, "PermissionRequest", output) == NOTHING


def test_code_2_blocks_a_tool_that_is_to_run_and_is_a_failure_elsewhere() -> None:
    """A prompt goes through, whatever the code."""
    for native in ANY:
        verdict = read(DIALECT, native, code=2, stderr="no")
        if native in ("preToolUse", "permissionRequest"):
            assert verdict == Verdict("deny", "no"), native
        else:
            assert verdict == Verdict(warnings=("Hook 'hook' exited with 2: no",)), native


def test_a_command_that_fails_before_a_tool_blocks_it() -> None:
    """Only there; a hook may ask for it elsewhere."""
    for native in ANY:
        expected = "deny" if native in ("preToolUse", "permissionRequest") else None
        assert read(DIALECT, native, code=1, stderr="oops").decision == expected, native
        assert read(DIALECT, native, failure="It is gone").decision == expected, native
        assert read(DIALECT, native, code=1, fail_closed=True).decision == "deny", native


@pytest.mark.parametrize(
    "reply",
    [
        {"printed": {"permissionDecision": "maybe"}},
        {"printed": '{"permissionDecision": '},
        {"failure": "It took too long", "timed_out": True},
    ],
)
def test_what_lets_a_tool_run_is_a_warning_unless_the_hook_says_otherwise(reply: Data) -> None:
    """A wrong answer and a timeout are no failures for Copilot."""
    verdict = read(DIALECT, "preToolUse", **reply)
    assert (verdict.decision, len(verdict.warnings)) == (None, 1)
    assert read(DIALECT, "preToolUse", **reply, fail_closed=True).decision == "deny"


def test_a_block_needs_a_reason() -> None:
    """Without one, nothing is blocked."""
    for native in sorted(set(ANY) - {"preToolUse", "permissionRequest"}):
        verdict = read(DIALECT, native, BLOCK)
        assert verdict == Verdict("deny", "R", withhold=native == "postToolUse"), native
        assert read(DIALECT, native, {"decision": "block"}) == NOTHING, native
        assert read(DIALECT, native, {"decision": "block", "reason": ""}) == NOTHING, native
        assert read(DIALECT, native, {"decision": "allow"}) == NOTHING, native


@pytest.mark.parametrize("behavior", ["allow", "deny"])
def test_a_permission_request_is_answered_with_a_behaviour(behavior: Any) -> None:
    """And a message."""
    said = {"behavior": behavior, "message": "because"}
    assert read(DIALECT, "permissionRequest", said) == Verdict(behavior, "because")
    assert read(CLAUDE_FORM, "PermissionRequest", said) == Verdict(behavior, "because")


def test_arguments_prompts_and_results_can_be_rewritten() -> None:
    """Each in its own shape; what has another is no change."""
    verdict = read(DIALECT, "preToolUse", {"modifiedArgs": {"command": "ls"}})
    assert verdict == Verdict(tool_input={"command": "ls"})
    verdict = read(DIALECT, "preToolUse", {"modifiedArgs": "*** Begin Patch"})
    assert verdict == Verdict(tool_input={"input": "*** Begin Patch"})
    assert read(DIALECT, "userPromptSubmitted", {"modifiedPrompt": "x"}).prompt == "x"
    assert read(DIALECT, "userPromptSubmitted", {"modifiedPrompt": 5}).prompt is None
    result = {"resultType": "success", "textResultForLlm": "clean"}
    assert read(DIALECT, "postToolUse", {"modifiedResult": result}).output == "clean"
    snake = {"result_type": "success", "text_result_for_llm": "clean"}
    assert read(CLAUDE_FORM, "PostToolUse", {"modifiedResult": snake}).output is UNCHANGED
    assert read(DIALECT, "postToolUse", {}).output is UNCHANGED


def test_a_wrong_word_does_not_undo_the_rest() -> None:
    """The arguments are changed all the same."""
    said = {"permissionDecision": "maybe", "modifiedArgs": {"command": "ls"}}
    verdict = read(DIALECT, "preToolUse", said)
    assert (verdict.tool_input, len(verdict.warnings)) == ({"command": "ls"}, 1)


def test_context_can_be_added_at_every_event() -> None:
    """And the output of the hook hidden."""
    for native in ANY:
        said = {"additionalContext": "remember", "suppressOutput": True}
        assert read(DIALECT, native, said) == Verdict(context=("remember",), quiet=True), native


# How a verdict is told

DENIED = Verdict("deny", "no")
INJECTED = Verdict(context=("a", "b"))
ASKED = Verdict("ask", "Really?")
ALLOWED = Verdict("allow")
NEW = {"command": "ls"}
CHANGED = {
    "preToolUse": Verdict(tool_input=NEW),
    "permissionRequest": Verdict(tool_input=NEW),
    "postToolUse": Verdict(output="clean"),
    "userPromptSubmitted": Verdict(prompt="other"),
}


def block(reason: str) -> Data:
    """A block in Copilot's words."""
    return {"decision": "block", "reason": reason}


def add(text: str) -> Data:
    """Context in Copilot's words."""
    return {"additionalContext": text}


NO_QUESTION = "Really? (copilot cannot ask a person here)"
WRITTEN: dict[str, tuple[Data, Data, Data, Data, Data]] = {
    # denied, changed, injected, asked, allowed
    "preToolUse": (
        {"permissionDecision": "deny", "permissionDecisionReason": "no"},
        {"modifiedArgs": NEW},
        add("a\n\nb"),
        {"permissionDecision": "ask", "permissionDecisionReason": "Really?"},
        {"permissionDecision": "allow"},
    ),
    "permissionRequest": (
        {"behavior": "deny", "message": "no"},
        {
            "behavior": "deny",
            "message": "a hook changed this, and copilot takes no changes at permissionRequest",
        },
        {},
        {"behavior": "deny", "message": NO_QUESTION},
        {"behavior": "allow"},
    ),
    "postToolUse": (
        block("no"),
        {"modifiedResult": {"resultType": "success", "textResultForLlm": "clean"}},
        add("a\n\nb"),
        block(NO_QUESTION),
        {},
    ),
    "postToolUseFailure": (add("no"), {}, add("a\n\nb"), add(NO_QUESTION), {}),
    "userPromptSubmitted": (
        block("no"),
        {"modifiedPrompt": "other"},
        add("a\n\nb"),
        block(NO_QUESTION),
        {},
    ),
    "agentStop": (block("no"), {}, {}, {}, {}),
    "subagentStart": (add("no"), {}, add("a\n\nb"), add(NO_QUESTION), {}),
    "subagentStop": (block("no"), {}, {}, {}, {}),
    "sessionStart": (add("no"), {}, add("a\n\nb"), add(NO_QUESTION), {}),
}
PASCAL = dict(zip(DIALECT.events, CLAUDE_FORM.events, strict=True))


def test_each_action_at_each_event_has_one_answer() -> None:
    """Where the program cannot do it, the next stricter thing that it can."""
    for native in ANY:
        incoming = make_incoming("copilot", native)
        verdicts = (DENIED, CHANGED.get(native, NOTHING), INJECTED, ASKED, ALLOWED)
        printed = tuple(answer("copilot", incoming, verdict) for verdict in verdicts)
        assert printed == WRITTEN.get(native, ({}, {}, {}, {}, {})), native
        assert write_reply(DIALECT, incoming, NOTHING) == Reply(), native


def test_the_other_spelling_is_answered_in_the_same_words() -> None:
    """They work there, too, and Claude's only before a tool."""
    for native in sorted(WRITTEN):
        other = PASCAL[native]
        incoming = make_incoming("copilot-claude", other)
        for verdict, expected in zip((DENIED, INJECTED), WRITTEN[native][::2], strict=False):
            printed = answer("copilot-claude", incoming, verdict)
            assert printed == expected, native


def test_a_stop_is_a_denial() -> None:
    """Copilot cannot end a turn."""
    printed = answer("copilot", make_incoming("copilot", "preToolUse"), Verdict(stop="enough"))
    assert printed == {"permissionDecision": "deny", "permissionDecisionReason": "enough"}
    assert answer("copilot", make_incoming("copilot", "agentStop"), Verdict(stop="enough")) == {}


def test_a_changed_patch_is_a_text_as_the_patch_was() -> None:
    """An object would be refused."""
    incoming = read_recording("copilot", "preToolUse.apply_patch")
    printed = answer("copilot", incoming, Verdict(tool_input={"input": "*** Begin Patch"}))
    assert printed == {"modifiedArgs": "*** Begin Patch"}


def test_changed_fields_go_out_under_their_names() -> None:
    """Ours would be refused."""
    verdict = Verdict(tool_input={"file_path": "b", "content": "x"})
    expected = {"modifiedArgs": {"path": "b", "file_text": "x"}}
    assert answer("copilot", read_recording("copilot", "preToolUse.create"), verdict) == expected
    incoming = read_recording("copilot-claude", "PreToolUse.Write")
    assert answer("copilot-claude", incoming, verdict) == expected


def test_context_beside_a_block_is_part_of_its_reason() -> None:
    """Copilot would drop it."""
    incoming = make_incoming("copilot", "postToolUse")
    printed = answer("copilot", incoming, Verdict("deny", "no", context=("remember",)))
    assert printed == block("no\n\nremember")


def test_a_changed_result_keeps_what_kind_it_was() -> None:
    """And is a text."""
    failed = {"resultType": "failure", "textResultForLlm": "k3y"}
    incoming = read_recording("copilot", "postToolUse", toolResult=failed)
    printed = answer("copilot", incoming, Verdict(output={"rows": 3}, context=("a",)))
    result = {"resultType": "failure", "textResultForLlm": '{"rows": 3}'}
    assert printed == {"modifiedResult": result, "additionalContext": "a"}


words = st.text(max_size=20)
lines = words.filter(lambda text: bool(text.strip()))
forms = st.sampled_from([("copilot", "preToolUse"), ("copilot-claude", "PreToolUse")])


@given(
    forms,
    st.sampled_from([None, "deny", "allow", "ask"]),
    words,
    st.none() | st.dictionaries(words, st.integers() | words, max_size=3),
    st.lists(lines, max_size=2),
)
def test_what_is_told_before_a_tool_is_what_is_understood(
    form: tuple[str, str],
    decision: Any,
    reason: str,
    tool_input: Data | None,
    context: list[str],
) -> None:
    """The decision, its reason, the input and what the model reads."""
    verdict = Verdict(decision, reason, tool_input=tool_input, context=tuple(context))
    printed = answer(form[0], make_incoming(*form), verdict)
    found = read(DIALECTS[form[0]], form[1], printed)
    assert found.decision == decision
    assert found.tool_input == (None if decision == "deny" else tool_input)
    assert found.context == (("\n\n".join(context),) if context else ())
    if decision == "deny":
        assert found.reason == (reason.strip() or "Blocked by a hook.")


CHANGES = {"postToolUse": "output", "userPromptSubmitted": "prompt"}
