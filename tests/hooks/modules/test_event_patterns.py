"""Which events a pattern means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.events import ALL_EVENTS, spellings
from amplifier_hooks.modules.event_patterns import matches_any


@pytest.mark.parametrize(
    ("patterns", "event", "expected"),
    [
        (["tool:*"], "tool:pre", True),
        (["*"], "anything", True),
        (["tool:error"], "error:tool", True),
        (["error:*"], "tool:error", True),
        (["context:pre-compact"], "context:pre_compact", True),
        (["tool:pre"], "tool:post", False),
        (["tool:pre", "tool:p[o]st"], "tool:post", True),
        (["Tool:*"], "tool:pre", False),
        (["tool"], "tool:pre", False),
        ([], "tool:pre", False),
    ],
)
def test_patterns_know_every_spelling(patterns: list[str], event: str, expected: bool) -> None:
    """A pattern that matches one spelling of an event matches the event."""
    assert matches_any(patterns, event) is expected


@given(st.sampled_from(sorted(ALL_EVENTS)), st.data())
def test_a_name_matches_itself_in_every_spelling(event: str, data: st.DataObject) -> None:
    """Whichever spelling a user writes, whichever the emitter uses."""
    pattern = data.draw(st.sampled_from(sorted(spellings(event))))
    heard = data.draw(st.sampled_from(sorted(spellings(event))))
    assert matches_any(iter([pattern]), heard)


@given(st.sampled_from(sorted(ALL_EVENTS)))
def test_the_star_matches_everything(event: str) -> None:
    """One pattern is enough to hear every event."""
    assert matches_any(("*",), event)
