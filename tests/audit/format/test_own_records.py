"""The records by which a log speaks of itself: their bodies, and that nobody else speaks for it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.own_records import (
    OWN_BODIES,
    OWN_TYPES,
    CheckpointMade,
    LogBroken,
    LogOpened,
    LogRecovered,
    OwnBody,
    SegmentRemoved,
    ValueRedacted,
    WriterConnected,
    mark_foreign,
    parse_own,
)
from amplifier_hooks.trails.bodies import TYPES
from tests.audit.support import LineCollector, extend_log, make_lines, verify_lines

ROOT = Path(__file__).parents[3]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)

NAMES = ("name", "key", "note", "why", "segment", "client", "have", "previous", "reason", "other")


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            LogOpened(name="s", segment=1, process=2, level="full", values="inline"),
            {
                "name": "s",
                "segment": 1,
                "process": 2,
                "level": "full",
                "values": "inline",
                "checkpoint_every": None,
                "key": None,
            },
        ),
        (CheckpointMade(note="n"), {"note": "n"}),
        (LogRecovered(facts={"why": "x"}), {"why": "x"}),
        (
            LogBroken(why="x", expected={"size": 2}, found=None),
            {"why": "x", "expected": {"size": 2}, "found": None},
        ),
        (
            ValueRedacted(commitment="c", by="ann", reason="r"),
            {"commitment": "c", "by": "ann", "reason": "r"},
        ),
        (SegmentRemoved(segment=3), {"segment": 3}),
        (
            WriterConnected(client="c", have=2, peer={"user": 1}),
            {"client": "c", "peer": {"user": 1}, "have": 2},
        ),
    ],
)
def test_a_body_stands_in_its_line_as_it_always_did(body: OwnBody, line: dict[str, Any]) -> None:
    """The same members in the same order."""
    assert list(body.to_dict().items()) == list(line.items())
    assert parse_own(body.type, line) == body


def test_a_log_that_goes_on_says_from_where() -> None:
    """The first segment of a log does not."""
    opened = LogOpened(name=None, previous={"size": 3})
    assert opened.to_dict()["previous"] == {"size": 3}
    assert "previous" not in LogOpened(name=None).to_dict()


def test_a_writer_that_knows_names_signs_removals() -> None:
    """Also where it was given none."""
    assert LogOpened.parse({"name": None}).signs_removals
    assert not LogOpened.parse({"segment": 0}).signs_removals


def test_a_checkpoint_with_more_beside_its_note_is_not_alone() -> None:
    """What stands beside it is covered by nothing yet."""
    assert CheckpointMade.parse({"note": "n"}).is_alone
    assert not CheckpointMade.parse({"note": "n", "x": 1}).is_alone


@given(st.sampled_from(sorted(OWN_TYPES)), st.dictionaries(st.sampled_from(NAMES), JSON))
def test_any_body_can_be_read(kind: str, members: dict[str, Any]) -> None:
    """Whoever can write the files can write anything."""
    assert isinstance(parse_own(kind, members).to_dict(), dict)


def test_every_declared_body_is_written_somewhere() -> None:
    """No type is announced that a reader will never meet."""
    declared = [*TYPES.values(), *(type(parse_own(kind, {})) for kind in OWN_BODIES)]
    missing = {one.__name__ for one in declared}
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text("utf-8")
        if any(name in text for name in missing):
            nodes = ast.walk(ast.parse(text))
            missing -= {node.id for node in nodes if isinstance(node, ast.Name)}
    assert missing == set()


def test_no_type_is_both_the_logs_own_and_a_sessions() -> None:
    """Else records of a session would be marked as foreign."""
    assert not OWN_TYPES & TYPES.keys()


def test_the_page_lists_exactly_the_declared_types() -> None:
    """Readers of a log find each type in docs/audit.md, and none that is not written."""
    page = (ROOT / "docs" / "audit.md").read_text("utf-8")
    section = page[page.index("### Types") : page.index("### What a record of an event holds")]
    listed = set(re.findall(r"`([a-z_]{4,})`", section)) - {"x_"}
    assert listed == OWN_TYPES | TYPES.keys()


@pytest.mark.parametrize("type", sorted(OWN_TYPES))
def test_what_the_log_says_of_itself_nobody_else_can_say(type: str) -> None:
    """A caller cannot forge a checkpoint or a recovery."""
    collector = LineCollector()
    collector.append(type, {})
    assert [record["type"] for record in collector.records] == [f"x_{type}"]


@pytest.mark.parametrize("type", ["dispatch", "my_own", "x_checkpoint", "", 5, None, ["odd"]])
def test_other_types_stay_as_they_are(type: Any) -> None:
    """Modules may use types of their own."""
    assert mark_foreign(type) == type


@pytest.mark.parametrize("type", ["approval_late", "hook_timed_out", "from_the_future"])
def test_a_log_with_unknown_types_verifies(type: str) -> None:
    """Logs of other versions and modules hold types that are not declared here."""
    assert verify_lines(extend_log(make_lines(3), type, {"any": 1})).verdict == "consistent"
