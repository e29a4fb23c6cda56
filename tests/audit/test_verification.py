"""What the verifier finds, and what it claims."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import pytest

from amplifier_audit.format.chain import Chain, Head
from amplifier_audit.format.checkpoint import Note, make_note
from amplifier_audit.format.encoding import encode_body
from amplifier_audit.format.record import parse_record
from amplifier_audit.reader.line_verifier import LineVerifier
from amplifier_audit.reader.report import Mismatch, Report
from tests.audit.support import OTHER, SIGNER, VERIFIER, lines_of, source
from tests.audit.tampering import WAYS, Corpus


def verify(lines: list[bytes], **options: Any) -> Report:
    """The verdict on these lines."""
    try:
        verifier = LineVerifier(**options)
    except Mismatch as mismatch:
        return LineVerifier().report("tampered", mismatch.finding)
    try:
        for line in lines:
            verifier.feed(line)
    except Mismatch as mismatch:
        return verifier.report("tampered", mismatch.finding)
    return verifier.finish()


def anchor(lines: list[bytes], size: int, signer: Any = None) -> Note:
    """A checkpoint that was taken when the log had so many records."""
    verifier = LineVerifier()
    for line in lines[:size]:
        verifier.feed(line)
    return make_note(parse_record(lines[0])["log"], size, verifier.tree.compute_root(), signer)


def kind_and_place(report: Report) -> tuple[str, int]:
    assert report.finding is not None
    return report.finding.kind, report.finding.sequence


def extended(lines: list[bytes], type: str, body: dict[str, Any]) -> list[bytes]:
    """The log with one more record."""
    verifier = LineVerifier()
    for line in lines:
        verifier.feed(line)
    chain = Chain(parse_record(lines[0])["log"], verifier.head)
    return [*lines, chain.extend(source(type), encode_body(body))]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_damage_is_found_and_named(way: Any) -> None:
    """Edits, deletions, swaps, insertions, duplications: all detected, the right sequence named."""
    chance = random.Random(way.__name__)
    lines = lines_of(120)
    for _ in range(40):
        damaged, expected = way(lines, chance)
        if damaged != lines:
            report = verify(damaged)
            assert report.verdict == "tampered"
            assert kind_and_place(report)[1] == expected


def test_many_random_cases_of_damage_are_all_found() -> None:
    """1,000,000 cases in all (this many here, the rest by `python -m tests.audit.tampering`)."""
    corpus = Corpus(random.Random(5), 4)
    for _ in range(1500):
        way, found, expected = corpus.case()
        assert found == expected, way


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_million_random_cases_of_damage_are_all_found() -> None:
    """1,000,000 cases in all, all detected, the right sequence named."""
    corpus = Corpus(random.Random(6), 40)
    for _ in range(1_000_000):
        way, found, expected = corpus.case()
        assert found == expected, way


def test_without_an_anchor_nothing_is_ever_proven() -> None:
    """Never "proven" without one."""
    assert verify(lines_of(60)).verdict == "consistent"
    signed = verify(lines_of(60, signer=SIGNER), key=VERIFIER)
    assert (signed.verdict, signed.proven_to, signed.signed) == ("consistent", None, 2)


def test_an_anchor_proves_what_lies_before_it() -> None:
    """Proven to anchor N."""
    lines = lines_of(60)
    report = verify(lines, anchors=[anchor(lines, 20), anchor(lines, 40)])
    assert (report.verdict, report.proven_to, report.size) == ("proven", 40, 60)
    assert verify(lines, anchors=[anchor(lines, 60)]).proven_to == 60


def test_an_anchor_at_zero_proves_nothing_but_is_no_contradiction() -> None:
    """It is the root of the empty log."""
    lines = lines_of(5)
    assert verify(lines, anchors=[anchor(lines, 0)]).proven_to == 0


def test_truncation_below_the_anchor_is_found() -> None:
    """Truncation and rollback, against an anchor: all detected."""
    lines = lines_of(60)
    for size in range(40):
        report = verify(lines[:size], anchors=[anchor(lines, 40)])
        assert report.verdict == "tampered"
        assert kind_and_place(report) == ("cut below anchor", size)


def test_truncation_above_the_anchor_is_not_called_proven_to_the_end() -> None:
    """It reports the last anchored position."""
    lines = lines_of(60)
    assert verify(lines[:50], anchors=[anchor(lines, 40)]).proven_to == 40


def test_a_replaced_log_is_found() -> None:
    """Replacement, against an anchor: all detected."""
    report = verify(lines_of(60), anchors=[anchor(lines_of(60), 40)])
    assert kind_and_place(report)[0] == "wrong log"


def test_two_histories_of_one_log_are_told_apart() -> None:
    """Fork, against an anchor: all detected."""
    lines = lines_of(60)
    other = lines_of(60, log=parse_record(lines[0])["log"])
    assert kind_and_place(verify(other, anchors=[anchor(lines, 40)])) == ("fork", 40)


def test_re_sealing_with_another_key_is_found() -> None:
    """Re-sealing: newer key over old records."""
    lines = lines_of(60, signer=OTHER)
    assert kind_and_place(verify(lines, key=VERIFIER)) == ("signature", 1)
    assert verify(lines).verdict == "consistent"


def test_an_unsigned_log_is_found_when_a_key_is_given() -> None:
    """T23: unsigned file."""
    assert kind_and_place(verify(lines_of(60), key=VERIFIER)) == ("unsigned", 1)


def test_a_log_whose_checkpoints_were_left_out_is_found_when_a_key_is_given() -> None:
    """Whoever has no key cannot go on for long."""
    few = list(lines_of(2)[:1])
    assert verify(few, key=VERIFIER).verdict == "consistent"
    plain = extended(few, "dispatch", {})
    assert kind_and_place(verify(plain, key=VERIFIER)) == ("unsigned", 0)
    chain = Chain(parse_record(plain[0])["log"])
    opened = chain.extend(source("log_opened"), encode_body({"checkpoint_every": 5}))
    many = [opened, *(chain.extend(source(), encode_body({})) for _ in range(20))]
    assert kind_and_place(verify(many, key=VERIFIER))[0] == "unsigned"


def test_a_forged_interval_does_not_stretch_the_rule() -> None:
    """Written every 1,000 records."""
    chain = Chain("ab")
    opened = chain.extend(source("log_opened"), encode_body({"checkpoint_every": 10**9}))
    many = [opened, *(chain.extend(source(), encode_body({})) for _ in range(1100))]
    assert kind_and_place(verify(many, key=VERIFIER))[0] == "unsigned"


def test_an_anchor_without_the_right_signature_is_refused_when_a_key_is_given() -> None:
    """T23: wrong key."""
    lines = lines_of(60, signer=SIGNER)
    good = verify(lines, key=VERIFIER, anchors=[anchor(lines, 40, SIGNER)])
    assert (good.verdict, good.proven_to) == ("proven", 40)
    for signer, kind in ((OTHER, "signature"), (None, "unsigned")):
        report = verify(lines, key=VERIFIER, anchors=[anchor(lines, 40, signer)])
        assert kind_and_place(report)[0] == kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({}, "checkpoint"),
        ({"note": "nonsense\n"}, "checkpoint"),
        ({"note": make_note("ab", 3, bytes(32)).text}, "wrong log"),
    ],
)
def test_a_checkpoint_that_is_none_is_found(body: dict[str, Any], kind: str) -> None:
    """Chain and tree commit to the same bytes."""
    assert kind_and_place(verify(extended(lines_of(3), "checkpoint", body))) == (kind, 3)


def test_a_checkpoint_with_another_root_or_size_is_found() -> None:
    """Chain and tree commit to the same bytes."""
    lines = lines_of(5)
    log = parse_record(lines[0])["log"]
    for size, root in ((5, bytes(32)), (4, anchor(lines, 4).checkpoint.root)):
        body = {"note": make_note(log, size, root).text}
        assert kind_and_place(verify(extended(lines, "sealed", body))) == ("checkpoint", 5)


def test_a_record_of_another_log_is_found() -> None:
    """Kind: wrong log."""
    lines, other = lines_of(10), lines_of(10)
    assert kind_and_place(verify([*lines[:4], *other[4:]])) == ("wrong log", 4)
    chain = Chain("cd", Head(1, parse_record(lines[0])["hash"], (bytes(32),)))
    spliced = [lines[0], chain.extend(source(), encode_body({}))]
    assert kind_and_place(verify(spliced)) == ("wrong log", 1)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([0, 1, 3], ("gap", 2)),
        ([0, 1, 1], ("duplicate", 2)),
        ([0, 1, 2, 0], ("order", 3)),
        ([0, 1, 2, 1], ("order", 3)),
        ([1], ("gap", 0)),
    ],
)
def test_each_kind_of_misplacement_has_its_name(
    order: list[int], expected: tuple[str, int]
) -> None:
    """Kind: gap, order, duplicate."""
    lines = lines_of(5)
    assert kind_and_place(verify([lines[n] for n in order])) == expected


def test_a_replaced_record_breaks_the_link_to_the_next() -> None:
    """The chain proves that what is there hangs together."""
    lines = lines_of(5)
    forged = extended(lines[:2], "dispatch", {"forged": True})
    assert kind_and_place(verify([*forged, *lines[3:]])) == ("link", 3)


def test_a_line_with_a_right_hash_that_no_writer_wrote_is_found() -> None:
    """The parser refuses duplicate keys."""
    lines = lines_of(3)
    chain = Chain(
        parse_record(lines[0])["log"], Head(3, parse_record(lines[2])["hash"], (b"", b""))
    )
    bad = chain.extend(source(), b'{"a":1,"a":2}')
    assert kind_and_place(verify([*lines, bad])) == ("malformed", 3)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"x" * 70_000 + b"\n", "more than 65536"),
        (b"hello\n", "no record"),
        (lines_of(1)[0].replace(b"log_opened", b"log_OPENED"), "not what its hash says"),
    ],
)
def test_the_message_says_what_is_wrong_with_the_line(line: bytes, word: str) -> None:
    """Errors that say what, which value, what would do."""
    finding = verify([line]).finding
    assert finding is not None
    assert word in finding.message


def test_a_recovery_shows_until_an_anchor_covers_it() -> None:
    """One of four verdicts: recovered."""
    lines = extended(lines_of(10), "recovered", {"state": "missing"})
    lines = extended(lines, "dispatch", {})
    report = verify(lines)
    assert (report.verdict, report.recoveries) == ("recovered", (10,))
    assert verify(lines, anchors=[anchor(lines, 10)]).verdict == "recovered"
    assert verify(lines, anchors=[anchor(lines, 11)]).verdict == "proven"


def test_a_log_that_says_it_is_broken_is_tampered() -> None:
    """Damage at or before the acknowledged position: raise the alarm."""
    lines = extended(lines_of(10), "broken", {"why": "cut"})
    lines = extended(lines, "broken", {"why": "again"})
    report = verify(lines)
    assert report.verdict == "tampered"
    assert kind_and_place(report) == ("broken", 10)


def test_a_segment_that_does_not_go_on_where_the_last_ended_is_found() -> None:
    """The next segment's first record repeats final size and root."""
    lines = lines_of(10)
    right = {"previous": LineVerifier().head.to_dict()}
    assert kind_and_place(verify(extended(lines, "log_opened", right))) == ("checkpoint", 10)
    assert kind_and_place(verify(extended(lines, "log_opened", {}))) == ("checkpoint", 10)
    verifier = LineVerifier()
    for line in lines:
        verifier.feed(line)
    good = {"previous": verifier.head.to_dict()}
    assert verify(extended(lines, "log_opened", good)).verdict == "consistent"


