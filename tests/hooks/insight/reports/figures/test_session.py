"""The figures of a session."""

from __future__ import annotations

from tests.hooks.insight.reports.stories import SESSION, gather, tell_whole_story


def test_a_session_without_records_has_all_figures_at_zero() -> None:
    """An empty trail can be told, too."""
    session = gather()
    assert (session.id, session.denied, session.changed, session.call_count) == (SESSION, 0, 0, 0)


def test_what_matters_is_counted() -> None:
    """Denials, changes and calls of a session in which everything happens."""
    session = tell_whole_story()
    assert (session.denied, session.changed, session.call_count) == (1, 1, 5)
