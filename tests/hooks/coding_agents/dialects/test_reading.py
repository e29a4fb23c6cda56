"""Reading what other agents tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Dialect,
    Keys,
    NativeEvent,
    Occasion,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex
from amplifier_hooks.coding_agents.dialects.reading import name_event, read_payload
from amplifier_hooks.external.incoming import Incoming, UnreadablePayload
from amplifier_hooks.external.verdicts import NOTHING
from tests.hooks.coding_agents.dialects.recordings import list_recordings, load_recording


def read_call(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call, by their names."""
    return {"tool_name": payload["tool"], "tool_input": payload["args"]}


def read_result(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The same when it has run."""
    return {**read_call(payload), "tool_result": {"output": payload["out"]}}


def find_parts(incoming: Incoming) -> tuple[dict[str, Any], ...]:
    """One call for each path."""
    paths = incoming.data["tool_input"].get("paths", ())
    return tuple({"tool_name": "Read", "tool_input": {"file_path": path}} for path in paths)


PLAIN = Dialect(
    name="plain",
    events={
        "before": NativeEvent((Occasion("tool:pre"),), lambda call: {}, TOOL, read_call),
        "after": NativeEvent((Occasion("tool:post"),), lambda call: {}, TOOL, read_result),
        "wonBefore": NativeEvent((Occasion("session:end"),), lambda call: {}, becomes="guest:won"),
        "FileLost.now": NativeEvent((), lambda call: {}),
        "odd": NativeEvent((), lambda call: {}, keys=Keys(session="other")),
    },
    build_common=lambda call: {},
    build_environment=lambda call: {},
    read_reply=lambda handler, call, reply: NOTHING,
    matches=matches_regex,
    timeout=60.0,
    tool_names={"Bash": "shell"},
    input_keys={"Bash": {"command": "line"}},
    keys=Keys(session="id", cwd="dir", transcript="log", call="call", agent="sub", parent="boss"),
    find_parts=find_parts,
)
CALL = {"id": "s-1", "tool": "shell", "args": {"line": "ls", "n": 1}}


def read(native: str, payload: Any) -> Incoming:
    """The payload as the agent would write it."""
    return read_payload(PLAIN, native, json.dumps(payload))


def test_a_tool_call_is_read_with_our_names() -> None:
    """Of the tool and of its input."""
    found = read("before", {**CALL, "call": "c-1"})
    data = {"tool_name": "Bash", "tool_input": {"command": "ls", "n": 1}, "tool_call_id": "c-1"}
    assert (found.event, found.data) == ("tool:pre", data)


def test_an_event_is_read_with_where_it_belongs() -> None:
    """By the names that the agent has for it."""
    where = {"dir": "/p", "log": "/t", "call": "c", "sub": "a", "boss": "b"}
    found = read("before", {**CALL, **where})
    assert (found.session_id, found.cwd, found.transcript) == ("s-1", "/p", "/t")
    assert (found.call_id, found.agent_id, found.parent_id) == ("c", "a", "b")
    assert found.payload == {**CALL, **where}


def test_what_is_missing_or_no_text_is_empty() -> None:
    """All but the session."""
    found = read("before", {**CALL, "dir": None, "log": 5, "call": {}, "sub": []})
    assert (found.cwd, found.transcript, found.call_id, found.agent_id) == ("", "", "", "")


def test_an_agent_without_a_folder_may_name_its_projects() -> None:
    """The first one is where it works."""
    assert read("before", {**CALL, "workspace_roots": ["/a", "/b"]}).cwd == "/a"
    assert read("before", {**CALL, "dir": "/p", "workspace_roots": ["/a"]}).cwd == "/p"
    for roots in ([], [5], "x", None):
        assert read("before", {**CALL, "workspace_roots": roots}).cwd == ""


def test_an_event_may_have_names_of_its_own_for_common_fields() -> None:
    """An agent that writes one event in another spelling."""
    assert read("odd", {"other": "s-2"}).session_id == "s-2"


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("before", "tool:pre"),
        ("wonBefore", "guest:won"),
        ("FileLost.now", "guest:file_lost_now"),
        ("odd", "guest:odd"),
    ],
)
def test_an_event_has_our_name_or_one_for_guests(native: str, expected: str) -> None:
    """What the row says, what it happens at, or its own name."""
    assert name_event(native, PLAIN.events[native]) == expected


def test_the_parts_of_a_call_are_found_before_it_runs() -> None:
    """Afterwards they have been judged."""
    given = {**CALL, "args": {"paths": ["a", "b"]}}
    paths = [part["tool_input"]["file_path"] for part in read("before", given).also]
    assert paths == ["a", "b"]
    assert read("after", {**given, "out": "x"}).also == ()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"nonsense",
        b"\xff\xfe",
        b"[1]",
        b"5",
        b"null",
        b'"text"',
        b'{"id": "s-1"',
        b"[" * 100_000,
        b'{"id": "s-1", "tool": "shell", "args": ' + b'{"a":' * 100_000 + b"}" * 100_001,
        b'{"id": "s-1", "n": ' + b"1" * 5000 + b"}",
        b"{}",
        b'{"id": 5}',
        b'{"id": ""}',
        b'{"id": "s-1"}',
        b'{"id": "s-1", "tool": "shell", "args": "ls"}',
        b'{"id": "s-1", "tool": "shell", "args": null}',
        b'{"id": "s-1", "tool": "", "args": {}}',
        b'{"id": "s-1", "tool": ["shell"], "args": {}}',
        b'{"id": "s-1", "tool": "shell", "args": {"paths": 5}}',
    ],
)
def test_what_is_no_event_of_the_agent_is_said_to_be_none(text: bytes) -> None:
    """At a gate that is a denial, so it must say whose and which event it was."""
    with pytest.raises(UnreadablePayload, match="plain before: "):
        read_payload(PLAIN, "before", text)


@pytest.mark.parametrize("error", [KeyError, IndexError, TypeError, ValueError, OverflowError])
def test_a_row_that_cannot_read_a_payload_says_so(error: type[Exception]) -> None:
    """Whatever it stumbles over."""

    def fail(payload: Mapping[str, Any]) -> dict[str, Any]:
        raise error("stumbled")

    row = replace(PLAIN.events["odd"], read_fields=fail, keys=None)
    broken = replace(PLAIN, events={"odd": row})
    with pytest.raises(UnreadablePayload, match=r"plain odd: cannot be read: .*stumbled"):
        read_payload(broken, "odd", '{"id": "s-1"}')


def test_an_unknown_event_is_refused_with_those_that_exist() -> None:
    """The command that is installed names the event."""
    with pytest.raises(UnreadablePayload, match="no event 'beforeTool'; it has before, after"):
        read("beforeTool", CALL)


# What holds for every agent

ROWS = [(agent, native) for agent, dialect in DIALECTS.items() for native in dialect.events]
KEYS = sorted(
    {
        key
        for agent in DIALECTS
        for name in list_recordings(agent)
        for key in load_recording(agent, name)
    }
)
keys = st.sampled_from([*KEYS, "command", "file_path", "path", "llmContent", "patch"])
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
leaves |= st.sampled_from(["Bash", "apply_patch", "bash", "*** Begin Patch\n", "\ud800", "1e999"])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(ROWS), st.dictionaries(keys, values, max_size=8), st.booleans())
def test_no_payload_can_break_its_reader(
    where: tuple[str, str], payload: dict[str, Any], whole: bool
) -> None:
    """It is an event of ours with data, or it is said to be unreadable."""
    dialect = DIALECTS[where[0]]
    row = dialect.events[where[1]]
    if whole:
        payload[(row.keys or dialect.keys).session] = "s-1"
    try:
        found = read_payload(dialect, where[1], json.dumps(payload))
    except UnreadablePayload as refused:
        found = None
        said = str(refused)
    if found is None:
        assert dialect.name in said
        return
    assert (found.event, found.native) == (name_event(where[1], row), where[1])
    assert isinstance(found.data, dict)
    for part in (found.data, *found.also) if row.matched == TOOL else ():
        assert isinstance(part["tool_name"], str)
        assert isinstance(part["tool_input"], dict)
