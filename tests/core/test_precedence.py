"""Which answer wins when several hooks speak."""

from __future__ import annotations

from amplifier_core.models import continue_with
from amplifier_core.precedence import fold, strongest


def test_silence_is_continue():
    assert fold([], {"a": 1}) == continue_with({"a": 1})
    assert strongest([]) is None
