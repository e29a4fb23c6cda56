"""The bodies of records: how they stand in a line, and what is read from any line."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.records import (
    HANDED_OVER_TO,
    TYPES,
    UNNAMED,
    ApprovalDecided,
    ApprovalOutcome,
    Body,
    ConfigurationChanged,
    DispatchRecorded,
    ErrorNoted,
    HookAnswer,
    HookRegistered,
    InjectionAccepted,
    InjectionUnused,
    Other,
    ToolFinished,
    ToolStarted,
    parse_body,
    plain,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
KINDS = st.sampled_from(sorted(TYPES))


@st.composite
def make_lines(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A type, and a body with its fields and others, of any type."""
    kind = draw(KINDS)
    names = [one.name for one in fields(TYPES[kind])]  # type: ignore[arg-type]
    return kind, draw(st.dictionaries(st.sampled_from([*names, "other"]), JSON))


def test_every_body_is_found_by_its_type() -> None:
    """No two have the same."""
    assert all(body.type == kind for kind, body in TYPES.items())


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            ToolStarted(tool="Bash", id="c1", digest="d", gated=False),
            {"tool": "Bash", "id": "c1", "digest": "d", "gated": False},
        ),
        (
            ToolFinished(tool="Bash", id=None, outcome="raised", ms=3),
            {"tool": "Bash", "id": None, "outcome": "raised", "ms": 3},
        ),
        (
            ToolFinished(id="c1", outcome="not claimed", success=False),
            {"id": "c1", "outcome": "not claimed", "success": False},
        ),
        (
            HookRegistered(priority=1, on_error="deny", timeout=None, module="m", kind="hooks"),
            {"priority": 1, "on_error": "deny", "timeout": None, "kind": "hooks", "module": "m"},
        ),
        (
            DispatchRecorded(
                action="deny",
                hooks=(
                    HookAnswer("a", 1, "continue", 0.0, shadowed="deny"),
                    HookAnswer("b", 2, "deny", 1.5, reason="no", error="E: x", timed_out=False),
                ),
                data={"b": 1, "a": 2},
                judged_again=True,
                reason="no",
            ),
            {
                "action": "deny",
                "hooks": [
                    {"hook": "a", "id": 1, "action": "continue", "ms": 0.0, "shadowed": "deny"},
                    {
                        "hook": "b",
                        "id": 2,
                        "action": "deny",
                        "ms": 1.5,
                        "reason": "no",
                        "error": "E: x",
                        "timed_out": False,
                    },
                ],
                "data": {"b": 1, "a": 2},
                "judged_again": True,
                "reason": "no",
            },
        ),
        (
            InjectionUnused(
                role="user", bytes=1, tokens=1, ephemeral=True, text="x", why="y", fault=False
            ),
            {
                "role": "user",
                "bytes": 1,
                "tokens": 1,
                "ephemeral": True,
                "text": "x",
                "why": "y",
                "fault": False,
            },
        ),
        (ErrorNoted(why="w", text="t"), {"why": "w", "text": "t"}),
        (
            ConfigurationChanged(what="bundle", mounted=(), unmounted=("a",)),
            {"what": "bundle", "mounted": [], "unmounted": ["a"]},
        ),
        (Other(type="x", members={"a": 1}), {"a": 1}),
    ],
)
def test_a_body_stands_in_its_line_as_it_always_did(body: Body, line: dict[str, Any]) -> None:
    """The same members in the same order: what is left out, and what is null."""
    assert list(body.to_dict().items()) == list(line.items())
    assert parse_body(body.type, line) == body


@given(make_lines())
def test_whatever_a_line_holds_every_field_has_its_type(line: tuple[str, dict[str, Any]]) -> None:
    """A forged line, or one of another version, is read like all others."""
    kind, members = line
    body = parse_body(kind, members)
    assert type(body) is TYPES[kind]
    again = parse_body(kind, body.to_dict())
    assert again == body


@pytest.mark.parametrize("value", [5, None, True, ["x"], {"$cut": "text"}])
def test_a_value_of_another_type_reads_as_none_was_there(value: Any) -> None:
    """Nobody has to ask again what it is."""
    assert ToolStarted.parse({"digest": value}).digest == ""
    assert ToolStarted.parse({"gated": "yes"}).gated is False


def test_a_text_that_was_cut_or_kept_apart_is_there_as_such() -> None:
    """Whoever shows it says so; to all others it is empty."""
    mark = {"$commitment": "sha256:x", "media_type": "text/plain", "length": 5}
    body = InjectionAccepted.parse({"text": mark})
    assert body.text == mark
    assert (plain(body.text), plain("x"), plain(None)) == ("", "x", "")


@pytest.mark.parametrize("ms", [-1, 1e13, float("inf"), float("nan"), "5", True])
def test_a_time_that_nothing_takes_is_none(ms: Any) -> None:
    """It would spoil every sum."""
    assert HookAnswer.parse({"ms": ms}).ms is None


def test_an_answer_without_a_name_or_an_action_has_those_of_nobody() -> None:
    """No session writes such answers."""
    assert HookAnswer.parse({}) == HookAnswer(UNNAMED, 0, "continue")


def test_older_records_of_a_decision_tell_of_a_handover() -> None:
    """By the name of who "decided"."""
    older = ApprovalDecided.parse({"allowed": True, "by": f"{HANDED_OVER_TO}claude"})
    assert older.handed_over_to == "claude"
    assert ApprovalDecided.parse({"by": "ann"}).handed_over_to == ""


def test_a_type_that_nobody_declared_keeps_what_it_has() -> None:
    """Modules may write their own."""
    assert parse_body("weather", {"rain": 1}) == Other(type="weather", members={"rain": 1})


def test_the_states_of_an_outcome_are_those_that_evidence_knows() -> None:
    """A third would be counted as nothing."""
    from amplifier_core.handovers import State

    assert set(get_args(State)) == {"allowed", "not_run"}
    assert ApprovalOutcome.parse({"state": "maybe"}).state == "maybe"


def test_what_is_no_list_is_read_as_none() -> None:
    """In a field that may be absent it is absent; in one that may not, the list is empty."""
    assert ConfigurationChanged.parse({"mounted": "a"}).mounted is None
    assert DispatchRecorded.parse({"hooks": {"a": 1}}).hooks == ()
