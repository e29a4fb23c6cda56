"""What Cursor is answered, and what it makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.cursor import DIALECT, EVENTS, LONGEST_CONTEXT
from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coding_agents.dialects.writing import fit_verdict, write_reply
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.conversation import Data, make_call, make_handler
from tests.hooks.coding_agents.dialects.cursor.cursor_payloads import read_event
from tests.hooks.coding_agents.dialects.recordings import answer

NO: Data = {"permission": "deny", "user_message": "no", "agent_message": "no"}
SURE = "sure? (cursor cannot ask a person here)"


def refuse(reason: str) -> Data:
    """A refusal as the person and the agent read it."""
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


def refuse_change(native: str) -> Data:
    """What becomes of a change where none can be made."""
    return refuse(f"a hook changed this, and cursor takes no changes at {native}")


ACTIONS: dict[str, Verdict] = {
    "continue": Verdict(),
    "deny": Verdict("deny", "no"),
    "modify": Verdict(tool_input={"command": "ls"}),
    "inject_context": Verdict(context=("look", "here")),
    "ask_user": Verdict("ask", "sure?"),
}
CONTEXT: Data = {"additional_context": "look\n\nhere"}
NOTHING: dict[str, Data] = {action: {} for action in ACTIONS}
ANSWERS: dict[str, dict[str, Data]] = {
    "preToolUse": {
        **NOTHING,
        "deny": NO,
        "modify": {"updated_input": {"command": "ls"}},
        "ask_user": refuse(SURE),
    },
    **{
        native: {
            **NOTHING,
            "deny": NO,
            "modify": refuse_change(native),
            "ask_user": refuse(SURE),
        }
        for native in (
            "beforeMCPExecution",
            "beforeReadFile",
            "beforeShellExecution",
            "beforeTabFileRead",
            "subagentStart",
        )
    },
    "beforeSubmitPrompt": {
        **NOTHING,
        "deny": {"continue": False, "user_message": "no"},
        "modify": {
            "continue": False,
            "user_message": refuse_change("beforeSubmitPrompt")["user_message"],
        },
        "inject_context": CONTEXT,
        "ask_user": {"continue": False, "user_message": SURE},
    },
}
# At these events nothing can be asked or changed beforehand, so only what can happen is compared.
AFTERWARDS = ("continue", "deny", "inject_context")
SHOWN = "A hook changed this result, but Cursor had shown it already. It should read:"
STOPS: dict[str, Data] = {**NOTHING, "deny": {"followup_message": "no"}}
LATER: dict[str, dict[str, Data]] = {
    "postToolUse": {
        **NOTHING,
        "deny": {"additional_context": f"{SHOWN} no"},
        "inject_context": CONTEXT,
    },
    "preCompact": {**NOTHING, "deny": {"user_message": "no"}},
    "sessionStart": {**NOTHING, "deny": {"additional_context": "no"}, "inject_context": CONTEXT},
    "stop": STOPS,
    "subagentStop": STOPS,
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("native", sorted(ANSWERS))
def test_each_action_is_answered_in_cursors_words(native: str, action: str) -> None:
    """What it would not obey is a denial, where it can deny."""
    assert answer("cursor", read_event(native), ACTIONS[action]) == ANSWERS[native][action]


@pytest.mark.parametrize("action", AFTERWARDS)
@pytest.mark.parametrize("native", sorted(set(EVENTS) - set(ANSWERS)))
def test_what_is_over_can_only_be_remarked_on(native: str, action: str) -> None:
    """A stop that is denied goes on with the reason."""
    expected = LATER.get(native, NOTHING)[action]
    assert answer("cursor", read_event(native), ACTIONS[action]) == expected


def test_silence_is_written_out() -> None:
    """A hook that fails closed and prints nothing has failed."""
    for native in sorted(EVENTS):
        assert write_reply(DIALECT, read_event(native), Verdict()) == Reply(stdout="{}"), native


def test_an_allowance_skips_the_prompt() -> None:
    """The words that go with it are nobody's."""
    given = answer("cursor", read_event("preToolUse"), Verdict("allow", "fine"))
    assert given == {"permission": "allow"}
    assert answer("cursor", read_event("postToolUse"), Verdict("allow")) == {}


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({"content": [1]}, {"content": [1]}),
        ("hidden", {"content": [{"type": "text", "text": "hidden"}]}),
        ([1], {"content": [{"type": "text", "text": "[1]"}]}),
        (None, {"content": [{"type": "text", "text": "null"}]}),
    ],
)
def test_the_result_of_a_servers_tool_is_replaced(changed: Any, shown: Data) -> None:
    """In the form that results of such tools have."""
    incoming = read_event("postToolUse", tool_name="MCP:add")
    assert answer("cursor", incoming, Verdict(output=changed)) == {"updated_mcp_tool_output": shown}


