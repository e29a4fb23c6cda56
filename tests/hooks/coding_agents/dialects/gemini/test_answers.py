"""Gemini CLI's answers: what it makes of a hook's reply, and how it is told a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coding_agents.dialects.gemini import DIALECT, EVENTS
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, read
from tests.hooks.coding_agents.dialects.recordings import answer, make_incoming, read_recording

ANY = sorted(EVENTS)
DENY = {"decision": "deny", "reason": "R"}
NEW = {"command": "ls"}


# What a reply means: section 1 of what was measured, line by line


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ({"printed": DENY}, "deny"),
        ({"printed": {"decision": "block", "reason": "R"}}, "deny"),
        ({"printed": {"decision": "deny"}}, "deny"),
        ({"printed": {**DENY, "unknown": 1}}, "deny"),
        ({"printed": {**DENY, "suppressOutput": True}}, "deny"),
        ({"printed": {**DENY, "continue": False, "stopReason": "S"}}, "deny"),
        ({"printed": {**DENY, "systemMessage": "M"}}, "deny"),
        ({"printed": {**DENY, "hookSpecificOutput": {"additionalContext": "C"}}}, "deny"),
        ({"printed": {**DENY, "systemMessage": 5, "hookSpecificOutput": "x"}}, "deny"),
        ({"printed": json.dumps(json.dumps(DENY))}, "deny"),
        ({"printed": DENY, "code": 1}, "deny"),
        ({"stderr": json.dumps(DENY)}, "deny"),
        ({"code": 2, "stderr": "R"}, "deny"),
        ({"code": 3, "stderr": "R"}, "deny"),
        ({"code": 127, "stderr": "R: not found"}, "deny"),
        ({"printed": {"decision": "ask"}}, "ask"),
        ({"printed": {"decision": "allow"}}, "allow"),
        ({"printed": {"decision": "allow"}, "code": 2, "stderr": "R"}, "allow"),
        ({"code": 2}, None),
        ({"code": 1, "stderr": "R"}, None),
        ({"code": -9, "stderr": "R"}, None),
        ({"failure": "It took too long", "timed_out": True}, None),
        ({"printed": '{"decision": "deny"'}, None),
        ({"printed": f"hello {json.dumps(DENY)}"}, None),
        ({"printed": {"decision": "perhaps"}}, None),
        ({"printed": {"decision": ["deny"]}}, None),
        ({"printed": "[]"}, None),
        ({"printed": "7", "code": 2}, None),
        ({"printed": {"permissionDecision": "deny"}}, None),
        ({"printed": {"hookSpecificOutput": {"permissionDecision": "deny"}}}, None),
    ],
)
def test_a_tool_is_denied_when_the_real_program_denies_it(reply: Data, decision: Any) -> None:
    """Neither more often nor less."""
    assert read(DIALECT, "BeforeTool", **reply).decision == decision


def test_code_2_is_a_denial_that_hides_the_result() -> None:
    """At every event; where there is no result, there is nothing to hide."""
    for native in ANY:
        verdict = read(DIALECT, native, code=2, stderr="no")
        assert verdict == Verdict("deny", "no", withhold=True), native


def test_text_is_for_the_person() -> None:
    """Standard error, where standard output is empty."""
    assert read(DIALECT, "BeforeTool", "careful").notes == ("careful",)
    assert read(DIALECT, "BeforeTool", stderr="careful").notes == ("careful",)
    assert read(DIALECT, "BeforeTool") == NOTHING


@pytest.mark.parametrize(
    "reply",
    [
        {"code": 1, "stderr": "oops"},
        {"code": 2},
        {"failure": "It took too long"},
        {"printed": '{"decision": '},
        {"printed": {"decision": "perhaps"}},
    ],
)
def test_a_failure_is_a_warning_unless_the_hook_says_otherwise(reply: Data) -> None:
    """A wrong answer is one, too."""
    verdict = read(DIALECT, "BeforeTool", **reply)
    assert (verdict.decision, len(verdict.warnings)) == (None, 1)
    assert read(DIALECT, "BeforeTool", **reply, fail_closed=True).decision == "deny"


def test_a_rewritten_input_replaces_the_old_one() -> None:
    """All of it, with our names of its fields."""
    output = {"hookSpecificOutput": {"tool_input": {"pattern": "x", "dir_path": "src"}}}
    grep = {**TOOL, "tool_name": "Grep"}
    assert read(DIALECT, "BeforeTool", output, data=grep).tool_input == {
        "pattern": "x",
        "path": "src",
    }
    assert read(DIALECT, "AfterTool", output).tool_input is None
    wrong = {"hookSpecificOutput": {"tool_input": "ls"}}
    assert read(DIALECT, "BeforeTool", wrong).tool_input is None


def test_an_output_cannot_be_rewritten() -> None:
    """The documentation says so, and nothing happens."""
    output = {"hookSpecificOutput": {"tool_output": "clean"}}
    assert read(DIALECT, "AfterTool", output).output is UNCHANGED


def test_context_is_taken_where_it_reaches_the_model() -> None:
    """Before a tool it is dropped."""
    for native in ANY:
        verdict = read(DIALECT, native, {"hookSpecificOutput": {"additionalContext": "C"}})
        takes = native in ("AfterTool", "BeforeAgent", "SessionStart")
        assert verdict.context == (("C",) if takes else ()), native


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            {"messages": [{"role": "model", "content": "a"}, {"role": "user", "content": "b"}]},
            [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}],
        ),
        ({"messages": []}, []),
        ({"messages": "all"}, None),
        ({"messages": [7]}, None),
        ({"model": "m-2"}, None),
        ("all", None),
    ],
)
def test_a_request_can_be_rewritten_if_its_messages_are_some(
    request_: Any, expected: list[Data] | None
) -> None:
    """With our names of the roles."""
    verdict = read(DIALECT, "BeforeModel", {"hookSpecificOutput": {"llm_request": request_}})
    assert verdict.messages == expected


def test_every_answer_can_stop_the_run_speak_to_the_person_and_be_quiet() -> None:
    """Whatever else it says."""
    said = {"continue": False, "stopReason": "enough", "systemMessage": "m"}
    verdict = read(DIALECT, "AfterTool", {**said, "suppressOutput": True})
    assert (verdict.stop, verdict.notes, verdict.quiet) == ("enough", ("m",), True)
    assert read(DIALECT, "AfterTool", {"continue": False}).stop == "A hook ended the run."


# How a verdict is told

DENIED = Verdict("deny", "no")
INJECTED = Verdict(context=("a", "b"))
ASKED = Verdict("ask", "Really?")
CHANGED = {
    "BeforeTool": Verdict(tool_input=NEW),
    "AfterTool": Verdict(output="clean"),
    "BeforeAgent": Verdict(prompt="other"),
    "BeforeModel": Verdict(messages=[{"role": "assistant", "content": "a"}]),
}


def refuse(reason: str) -> Data:
    """A denial in Gemini's words."""
    return {"decision": "deny", "reason": reason}


