"""What a log says of itself counts as far as it is proven."""

from __future__ import annotations

from amplifier_audit.line_verifier import ANCHORED, Claims
from amplifier_audit.own_records import LogOpened


def test_a_removal_counts_when_its_record_is_proven() -> None:
    """Whoever can write the files can append one."""
    claims = Claims()
    claims.add_removal(5, 0)
    claims.add_removal(9, 3)
    assert [claims.find_removed_to(before) for before in (None, 20, 10, 9, 5)] == [3, 3, 3, 0, -1]
    claims.add_removal(10, "x")
    assert claims.find_removed_to(None) == 3


def test_a_name_counts_when_it_is_proven() -> None:
    """By a record before the position, or by an anchor."""
    claims = Claims()
    claims.add_name(7, "ann")
    assert [claims.find_name(before) for before in (7, 8, None)] == [None, "ann", "ann"]
    claims.add_name(ANCHORED, "ann")
    assert claims.find_name(0) == "ann"
    for odd in (None, 5, "", "a b"):
        claims.add_name(1, odd)
    assert claims.describe_conflict() is None


def test_two_names_are_a_conflict_at_the_second() -> None:
    """A log has one owner for its whole life."""
    claims = Claims()
    claims.add_name(0, "ann")
    claims.add_name(3, "ann")
    assert claims.describe_conflict() is None
    claims.add_name(6, "bob")
    conflict = claims.describe_conflict()
    assert conflict is not None
    assert (conflict.kind, conflict.sequence) == ("wrong log", 6)
    assert "'ann'" in conflict.message
    assert "'bob'" in conflict.message


def test_the_first_session_is_kept() -> None:
    """Later ones may be sub-agents."""
    claims = Claims()
    claims.add_session(1, None)
    claims.add_session(2, "root")
    claims.add_session(3, "child")
    assert (claims.find_session(None), claims.find_session(3)) == ("root", "root")
    assert claims.find_session(2) is None
    assert Claims().find_session(None) is None


def test_writers_that_know_names_sign_removals() -> None:
    """Those that came before them did not always."""
    old, new = Claims(), Claims()
    old.add_opening(0, LogOpened.parse({"segment": 0}))
    new.add_opening(4, LogOpened.parse({"segment": 0, "name": None}))
    new.add_opening(9, LogOpened.parse({"segment": 1, "name": "ann"}))
    assert not old.signs_removals(None)
    assert (new.signs_removals(5), new.signs_removals(4)) == (True, False)
    assert (new.find_name(None), old.find_name(None)) == ("ann", None)


def test_the_claims_of_later_records_are_added_as_if_they_were_read_now() -> None:
    """Wherever the records are divided."""

    def claim(claims: Claims, part: range) -> Claims:
        for n in part:
            claims.add_session(n, f"session-{n}" if n > 3 else None)
            if n % 4 == 0:
                claims.add_opening(n, LogOpened.parse({"name": "ann"} if n > 4 else {}))
            if n % 4 == 1:
                claims.add_removal(n, n)
                claims.recoveries.append(n)
            if n % 4 == 2:
                claims.add_name(n, "bob" if n > 12 else "ann")
        return claims

    whole = claim(Claims(), range(20))
    for border in range(21):
        parts = claim(Claims(), range(border))
        parts.add_later(claim(Claims(), range(border, 20)))
        assert parts == whole
        assert parts.describe_conflict() == whole.describe_conflict()
