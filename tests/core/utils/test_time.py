"""The clock that stamps events."""

from __future__ import annotations

from amplifier_core.utils import clock


def test_the_clock_formats_once_a_millisecond():
    times = iter([0, 999_999, 1_000_000, 1_700_000_000_123_456_789])
    now = clock(lambda: next(times))
    first = now()
    assert now() is first
    assert first == "1970-01-01T00:00:00.000+00:00"
    assert now() == "1970-01-01T00:00:00.001+00:00"
    assert now() == "2023-11-14T22:13:20.123+00:00"
