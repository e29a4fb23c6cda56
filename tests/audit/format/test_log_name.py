"""The name of a log."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.errors import AuditError
from amplifier_audit.record import is_log_name, name_log, refuse_bad_log_name


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_every_session_has_a_name_that_is_safe_in_a_folder_and_on_a_line(session: str) -> None:
    """Whatever its id is."""
    name = name_log(session)
    assert is_log_name(name)
    assert "/" not in name
    assert not name.startswith(".")


def test_a_plain_id_is_its_own_name_and_others_have_a_digest() -> None:
    """So that a person finds the folder of a session."""
    assert name_log("s-1.a_B") == "s-1.a_B"
    assert len({name_log(odd) for odd in ("", "a/b", "..", "x" * 300, "é")}) == 5
    assert all(len(name_log(odd)) == 64 for odd in ("", "a/b", "..", "x" * 300))


@pytest.mark.parametrize("name", ["", ".x", "a b", "a\nb", "a/b", "x" * 129, "a\n"])
def test_a_name_that_would_leave_its_line_is_refused(name: str) -> None:
    """With the rule and the name."""
    with pytest.raises(AuditError, match="A log's name has up to 128"):
        refuse_bad_log_name(name)


def test_a_log_may_have_no_name() -> None:
    """Not every log is the trail of a session."""
    refuse_bad_log_name(None)
    refuse_bad_log_name("ann")
    assert not is_log_name(None)
