"""The table of an agent's events, and what is read from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Dialect,
    NativeEvent,
    Occasion,
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


def test_an_event_happens_at_each_of_its_occasions() -> None:
    """And nowhere else."""
    row = NativeEvent(
        (Occasion("tool:error"), Occasion("tool:post", success=False)), lambda call: {}
    )
    assert row.happens_at("tool:error", {})
    assert row.happens_at("tool:post", {"success": False})
    assert not row.happens_at("tool:post", {"success": True})
    assert not row.happens_at("tool:pre", {})


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


def test_a_tool_without_a_name_of_theirs_keeps_ours() -> None:
    """Tools that only we have."""
    assert PLAIN.translate_tool("Bash") == "shell"
    assert PLAIN.translate_tool("Delegate") == "Delegate"


def test_an_event_may_have_a_time_limit_of_its_own() -> None:
    """The end of a session waits for nobody."""
    assert (PLAIN.get_timeout("before"), PLAIN.get_timeout("end")) == (60.0, 1.0)


def test_a_hook_fails_closed_if_it_or_its_agent_says_so() -> None:
    """The agent means commands only: a server that is down is no reason to block."""
    assert PLAIN.fails_closed(make_handler(PLAIN, "before"))
    assert not PLAIN.fails_closed(make_handler(PLAIN, "before", url="https://a.test"))
    assert not PLAIN.fails_closed(make_handler(PLAIN, "end"))
    assert PLAIN.fails_closed(make_handler(PLAIN, "end", fail_closed=True))


def test_an_event_that_a_dialect_does_not_know_may_be_its_variants() -> None:
    """An agent that takes events in two spellings has two tables."""
    variant = replace(PLAIN, name="variant", events={"Before": PLAIN.events["before"]})
    both = replace(PLAIN, variant=variant)
    assert both.find_form("before") is both
    assert both.find_form("Before") is variant
    assert both.find_form("BEFORE") is None
    assert PLAIN.find_form("Before") is None


@pytest.mark.parametrize("theirs", ["shell", "sh", "run", "Bash"])
def test_a_tool_is_recognized_by_any_name_that_it_ever_had(theirs: str) -> None:
    """The newest one is the one that it is called by."""
    assert PLAIN.recognize_tool(theirs) == "Bash"
    assert PLAIN.translate_tool("Bash") == "shell"
    assert PLAIN.recognize_tool("other") == "other"


def test_an_input_is_translated_there_and_back() -> None:
    """Fields that have no name of theirs keep ours."""
    theirs = PLAIN.translate_input("Bash", {"command": "ls", "timeout": 1})
    assert theirs == {"line": "ls", "timeout": 1}
    assert PLAIN.recognize_input("Bash", theirs) == {"command": "ls", "timeout": 1}
    assert PLAIN.recognize_input("Read", {"line": 1}) == {"line": 1}


def test_an_event_that_we_do_not_have_runs_no_hooks() -> None:
    """It is a row for guests only."""
    silent = NativeEvent((), lambda call: {})
    dialect = replace(PLAIN, events={**PLAIN.events, "idle": silent})
    assert dialect.find_form("idle") is None
    assert dialect.list_events() == ["before", "start", "end"]


def test_a_row_is_open_quiet_and_without_power_unless_it_says_otherwise() -> None:
    """So a forgotten column blocks nobody's agent."""
    row = PLAIN.events["before"]
    assert (row.gate, row.noisy, row.powers, row.becomes) == (False, False, frozenset(), "")
