"""What all agents' tables are made of: rows, calls, hooks, replies and the fields of payloads."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    Dialect,
    Handler,
    NativeEvent,
    Occasion,
    Reply,
    build_reply,
    get_number,
    get_text,
    read_text,
    rename_keys,
    require_object,
    require_text,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex
from amplifier_hooks.external.verdicts import NOTHING
from tests.hooks.coding_agents.dialects.conversation import make_call, make_handler

PLAIN = Dialect(
    name="plain",
    events={
        "before": NativeEvent((Occasion("tool:pre"),), lambda call: {"input": call.input}, TOOL),
        "start": NativeEvent(
            (Occasion("session:start"),), lambda call: {"source": call.data.get("source")}, "source"
        ),
        "end": NativeEvent((Occasion("session:end"),), lambda call: {}),
    },
    build_common=lambda call: {"id": call.session_id, "input": "overwritten"},
    build_environment=lambda call: {},
    read_reply=lambda handler, call, reply: NOTHING,
    matches=matches_regex,
    timeout=60.0,
    timeouts={"end": 1.0},
    closed=frozenset({"before"}),
    tool_names={"Bash": "shell"},
    older_names={"sh": "Bash", "run": "Bash"},
    input_keys={"Bash": {"command": "line"}},
)


@pytest.mark.parametrize(
    ("occasion", "data", "expected"),
    [
        (Occasion("e"), {}, True),
        (Occasion("e"), {"success": False}, True),
        (Occasion("e", success=True), {}, True),
        (Occasion("e", success=True), {"success": True, "status": "success"}, True),
        (Occasion("e", success=True), {"success": False}, False),
        (Occasion("e", success=True), {"status": "error"}, False),
        (Occasion("e", success=True), {"error": None}, False),
        (Occasion("e", success=False), {"success": False}, True),
        (Occasion("e", success=False), {}, False),
        (Occasion("e", tools=frozenset({"Bash"})), {"tool_name": "Bash"}, True),
        (Occasion("e", tools=frozenset({"Bash"})), {"tool_name": "BashTool"}, False),
        (Occasion("e", tools=frozenset({"Bash"})), {}, False),
        (Occasion("e", tools=frozenset({"mcp__*"})), {"tool_name": "mcp__a__b"}, True),
        (Occasion("e", tools=frozenset({"mcp__*"})), {"tool_name": "my_mcp__a"}, False),
    ],
)
def test_an_occasion_is_an_event_of_certain_tools_and_outcomes(
    occasion: Occasion, data: dict[str, Any], expected: bool
) -> None:
    """What it leaves open, it takes in any form."""
    assert occasion.fits(data) is expected


def test_a_payload_has_the_common_fields_and_those_of_its_event() -> None:
    """The event's own are the more special ones."""
    call = make_call("before", {"tool_name": "Bash", "tool_input": {"command": "ls"}})
    assert PLAIN.build_payload(call) == {"id": "session-1", "input": {"command": "ls"}}


@pytest.mark.parametrize(
    ("native", "data", "expected"),
    [
        ("before", {"tool_name": "Bash"}, {"Bash", "shell", "sh", "run"}),
        ("before", {"tool_name": "Read"}, {"Read"}),
        ("before", {}, set()),
        ("start", {"source": "resume"}, {"resume"}),
        ("end", {"reason": "x"}, set()),
    ],
)
def test_a_matcher_is_compared_with_what_the_row_says(
    native: str, data: dict[str, Any], expected: set[str]
) -> None:
    """All names of a tool, a field of the event, or nothing."""
    assert set(PLAIN.list_matched(make_call(native, data))) == expected


def test_a_hook_fails_closed_if_it_or_its_agent_says_so() -> None:
    """The agent means commands only: a server that is down is no reason to block."""
    assert PLAIN.fails_closed(make_handler(PLAIN, "before"))
    assert not PLAIN.fails_closed(make_handler(PLAIN, "before", url="https://a.test"))
    assert not PLAIN.fails_closed(make_handler(PLAIN, "end"))
    assert PLAIN.fails_closed(make_handler(PLAIN, "end", fail_closed=True))