def specify(native: str, **fields: Any) -> Data:
    """The changes of an answer."""
    return {"hookSpecificOutput": {"hookEventName": native, **fields}}


def tell(text: str) -> Data:
    """A message for the person."""
    return {"systemMessage": text}


NO_QUESTION = "Really? (gemini cannot ask a person here)"
WRITTEN: dict[str, tuple[Data, Data, Data, Data]] = {
    # denied, changed, injected, asked
    "BeforeTool": (
        refuse("no"),
        specify("BeforeTool", tool_input=NEW),
        {},
        refuse(NO_QUESTION),
    ),
    "AfterTool": (
        refuse("no"),
        refuse("clean"),
        specify("AfterTool", additionalContext="a\n\nb"),
        refuse(NO_QUESTION),
    ),
    "BeforeAgent": (
        refuse("no"),
        refuse("a hook changed this, and gemini takes no changes at BeforeAgent"),
        specify("BeforeAgent", additionalContext="a\n\nb"),
        refuse(NO_QUESTION),
    ),
    "AfterAgent": (refuse("no"), {}, {}, tell(NO_QUESTION)),
    "BeforeModel": (
        refuse("no"),
        specify(
            "BeforeModel",
            llm_request={
                "model": "gemini-2.5-flash",
                "messages": [{"role": "model", "content": "a"}],
                "config": {"temperature": 1, "topP": 0.95, "topK": 64},
            },
        ),
        {},
        refuse(NO_QUESTION),
    ),
    "SessionStart": (
        tell("no"),
        {},
        specify("SessionStart", additionalContext="a\n\nb"),
        tell(NO_QUESTION),
    ),
}


