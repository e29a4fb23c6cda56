"""Where a session writes its records."""

from __future__ import annotations

from amplifier_audit import AuditLog
from amplifier_core.trail import AuditSink, NullSink


def test_a_log_and_nothing_at_all_are_sinks(tmp_path):
    """The protocol is what a session asks of either."""
    log = AuditLog(tmp_path)
    assert isinstance(log, AuditSink)
    assert isinstance(NullSink(), AuditSink)
    assert not isinstance(object(), AuditSink)
    log.close_now()


async def test_a_session_without_a_trail_writes_into_nothing():
    """Nothing is kept, nothing is waited for, and nothing fails."""
    sink = NullSink()
    assert sink.append("dispatch", {"action": "continue"}, session="s", event="tool:pre") == 0
    await sink.commit(0)
    await sink.close()
    assert (sink.level, sink.on_failure) == ("decisions", "warn")
