"""Segments and logs that are not there."""

from __future__ import annotations

import pytest

from amplifier_audit.checkpoint import make_note
from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.own_records import LogOpened
from amplifier_audit.verification import (
    find_earlier_log,
    find_unproven_removal,
    find_unrecorded_removal,
)
from tests.audit.support import VERIFIER


def make_verifier(proven: int | None, *, signs: bool = False, key: bool = False) -> LineVerifier:
    """One that has read, at record 5, that segments 0 to 2 were to be removed."""
    verifier = LineVerifier(proven_to=proven, key=VERIFIER if key else None)
    verifier.claims.add_opening(0, LogOpened.parse({"name": "ann"} if signs else {}))
    verifier.claims.add_removal(5, 2)
    return verifier


@pytest.mark.parametrize("missing", range(4))
def test_segments_may_be_gone_if_a_record_says_so(missing: int) -> None:
    """As many as it names."""
    verifier = make_verifier(6)
    assert find_unrecorded_removal(verifier, missing) is None
    assert find_unproven_removal(verifier, missing) is None


def test_one_more_is_missing() -> None:
    """The last one that is gone is named."""
    for find, word in (
        (find_unrecorded_removal, "no record says that segment 00000003 was to be removed"),
        (find_unproven_removal, "no proven record says that segment 00000003 was to be removed"),
    ):
        finding = find(make_verifier(6), 4)
        assert finding is not None
        assert (finding.kind, finding.sequence, finding.message) == ("missing segment", 0, word)


def test_a_record_that_is_not_proven_leaves_a_doubt() -> None:
    """Anybody may have appended it; for writers that sign removals, it does not count at all."""
    verifier = make_verifier(5)
    assert find_unrecorded_removal(verifier, 1) is None
    assert find_unproven_removal(verifier, 1) is not None
    assert find_unrecorded_removal(make_verifier(5, signs=True), 1) is None
    signed = find_unrecorded_removal(make_verifier(5, signs=True, key=True), 1)
    assert signed is not None
    assert signed.message == "no signed record says that segment 00000000 was to be removed"
    assert find_unrecorded_removal(make_verifier(6, signs=True, key=True), 1) is None


def test_the_largest_of_the_earlier_logs_is_named() -> None:
    """None if the anchors know of none."""
    assert find_earlier_log([]) is None
    notes = [make_note(log, size, bytes(32), name="ann") for log, size in (("a", 3), ("b", 9))]
    finding = find_earlier_log(notes)
    assert finding is not None
    assert finding.message == (
        "the anchors know another log of 'ann', 'b' with 9 records, which is not here"
    )
