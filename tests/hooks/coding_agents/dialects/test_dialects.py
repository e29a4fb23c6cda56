"""What holds for every event of every agent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import events
from amplifier_core.event_names import find_meant
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.answer import combine
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler, Reply
from amplifier_hooks.coding_agents.dialects.reading import name_event
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.coding_agents.shell_hooks.module import build_answers
from amplifier_hooks.coding_agents.shell_hooks.runner import encode_payload
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.dialects.conversation import make_call
from tests.hooks.coding_agents.dialects.cursor.cursor_payloads import COMMON
from tests.hooks.coding_agents.dialects.cursor.cursor_payloads import PAYLOADS as CURSOR_PAYLOADS
from tests.hooks.coding_agents.dialects.opencode.opencode_payloads import LEAST
from tests.hooks.coding_agents.dialects.recordings import (
    list_recordings,
    load_recording,
    read_damaged,
)

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


def test_every_row_stands_for_events_that_exist() -> None:
    """By their one name; and a person who registers a hook for an agent's event is told ours."""
    told = 0
    for name, native in ROWS:
        occasions = DIALECTS[name].events[native].occasions
        for occasion in occasions:
            assert occasion.event in events.ALL_EVENTS, native
            assert events.canonical(occasion.event) == occasion.event, native
        if occasions:
            told += 1
            assert find_meant(native) == occasions[0].event, (name, native)
    assert told > 50


def test_every_matcher_has_something_to_be_compared_with() -> None:
    """A tool at events of tools, a field of the payload elsewhere."""
    data = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    for name, native in ROWS:
        row = DIALECTS[name].events[native]
        matched = DIALECTS[name].list_matched(Call("", native, data, "s", "/"))
        about_tools = any(occasion.event in TOOL_EVENTS for occasion in row.occasions)
        assert all(isinstance(value, str) for value in matched), native
        assert bool(matched) == (row.matched is not None), native
        assert matched or not about_tools, native


GATES: dict[str, set[str]] = {
    "claude": {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "UserPromptExpansion"},
    "codex": {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "PostToolUse"},
    "opencode": {
        "tool.execute.before",
        "tool.execute.after",
        "chat.message",
        "command.execute.before",
    },
    "cursor": {
        name
        for name, row in DIALECTS["cursor"].events.items()
        if "deny" in row.powers and name not in ("stop", "subagentStop")
    },
}
"""Those of the others stand in the tables of their powers."""


def test_gates_are_the_events_before_something_happens_or_is_shown() -> None:
    """A guard that cannot be asked must not make an agent go on for ever, or never start."""
    for agent in GATES:
        rows = DIALECTS[agent].events
        assert {native for native, row in rows.items() if row.gate} == GATES[agent], agent
        if agent == "opencode":
            assert GATES[agent] == {
                native for native, row in rows.items() if "deny" in row.powers
            }, agent


@pytest.mark.parametrize(
    ("agent", "noisy"),
    [
        ("claude", {"MessageDisplay", "PostToolBatch"}),
        ("codex", {"PreModelRequest"}),
    ],
)
def test_what_comes_with_every_message_is_not_listened_to_unasked(
    agent: str, noisy: set[str]
) -> None:
    """And what was told already; what a request cost is worth a call, for budgets."""
    assert {native for native, row in DIALECTS[agent].events.items() if row.noisy} == noisy


PROJECT = {"CLAUDE_PROJECT_DIR": "/project"}
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "claude": {**PROJECT, "CLAUDE_CODE_SESSION_ID": "session-1", "CLAUDECODE": "1"},
    "copilot": {**PROJECT, "COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/project"},
    "copilot-claude": {**PROJECT, "COPILOT_CLI": "1", "COPILOT_PROJECT_DIR": "/project"},
    "cursor": {**PROJECT, "CURSOR_PROJECT_DIR": "/project"},
    "gemini": {
        **PROJECT,
        "GEMINI_PROJECT_DIR": "/project",
        "GEMINI_SESSION_ID": "session-1",
        "GEMINI_CWD": "/project",
    },
    "opencode": {},
}