def test_each_action_at_each_event_has_one_answer() -> None:
    """Where the program cannot do it, the next stricter thing that it can."""
    for native in ANY:
        incoming = make_incoming("gemini", native)
        verdicts = (DENIED, CHANGED.get(native, NOTHING), INJECTED, ASKED)
        printed = tuple(answer("gemini", incoming, verdict) for verdict in verdicts)
        assert printed == WRITTEN.get(native, (tell("no"), {}, {}, tell(NO_QUESTION))), native
        assert write_reply(DIALECT, incoming, NOTHING) == Reply(), native


def test_a_stop_denies_the_tool_as_well() -> None:
    """And ends the turn."""
    printed = answer("gemini", make_incoming("gemini", "BeforeTool"), Verdict(stop="enough"))
    assert printed == {"continue": False, "stopReason": "enough", **refuse("enough")}


def test_a_stop_at_the_end_of_a_turn_does_not_start_another() -> None:
    """A denial there means: go on."""
    assert answer("gemini", make_incoming("gemini", "AfterAgent"), Verdict(stop="enough")) == {}


def test_a_permission_is_not_told() -> None:
    """It has no effect."""
    incoming = make_incoming("gemini", "BeforeTool")
    printed = answer("gemini", incoming, Verdict("allow", notes=("a", "b")))
    assert printed == {"systemMessage": "a\nb"}


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("", "(no output)"),
        ([{"text": "a"}, {"text": "b"}], "a\nb"),
        ({"text": "a"}, "a"),
        ({"rows": 3}, '{"rows": 3}'),
        (None, "null"),
    ],
)
def test_what_replaces_a_result_is_told_as_the_reason(output: Any, shown: str) -> None:
    """It is all that the model gets to see."""
    printed = answer("gemini", make_incoming("gemini", "AfterTool"), Verdict(output=output))
    assert printed == refuse(shown)


def test_context_beside_a_denial_is_part_of_its_reason() -> None:
    """Gemini would drop it."""
    incoming = make_incoming("gemini", "AfterTool")
    printed = answer("gemini", incoming, Verdict("deny", "no", context=("remember",)))
    assert printed == refuse("no\n\nremember")


def test_changed_fields_go_out_under_their_names() -> None:
    """Ours would be refused."""
    given_ = {"pattern": "x", "dir_path": "src"}
    incoming = read_recording("gemini", "BeforeTool", tool_name="grep_search", tool_input=given_)
    assert incoming.data["tool_input"] == {"pattern": "x", "path": "src"}
    printed = answer("gemini", incoming, Verdict(tool_input={"pattern": "x", "path": "lib"}))
    assert printed == specify("BeforeTool", tool_input={"pattern": "x", "dir_path": "lib"})


words = st.text(max_size=20)
lines = words.filter(lambda text: bool(text.strip()))


@given(
    st.sampled_from([None, "deny", "allow", "ask"]),
    words,
    st.none() | st.dictionaries(words, st.integers() | words, max_size=3),
    st.lists(lines, max_size=2),
)
def test_what_is_told_before_a_tool_is_what_is_understood(
    decision: Any, reason: str, tool_input: Data | None, notes: list[str]
) -> None:
    """The decision, its reason, the input and what the person reads."""
    verdict = Verdict(decision, reason, tool_input=tool_input, notes=tuple(notes))
    printed = answer("gemini", make_incoming("gemini", "BeforeTool"), verdict)
    found = read(DIALECT, "BeforeTool", printed)
    denied = decision in ("deny", "ask")
    assert found.decision == ("deny" if denied else None)
    assert found.tool_input == (None if denied else tool_input)
    assert found.notes == (("\n".join(notes),) if notes else ())
    if decision == "deny":
        assert found.reason == (reason.strip() or "Blocked by a hook.")
