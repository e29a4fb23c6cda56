"""The trail in memory."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import AuditUnavailable
from amplifier_core.testing import MemoryAudit


async def test_a_trail_keeps_what_was_written_at_that_moment() -> None:
    """What changes later does not change what was recorded."""
    trail, body = MemoryAudit(), {"n": 1}
    assert trail.append("first", body, session="s", event="tool:pre") == 0
    body["n"] = 2
    assert trail.append("second", body) == 1
    assert [one["body"] for one in trail.records] == [{"n": 1}, {"n": 2}]
    (first,) = trail.of_type("first")
    assert (first["session"], first["event"], first["hook"]) == ("s", "tool:pre", None)


async def test_a_trail_says_how_far_it_can_be_relied_on() -> None:
    """Up to a record, or all of it; never back again."""
    trail = MemoryAudit()
    for _ in range(3):
        trail.append("x", {})
    await trail.commit(1)
    assert trail.durable == 2
    await trail.commit(0)
    assert trail.durable == 2
    await trail.commit()
    assert trail.durable == 3


async def test_a_trail_takes_no_records_when_it_failed_or_is_closed() -> None:
    """Like a log on disk."""
    failed, closed = MemoryAudit(), MemoryAudit()
    failed.fail("no space")
    await closed.close()
    with pytest.raises(AuditUnavailable, match="no space"):
        failed.append("x", {})
    with pytest.raises(AuditUnavailable, match="no space"):
        await failed.commit()
    with pytest.raises(AuditUnavailable, match="it is closed"):
        closed.append("x", {})


def test_a_trail_takes_whatever_it_is_given() -> None:
    """Objects, odd keys and cycles are written as well as they can be."""
    trail = MemoryAudit()
    cycle: dict[Any, Any] = {}
    cycle["itself"] = cycle
    odd: dict[Any, Any] = {("a", "b"): 1}
    trail.append("object", {"o": object})
    trail.append("key", odd)
    trail.append("cycle", cycle)
    assert "class 'object'" in trail.records[0]["body"]["o"]
    assert "('a', 'b')" in trail.records[1]["body"]["repr"]
    assert "itself" in trail.records[2]["body"]["repr"]