def test_an_event_happens_at_each_of_its_occasions_and_nowhere_else() -> None:
    """One that has none of ours is a row for guests only, and runs no hooks."""
    row = NativeEvent(
        (Occasion("tool:error"), Occasion("tool:post", success=False)), lambda call: {}
    )
    assert row.happens_at("tool:error", {})
    assert row.happens_at("tool:post", {"success": False})
    assert not row.happens_at("tool:post", {"success": True})
    assert not row.happens_at("tool:pre", {})
    silent = NativeEvent((), lambda call: {})
    dialect = replace(PLAIN, events={**PLAIN.events, "idle": silent})
    assert dialect.find_form("idle") is None
    assert dialect.list_events() == ["before", "start", "end"]


def test_an_event_that_a_dialect_does_not_know_may_be_its_variants() -> None:
    """An agent that takes events in two spellings has two tables."""
    variant = replace(PLAIN, name="variant", events={"Before": PLAIN.events["before"]})
    both = replace(PLAIN, variant=variant)
    assert both.find_form("before") is both
    assert both.find_form("Before") is variant
    assert both.find_form("BEFORE") is None
    assert PLAIN.find_form("Before") is None


def test_tools_and_inputs_are_translated_there_and_back() -> None:
    """A tool is recognized by any name that it ever had; what has no name of theirs keeps ours."""
    assert [PLAIN.recognize_tool(one) for one in ("shell", "sh", "run", "Bash")] == ["Bash"] * 4
    assert PLAIN.recognize_tool("other") == "other"
    assert [PLAIN.translate_tool(one) for one in ("Bash", "Delegate")] == ["shell", "Delegate"]
    theirs = PLAIN.translate_input("Bash", {"command": "ls", "timeout": 1})
    assert theirs == {"line": "ls", "timeout": 1}
    assert PLAIN.recognize_input("Bash", theirs) == {"command": "ls", "timeout": 1}
    assert PLAIN.recognize_input("Read", {"line": 1}) == {"line": 1}


def test_what_nobody_says_blocks_nobody() -> None:
    """Rows, hooks and replies are open, quiet and a success unless they say otherwise."""
    row = PLAIN.events["before"]
    assert (row.gate, row.noisy, row.powers, row.becomes) == (False, False, frozenset(), "")
    assert (PLAIN.get_timeout("before"), PLAIN.get_timeout("end")) == (60.0, 1.0)
    handler = Handler(dialect="claude", native="PreToolUse", where="x")
    assert (handler.fail_closed, handler.background, handler.once) == (False, False, False)
    assert (handler.lane, handler.matcher, handler.condition) == (None, None, None)
    assert Reply() == Reply(0, "", "", None, timed_out=False)
    with pytest.raises(FrozenInstanceError):  # it is evidence
        Reply(2, "", "no").code = 0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("target", "label"),
    [
        ({"command": "guard.sh"}, "guard.sh"),
        ({"url": "https://hooks.test/x"}, "https://hooks.test/x"),
        ({"args": ("guard", "--strict")}, "guard --strict"),
        ({"command": "guard", "args": ("guard", "--strict")}, "guard"),
        ({}, ""),
    ],
)
def test_a_person_knows_a_hook_by_what_it_runs(target: dict[str, Any], label: str) -> None:
    """The label stands in every message about the hook."""
    assert Handler(dialect="claude", native="PreToolUse", where="x", **target).label == label


def tell_result(**data: Any) -> Call:
    """The end of a call, with this data."""
    return Call("tool:post", "PostToolUse", data, "session-1", "/project")


def test_the_input_is_a_copy_and_an_earlier_hook_may_have_replaced_it() -> None:
    """In a lane each hook sees what the one before made of the input."""
    given = {"command": "ls"}
    call = tell_result(tool_name="Bash", tool_call_id="c-1", tool_input=given)
    assert (call.tool, call.tool_call_id, call.input) == ("Bash", "c-1", given)
    assert call.input is not given
    later = Call("e", "n", call.data, "s", "/", tool_input={"command": "pwd"})
    assert later.input == {"command": "pwd"}
    for other in (None, "ls", ["ls"], 7):  # hooks may rely on an object
        assert tell_result(tool_input=other).input == {}
    nothing = tell_result()
    assert (nothing.tool, nothing.tool_call_id, nothing.input) == ("", "", {})