def test_odd_bodies_of_the_logs_own_records_do_not_confuse_it() -> None:
    """T22: whatever stands in a body."""
    lines = extended(lines_of(3), "segment_removed", {"segment": "x"})
    lines = extended(lines, "segment_removed", {"segment": 4})
    verifier = LineVerifier()
    for line in lines:
        verifier.feed(line)
    assert verifier.removed_to == 4
    odd = extended(lines_of(3), "log_opened", {"previous": [1]})
    assert kind_and_place(verify(odd)) == ("checkpoint", 3)


def test_verification_goes_on_from_a_saved_head() -> None:
    """Incremental from a checkpoint the auditor keeps."""
    lines = lines_of(60)
    verifier = LineVerifier()
    for line in lines[:30]:
        verifier.feed(line)
    log = parse_record(lines[0])["log"]
    anchors = [anchor(lines, 10), anchor(lines, 50)]
    report = verify(lines[30:], start=verifier.head, log=log, anchors=anchors)
    assert (report.verdict, report.proven_to, report.first) == ("proven", 50, 30)
    assert report.notes == ("anchor at 10 not checked: the reading began later",)
    assert report.head is not None
    assert report.head.size == 60
    wrong = verify(lines[31:], start=verifier.head, log=log)
    assert kind_and_place(wrong) == ("gap", 30)


def test_an_anchor_of_another_log_is_refused_at_once_when_the_log_is_known() -> None:
    """Kind: wrong log."""
    report = verify([], log="ab", anchors=[make_note("cd", 1, bytes(32))])
    assert kind_and_place(report)[0] == "wrong log"


def test_memory_stays_constant_however_long_the_log() -> None:
    """Memory: constant while verifying a log of any size."""

    def peak(count: int) -> int:
        chain, verifier = Chain("ab"), LineVerifier()
        tracemalloc.start()
        for _ in range(count):
            verifier.feed(chain.extend(source(), encode_body({"n": 1})))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)
    assert peak(4000) < peak(400) + 20_000
