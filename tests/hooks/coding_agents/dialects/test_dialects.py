"""What holds for every event of every agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import events
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.answer import combine
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler, Reply
from amplifier_hooks.coding_agents.shell_hooks.dispatch import build_answers
from amplifier_hooks.coding_agents.shell_hooks.runner import encode_payload

ROWS = [(dialect.name, native) for dialect in DIALECTS.values() for native in dialect.events]
TOOL_EVENTS = {events.TOOL_PRE, events.TOOL_POST, events.TOOL_ERROR}

words = st.text(max_size=10)
keys = st.sampled_from(
    [
        "additionalContext",
        "async",
        "behavior",
        "continue",
        "decision",
        "hookEventName",
        "hookSpecificOutput",
        "llm_request",
        "message",
        "messages",
        "modifiedArgs",
        "permission",
        "permissionDecision",
        "reason",
        "stopReason",
        "suppressOutput",
        "systemMessage",
        "tool_input",
        "updatedInput",
        "updated_input",
        "user_message",
    ]
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | words
leaves |= st.sampled_from(["deny", "allow", "ask", "block", "PreToolUse"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=8,
)


def test_every_agent_has_its_dialect_under_its_name() -> None:
    """And Copilot two, for its two spellings."""
    names = {"claude", "codex", "gemini", "cursor", "copilot", "copilot-claude", "opencode"}
    assert set(DIALECTS) == names
    assert all(name == dialect.name for name, dialect in DIALECTS.items())


@pytest.mark.parametrize(("name", "native"), ROWS)
def test_every_row_stands_for_events_that_exist(name: str, native: str) -> None:
    """By their one name, so that they can be looked up."""
    for occasion in DIALECTS[name].events[native].occasions:
        assert occasion.event in events.ALL_EVENTS
        assert events.canonical(occasion.event) == occasion.event


@pytest.mark.parametrize(("name", "native"), ROWS)
def test_every_matcher_has_something_to_be_compared_with(name: str, native: str) -> None:
    """A tool at events of tools, a field of the payload elsewhere."""
    row = DIALECTS[name].events[native]
    data = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    matched = DIALECTS[name].list_matched(Call("", native, data, "s", "/"))
    about_tools = any(occasion.event in TOOL_EVENTS for occasion in row.occasions)
    assert all(isinstance(value, str) for value in matched)
    assert bool(matched) == (row.matched is not None)
    assert matched or not about_tools


def test_no_two_tools_have_one_name_in_a_dialect() -> None:
    """So that the table can be read from either side."""
    for dialect in DIALECTS.values():
        assert len(set(dialect.tool_names.values())) == len(dialect.tool_names)


@given(st.sampled_from(ROWS), st.dictionaries(keys, values, max_size=5), st.integers(0, 3))
def test_no_answer_of_a_hook_can_break_its_dialect(
    where: tuple[str, str], answer: dict[str, Any], code: int
) -> None:
    """A wrong value is a failure and never a crash; what comes out can be carried out."""
    dialect = DIALECTS[where[0]]
    handler = Handler(dialect=where[0], native=where[1], where="x", command="x")
    data = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_result": {"output": "x"}}
    for occasion in dialect.events[where[1]].occasions:
        call = Call(occasion.event, where[1], data, "s", "/")
        verdict = dialect.read_reply(handler, call, Reply(code, json.dumps(answer), "why"))
        answers = build_answers(occasion.event, data, combine([verdict, verdict]))
        assert all(isinstance(one, HookResult) for one in answers)


@given(st.sampled_from(ROWS), st.dictionaries(words, values, max_size=4), values)
def test_no_event_can_break_a_payload(
    where: tuple[str, str], data: dict[str, Any], odd: Any
) -> None:
    """Whatever an event carries, its hooks are asked."""
    dialect = DIALECTS[where[0]]
    names = [
        "tool_name",
        "tool_input",
        "tool_result",
        "error",
        "result",
        "messages",
        "response",
        "final_message",
    ]
    for occasion in dialect.events[where[1]].occasions:
        call = Call(occasion.event, where[1], {**data, **dict.fromkeys(names, odd)}, "s", "/")
        assert json.loads(encode_payload(dialect.build_payload(call)))
        assert all(isinstance(value, str) for value in dialect.list_matched(call))