def test_scripts_find_the_project_in_their_environment() -> None:
    """Under the names of their agent and of Claude; a plugin looks nothing up."""
    for agent in ENVIRONMENTS:
        assert DIALECTS[agent].build_environment(make_call("any")) == ENVIRONMENTS[agent], agent


@pytest.mark.parametrize(
    ("agent", "native", "seconds"),
    [
        ("claude", "PreToolUse", 600.0),
        ("claude", "UserPromptSubmit", 30.0),
        ("claude", "SessionEnd", 1.5),
        ("codex", "PreToolUse", 600.0),
        ("codex", "SessionEnd", 1.0),
        ("codex", "Interrupt", 1.0),
    ],
)
def test_an_event_has_the_time_that_the_program_gives_it(
    agent: str, native: str, seconds: float
) -> None:
    """The end of a session waits for nobody."""
    assert DIALECTS[agent].get_timeout(native) == seconds


@pytest.mark.parametrize(
    ("agent", "native"), [("claude", "Stop"), ("copilot", "agentStop"), ("gemini", "AfterAgent")]
)
def test_a_hook_learns_that_it_kept_the_agent_working_before(agent: str, native: str) -> None:
    """So that it does not do so for ever."""
    payload = DIALECTS[agent].build_payload(make_call(native, {}, blocked_stops=1))
    assert payload["stop_hook_active"] is True


@pytest.mark.parametrize(
    ("agent", "names", "fields"),
    [
        (
            "claude",
            {
                "Todo": "TodoWrite",
                "Delegate": "Agent",
                **{one: one for one in ("Bash", "Read", "Write", "Edit", "Glob", "Grep")},
            },
            {"agent_name": "subagent_type", "task": "prompt"},
        ),
        ("codex", {"Delegate": "spawn_agent"}, {"agent_name": "task_name", "task": "message"}),
    ],
)
def test_tools_and_fields_have_the_names_that_scripts_look_for(
    agent: str, names: dict[str, str], fields: dict[str, str]
) -> None:
    """In both directions."""
    dialect = DIALECTS[agent]
    assert {one: dialect.translate_tool(one) for one in names} == names
    assert {dialect.recognize_tool(theirs): theirs for theirs in names.values()} == names
    task = {ours: f"the {ours}" for ours in fields}
    told = {theirs: f"the {ours}" for ours, theirs in fields.items()}
    assert dialect.translate_input("Delegate", task) == told
    assert dialect.recognize_input("Delegate", told) == task
    assert dialect.recognize_input("Bash", {"command": "ls"}) == {"command": "ls"}


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


WHOLE = [
    (agent, name.split(".")[0], load_recording(agent, name))
    for agent in ("claude", "codex", "copilot", "copilot-claude", "gemini")
    for name in list_recordings(agent)
]
WHOLE += [("cursor", name, {**COMMON, **one}) for name, one in CURSOR_PAYLOADS.items()]
WHOLE += [("opencode", name, LEAST) for name in DIALECTS["opencode"].events]


@given(st.sampled_from(WHOLE), st.data())
def test_no_damaged_payload_breaks_its_reader(
    whole: tuple[str, str, dict[str, Any]], data: st.DataObject
) -> None:
    """It is read as the event that it is, or refused in one way; and it can be denied."""
    agent, native, payload = whole
    incoming = read_damaged(DIALECTS[agent], native, payload, data)
    if incoming is None:
        return
    assert incoming.event == name_event(native, DIALECTS[agent].events[native])
    assert incoming.session_id
    assert isinstance(incoming.data, dict)
    reply = write_reply(DIALECTS[agent], incoming, Verdict("deny", "no"))
    assert reply.code == 0 or "deny" in DIALECTS[agent].events[native].powers