def test_a_response_is_an_object_in_any_case() -> None:
    """A bare output counts as a success."""
    result = {"success": False, "output": None}
    assert tell_result(tool_result=result).response == result
    assert tell_result(tool_result="out").response == {"success": True, "output": "out"}
    assert tell_result().response == {"success": True, "output": None}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"error": {"type": "OSError", "message": "disk full"}}, "disk full"),
        ({"error": {"type": "OSError"}}, "{'type': 'OSError'}"),
        ({"error": "boom"}, "boom"),
        ({"tool_result": {"success": False, "error": "no such file"}}, "no such file"),
        ({"error": "first", "tool_result": {"error": "second"}}, "first"),
        ({}, ""),
    ],
)
def test_the_error_is_a_sentence_wherever_it_stands(data: dict[str, Any], expected: str) -> None:
    """Beside the result or in it, as a text or as an object."""
    assert tell_result(**data).error == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"final_message": {"content": "done"}}, "done"),
        ({"final_message": {"content": [{"text": "a"}, "odd", {"text": "b"}, {}]}}, "ab"),
        ({"result": {"output": "of the sub-agent"}}, "of the sub-agent"),
        ({"final_message": {}, "result": {"output": "other"}}, "other"),
        ({"final_message": "text"}, ""),
        ({"final_message": {"content": None}}, ""),
        ({}, ""),
    ],
)
def test_the_last_message_is_text_from_the_loop_or_from_a_sub_agent(
    data: dict[str, Any], expected: str
) -> None:
    """Blocks are joined, and what is no text is left out."""
    assert tell_result(**data).last_message == expected
    assert read_text(None) == read_text(7) == read_text([{"text": "a"}]) == ""


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (1, ""), (None, ""), (["a"], "")])
def test_what_is_no_text_counts_as_none(value: Any, text: str) -> None:
    """Nothing here depends on it."""
    assert get_text({"key": value}, "key") == text
    assert get_text({}, "key") == ""


@pytest.mark.parametrize("payload", [{}, {"key": 1}, {"key": None}, {"key": ["rm"]}])
def test_what_must_be_judged_must_be_readable(payload: dict[str, Any]) -> None:
    """The message names the key and what is there."""
    kind = type(payload.get("key")).__name__
    with pytest.raises(TypeError, match=f"'key' must be a text, got {kind}"):
        require_text(payload, "key")
    with pytest.raises(TypeError, match=f"'key' must be an object, got {kind}"):
        require_object(payload, "key")
    given = {"command": "ls"}
    assert require_text(given, "command") == "ls"
    found = require_object({"key": given}, "key")
    assert found == given
    assert found is not given  # a copy


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), (3.9, 3), (True, 0), ("3", 0), (None, 0), (float("inf"), 0), (float("nan"), 0)],
)
def test_a_number_is_whole(value: Any, number: int) -> None:
    """JSON has others, and Python reads even infinite ones."""
    assert get_number({"key": value}, "key") == number


def test_no_field_hides_behind_another_that_had_its_name() -> None:
    """What the tool will use wins, wherever the other one stands."""
    names = {"filePath": "file_path"}
    assert rename_keys({"filePath": "used", "file_path": "shown"}, names) == {"file_path": "used"}
    assert rename_keys({"file_path": "shown", "filePath": "used"}, names) == {"file_path": "used"}
    assert rename_keys({"a": 1}, names) == {"a": 1}


def test_an_answer_is_one_strict_object_without_what_is_none() -> None:
    """A key that an agent does not expect may void the rest, half a character the whole answer."""
    assert build_reply({"decision": "deny", "reason": None}) == Reply(stdout='{"decision": "deny"}')
    assert build_reply({"reason": None}) == Reply()  # silence means no opinion everywhere
    reply = build_reply({"reason": "half \ud800, whole \U0001f600"})
    assert json.loads(reply.stdout.encode()) == {"reason": "half ?, whole \U0001f600"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        build_reply({"args": {"limit": float("nan")}})
