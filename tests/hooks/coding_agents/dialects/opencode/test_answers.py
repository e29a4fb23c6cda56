"""What OpenCode's plugin is answered, and what it makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coding_agents.dialects.opencode import DIALECT, EVENTS
from amplifier_hooks.coding_agents.dialects.writing import fit_verdict, write_reply
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Verdict
from tests.hooks.coding_agents.dialects.conversation import Data, make_call, make_handler, read
from tests.hooks.coding_agents.dialects.opencode.opencode_payloads import read_event
from tests.hooks.coding_agents.dialects.recordings import answer

ACTIONS: dict[str, Verdict] = {
    "continue": Verdict(),
    "deny": Verdict("deny", "no"),
    "modify": Verdict(tool_input={"command": "ls"}),
    "inject_context": Verdict(context=("look", "here")),
    "ask_user": Verdict("ask", "sure?"),
}
NO: Data = {"deny": "no"}
ASKED: Data = {"deny": "sure? (opencode cannot ask a person here)"}
CONTEXT: Data = {"context": ["look", "here"]}


def refuse_change(native: str) -> Data:
    """What becomes of a change where none can be made."""
    return {"deny": f"a hook changed this, and opencode takes no changes at {native}"}


ANSWERS: dict[str, dict[str, Data]] = {
    "tool.execute.before": {
        "continue": {},
        "deny": NO,
        "modify": {"args": {"command": "ls"}},
        "inject_context": {},
        "ask_user": ASKED,
    },
    "tool.execute.after": {
        "continue": {},
        "deny": NO,
        "modify": refuse_change("tool.execute.after"),
        "inject_context": CONTEXT,
        "ask_user": ASKED,
    },
    "command.execute.before": {
        "continue": {},
        "deny": NO,
        "modify": refuse_change("command.execute.before"),
        "inject_context": {},
        "ask_user": ASKED,
    },
    "experimental.session.compacting": {"continue": {}, "inject_context": CONTEXT},
}
QUIET: dict[str, Data] = {"continue": {}, "deny": {}, "inject_context": {}}


@pytest.mark.parametrize(
    ("native", "action"), [(native, action) for native in ANSWERS for action in ANSWERS[native]]
)
def test_each_action_is_answered_in_the_plugins_words(native: str, action: str) -> None:
    """What OpenCode cannot do is a denial."""
    assert answer("opencode", read_event(native), ACTIONS[action]) == ANSWERS[native][action]


@pytest.mark.parametrize("action", QUIET)
@pytest.mark.parametrize("native", sorted(name for name, row in EVENTS.items() if not row.powers))
def test_what_is_only_mentioned_cannot_be_changed(native: str, action: str) -> None:
    """So nothing is answered."""
    assert write_reply(DIALECT, read_event(native), ACTIONS[action]) == Reply()


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (Verdict("deny", "no"), NO),
        (Verdict(prompt="Test it"), {"prompt": "Test it"}),
        (Verdict(context=("look", "here")), CONTEXT),
        (Verdict("ask", "sure?"), ASKED),
        (Verdict(), {}),
    ],
)
def test_a_prompt_is_blocked_rewritten_or_added_to(verdict: Verdict, expected: Data) -> None:
    """The plugin throws, or changes the parts of the message."""
    assert answer("opencode", read_event("chat.message"), verdict) == expected


@pytest.mark.parametrize(
    ("changed", "shown"), [("hidden", "hidden"), ("", ""), ({"a": 1}, '{"a": 1}'), (None, "null")]
)
def test_a_result_is_replaced_by_a_text(changed: Any, shown: str) -> None:
    """Its tools return texts."""
    given = answer("opencode", read_event("tool.execute.after"), Verdict(output=changed))
    assert given == {"output": shown}


def test_fields_go_back_under_their_names() -> None:
    """OpenCode refuses a call that lacks a field."""
    tool = {"tool_name": "edit", "tool_input": {"filePath": "a", "oldString": "x"}}
    changed = Verdict(tool_input={"file_path": "b", "old_string": "x"})
    given = answer("opencode", read_event("tool.execute.before", **tool), changed)
    assert given == {"args": {"filePath": "b", "oldString": "x"}}


def test_a_failure_of_the_client_is_a_denial() -> None:
    """It ends with 2 at gates."""
    for native in sorted(EVENTS):
        assert read(DIALECT, native, code=2, stderr="no") == Verdict("deny", "no"), native
        assert read(DIALECT, native, "") == NOTHING, native
        assert read(DIALECT, native, {"deny": ""}).decision == "deny", native


# Both ways

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
inputs = st.dictionaries(texts, texts | st.integers() | st.lists(texts, max_size=2), max_size=3)
verdicts = st.builds(
    Verdict,
    decision=st.sampled_from([None, "allow", "ask", "deny"]),
    reason=st.none() | texts,
    tool_input=st.none() | inputs,
    prompt=st.none() | texts,
    output=st.just(UNCHANGED) | texts,
    context=st.lists(texts, max_size=2).map(tuple),
    stop=st.none() | texts,
)


@given(st.sampled_from(sorted(EVENTS)), verdicts)
def test_the_plugin_reads_what_was_meant(native: str, verdict: Verdict) -> None:
    """All of it, or a denial alone."""
    incoming, powers = read_event(native), EVENTS[native].powers
    wanted = fit_verdict(DIALECT, incoming, verdict)
    reply = write_reply(DIALECT, incoming, verdict)
    found = DIALECT.read_reply(make_handler(DIALECT, native), make_call(native), reply)
    assert found.warnings == ()
    if "deny" in powers and wanted.decision == "deny":
        assert (found.decision, found.reason) == ("deny", wanted.reason)
        return
    assert found.decision is None
    assert (found.tool_input, found.prompt) == (wanted.tool_input, wanted.prompt)
    assert (found.context, found.output) == (wanted.context, wanted.output)