def test_the_result_of_a_servers_tool_is_withheld() -> None:
    """The reason stands in its place."""
    incoming = read_event("postToolUse", tool_name="MCP:add")
    shown = {"content": [{"type": "text", "text": "no"}]}
    given = answer("cursor", incoming, Verdict("deny", "no", output="x"))
    assert given == {"updated_mcp_tool_output": shown}


def test_any_other_result_can_only_be_remarked_on() -> None:
    """Cursor takes no other in its place."""
    given = answer("cursor", read_event("postToolUse"), Verdict(output="x", context=("look",)))
    assert given == {"additional_context": f"{SHOWN} x\n\nlook"}


def test_a_message_for_the_person_is_shown_where_cursor_shows_one() -> None:
    """Before it compacts."""
    given = answer("cursor", read_event("preCompact"), Verdict(notes=("one", "two")))
    assert given == {"user_message": "one\ntwo"}


def test_context_is_cut_to_what_cursor_takes() -> None:
    """Of more it would take nothing."""
    given = answer("cursor", read_event("sessionStart"), Verdict(context=("x" * 20_000,)))
    assert given == {"additional_context": "x" * LONGEST_CONTEXT}


# Both ways

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
inputs = st.dictionaries(texts, texts | st.integers() | st.lists(texts, max_size=2), max_size=3)
verdicts = st.builds(
    Verdict,
    decision=st.sampled_from([None, "allow", "ask", "deny"]),
    reason=st.none() | texts,
    tool_input=st.none() | inputs,
    context=st.lists(texts, max_size=2).map(tuple),
    notes=st.lists(texts, max_size=2).map(tuple),
    stop=st.none() | texts,
)


def read_back(incoming: Incoming, reply: Reply) -> Verdict:
    """What Cursor makes of an answer."""
    handler = make_handler(DIALECT, incoming.native)
    return DIALECT.read_reply(handler, make_call(incoming.native), reply)


@given(st.sampled_from(sorted(EVENTS)), verdicts)
def test_cursor_reads_what_was_meant(native: str, verdict: Verdict) -> None:
    """Decision, reason, input, context and messages, as far as they can be told there."""
    incoming, powers = read_event(native), EVENTS[native].powers
    wanted = fit_verdict(DIALECT, incoming, verdict)
    found = read_back(incoming, write_reply(DIALECT, incoming, verdict))
    assert found.warnings == ()
    if powers & {"deny", "allow", "ask"}:
        decided = wanted.decision if wanted.decision in powers else None
        assert found.decision == decided
        if decided == "deny":
            assert found.reason == wanted.reason
    assert found.tool_input == wanted.tool_input
    if wanted.decision != "deny" and wanted.output is UNCHANGED:
        assert "\n\n".join(found.context) == "\n\n".join(wanted.context)
    if "tell" in powers:
        assert "\n".join(found.notes) == "\n".join(wanted.notes)
    assert found.output is UNCHANGED
