"""Whose trail a log is, against whose it should be."""

from __future__ import annotations

from amplifier_audit.line_verifier import Claims
from amplifier_audit.own_records import LogOpened
from amplifier_audit.verification import Identity


def make_claims(name: str | None = None, session: str | None = None) -> Claims:
    claims = Claims()
    claims.add_opening(0, LogOpened.parse({"name": name}))
    claims.add_session(1, session)
    return claims


def test_the_trail_of_somebody_else_is_tampering_when_the_verifier_was_told() -> None:
    """The name is signed; the files were put there."""
    told = Identity("ann", "ann")
    assert told.find_stranger(make_claims("ann"), 5) is None
    stranger = told.find_stranger(make_claims("bob"), 5)
    assert stranger is not None
    assert stranger.message == "this is the trail of 'bob', not of 'ann'"
    assert Identity(None, "ann").find_stranger(make_claims("bob"), 5) is None


def test_a_folder_of_another_name_is_a_doubt_and_says_how_to_end_it() -> None:
    """An honest copy has another name as well."""
    doubt = Identity(None, "evidence").find_doubt(make_claims("ann"), 5)
    assert doubt is not None
    assert "--session ann" in doubt.message
    assert Identity("ann", "evidence").find_doubt(make_claims("ann"), 5) is None
    assert Identity(None, "ann").find_doubt(make_claims("ann"), 5) is None
    assert Identity(None, None).find_doubt(make_claims("ann"), 5) is None


def test_a_name_that_is_not_proven_is_a_doubt() -> None:
    """Anybody may have appended it."""
    assert Identity("ann").find_doubt(make_claims("ann"), 0) is not None
    assert Identity("ann").find_stranger(make_claims("bob"), 0) is None


def test_logs_without_a_name_are_known_by_their_first_session() -> None:
    """Those that were written before there were names."""
    claims = make_claims(session="ann")
    assert Identity("ann").find_doubt(claims, 5) is None
    assert Identity("bob").find_doubt(claims, 5) is not None
    assert Identity("bob").find_stranger(claims, 5) is None
    assert Identity(None, "bob").find_doubt(claims, 5) is None
    assert Identity("ann").find_doubt(make_claims(), 5) is not None


def test_all_names_that_a_log_may_have() -> None:
    """Those that are known."""
    assert Identity("a", "b").names == {"a", "b"}
    assert Identity().names == frozenset()
