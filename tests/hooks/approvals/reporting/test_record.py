"""A record as it is published."""

from __future__ import annotations

import time
from typing import Any

from amplifier_hooks.approvals.reporting import LONGEST_BODY, write_record


def test_a_record_has_its_number_its_time_and_plain_values_of_its_own() -> None:
    """The session may change what it handed over."""
    body: dict[str, Any] = {"data": {"at": {1, 2}}, "list": [1]}
    before = time.time()
    found = write_record(3, "dispatch", body, turn=2, event="tool:pre", hook="h")
    body["list"].append(2)
    assert (found.number, found.type, found.turn, found.event) == (3, "dispatch", 2, "tool:pre")
    assert (found.hook, found.body["list"]) == ("h", [1])
    assert isinstance(found.body["data"]["at"], str)
    assert before <= found.time <= time.time()


def test_what_is_too_long_or_no_json_is_left_out_and_says_so() -> None:
    """The record itself is there."""
    assert write_record(1, "x", {"a": "b" * LONGEST_BODY}).body == {
        "left_out": f"{LONGEST_BODY + 9} bytes"
    }
    circle: dict[str, object] = {}
    circle["again"] = circle
    assert write_record(1, "x", circle).body == {"left_out": "it cannot be written as JSON"}
    assert write_record(1, "x", {"n": float("nan")}).body == {"n": "NaN"}


def test_what_hooks_answered_is_kept_without_the_data_that_it_was_about() -> None:
    """Figures of hooks are counted from it."""
    hooks = [{"hook": "guard", "action": "deny"}]
    body = {"action": "deny", "hooks": hooks, "data": {"text": "b" * LONGEST_BODY}}
    kept = write_record(1, "dispatch", body).body
    assert (kept["hooks"], kept["action"]) == (hooks, "deny")
    assert kept["left_out"].endswith(" bytes")
    body["hooks"] = [{"hook": "guard", "reason": "b" * LONGEST_BODY}]
    assert write_record(1, "dispatch", body).body.keys() == {"left_out"}
