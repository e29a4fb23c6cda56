"""What is wrong with a line is named."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_audit.line_verifier import describe_damage, describe_misplacement
from amplifier_audit.record import Head
from amplifier_audit.strict_json import RECORD_LIMIT
from tests.audit.support import make_lines

HEAD = Head(5, "a" * 64, (bytes(32), bytes(32)))


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"log": "other"}, "wrong log"),
        ({}, "link"),
        ({"seq": 4, "hash": HEAD.hash}, "duplicate"),
        ({"seq": 4}, "order"),
        ({"seq": 2}, "order"),
        ({"seq": 7}, "gap"),
    ],
)
def test_a_record_that_does_not_follow_is_of_one_kind(changes: dict[str, Any], kind: str) -> None:
    """From another log, replaced, twice, too late, or after a gap."""
    record = {"log": "mine", "seq": 5, "hash": "b" * 64, **changes}
    assert describe_misplacement(record, "mine", HEAD)[0] == kind


def test_without_a_known_log_any_log_will_do() -> None:
    """The first line says which one it is."""
    assert describe_misplacement({"log": "x", "seq": 5, "hash": ""}, None, HEAD)[0] == "link"


def test_damage_tells_a_changed_record_from_what_never_was_one() -> None:
    """And from a line without an end."""
    assert "not what its hash says" in describe_damage(make_lines(1)[0].replace(b"v", b"w", 1))
    assert "is not a record" in describe_damage(b"hello\n")
    assert "more than" in describe_damage(b"x" * (RECORD_LIMIT + 1))
