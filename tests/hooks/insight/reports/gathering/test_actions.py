"""How sessions begin, break and end."""

from __future__ import annotations

import pytest

from tests.hooks.insight.reports.stories import end, event, gather, note


@pytest.mark.parametrize(
    ("items", "ending"),
    [
        ([end(2)], "complete"),
        ([end(2, "error")], "error"),
        ([note(2, "session_suspended", {})], "suspended"),
        ([end(2), note(3, "session_started", {"resumed": True})], ""),
        ([note(2, "session_ended", {"reason": "complete"}, session="child")], ""),
    ],
)
def test_the_end_is_that_of_the_session_itself(items: list[object], ending: str) -> None:
    """A sub-agent's end is not, and one that was resumed has not ended."""
    assert gather(*items).ending == ending  # type: ignore[arg-type]


def test_what_went_wrong_is_kept() -> None:
    """Errors of the kernel, of the loop and of models."""
    session = gather(
        note(1, "error", {"what": "context", "error": "full"}),
        event(2, "provider:error", {"error": {"message": "overloaded"}}),
        event(3, "module:load_failed", {"error": "no such module"}),
    )
    found = [(one.event, one.reason) for one in session.errors]
    assert found == [
        ("context", "full"),
        ("provider:error", "overloaded"),
        ("module:load_failed", "no such module"),
    ]


def test_the_key_that_the_trail_names_is_kept() -> None:
    """So that a reader knows that there are signatures."""
    assert gather(note(0, "log_opened", {"key": "name+1234"})).key == "name+1234"


def test_a_session_that_was_resumed_says_how_often() -> None:
    """Only the session itself counts."""
    started = [note(n, "session_started", {"resumed": True, "parent": None}) for n in (1, 2)]
    child = note(3, "session_started", {"resumed": True, "parent": "p"})
    assert gather(*started, child).resumed == 2
