"""What the verifier finds line by line, and what it claims."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.checkpoint import Note, make_note
from amplifier_audit.encoding import encode_body, encode_source
from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.record import TAIL, Chain, Head, hash_record, parse_record
from amplifier_audit.report import Mismatch, Report
from tests.audit.support import (
    OTHER,
    SIGNER,
    VERIFIER,
    extend_log,
    feed_lines,
    locate,
    make_anchor,
    make_lines,
    make_source,
    verify_lines,
)

# What a verifier says


def test_without_an_anchor_nothing_is_ever_proven() -> None:
    """Not with a signature either: yesterday's copy is signed as well."""
    assert verify_lines(make_lines(60)).verdict == "consistent"
    signed = verify_lines(make_lines(60, signer=SIGNER), key=VERIFIER)
    assert (signed.verdict, signed.proven_to, signed.signed) == ("consistent", None, 2)


def test_an_anchor_proves_what_lies_before_it() -> None:
    """And the newest one counts."""
    lines = make_lines(60)
    report = verify_lines(lines, anchors=[make_anchor(lines, 20), make_anchor(lines, 40)])
    assert (report.verdict, report.proven_to, report.size) == ("proven", 40, 60)
    assert verify_lines(lines, anchors=[make_anchor(lines, 60)]).proven_to == 60


def test_an_anchor_at_zero_proves_nothing_but_is_no_contradiction() -> None:
    """It is the root of the empty log."""
    lines = make_lines(5)
    assert verify_lines(lines, anchors=[make_anchor(lines, 0)]).proven_to == 0


def test_no_lines_are_consistent_with_everything() -> None:
    """Nothing is there, and nothing is claimed."""
    report = verify_lines([])
    assert (report.verdict, report.log, report.size, report.head) == (
        "consistent",
        None,
        0,
        Head(),
    )


def test_the_report_counts_what_was_read() -> None:
    """Checkpoints, the last of them, and the head to go on from."""
    lines = make_lines(120)
    report = verify_lines(lines)
    assert (report.first, report.size, report.checkpoints) == (0, 120, 3)
    assert report.last_checkpoint == 101
    assert report.log == parse_record(lines[0])["log"]
    assert report.head == feed_lines(lines).head


@given(st.integers(0, 60), st.integers(0, 60))
def test_where_the_reading_was_interrupted_makes_no_difference(first: int, second: int) -> None:
    """From any head, in any number of parts, the end is the same."""
    lines = LINES
    low, high = sorted((first, second))
    one = feed_lines(lines[:low])
    two = feed_lines(lines[low:high], start=one.head, log=one.log)
    three = feed_lines(lines[high:], start=two.head, log=two.log)
    assert three.head == feed_lines(lines).head


LINES = make_lines(60)


# Cuts, forks and replaced logs, against anchors


def test_truncation_below_the_anchor_is_found() -> None:
    """Wherever the log was cut, the first missing record is named."""
    lines = make_lines(60)
    for size in range(40):
        report = verify_lines(lines[:size], anchors=[make_anchor(lines, 40)])
        assert report.verdict == "tampered"
        assert locate(report) == ("cut below anchor", size)


def test_truncation_above_the_anchor_is_not_called_proven_to_the_end() -> None:
    """The report says how far the anchor reaches."""
    lines = make_lines(60)
    assert verify_lines(lines[:50], anchors=[make_anchor(lines, 40)]).proven_to == 40


def test_a_replaced_log_is_found() -> None:
    """A whole log that is consistent in itself is not the one that was anchored."""
    report = verify_lines(make_lines(60), anchors=[make_anchor(make_lines(60), 40)])
    assert locate(report)[0] == "wrong log"


def test_two_histories_of_one_log_are_told_apart() -> None:
    """Both have the same id and the same length."""
    lines = make_lines(60)
    other = make_lines(60, log=parse_record(lines[0])["log"])
    assert locate(verify_lines(other, anchors=[make_anchor(lines, 40)])) == ("fork", 40)


def test_an_anchor_of_another_log_is_refused_at_once_when_the_log_is_known() -> None:
    """Before the first line is read."""
    report = verify_lines([], log="ab", anchors=[make_note("cd", 1, bytes(32))])
    assert locate(report)[0] == "wrong log"


# Signatures


def test_re_sealing_with_another_key_is_found() -> None:
    """Whoever rewrites a log can sign it only with a key of their own."""
    lines = make_lines(60, signer=OTHER)
    assert locate(verify_lines(lines, key=VERIFIER)) == ("signature", 1)
    assert verify_lines(lines).verdict == "consistent"


def test_an_unsigned_log_is_found_when_a_key_is_given() -> None:
    """A key on the command line means that signatures are expected."""
    assert locate(verify_lines(make_lines(60), key=VERIFIER)) == ("unsigned", 1)


def test_a_log_whose_checkpoints_were_left_out_is_found_when_a_key_is_given() -> None:
    """Whoever has no key cannot go on for long."""
    few = make_lines(2)[:1]
    assert verify_lines(few, key=VERIFIER).verdict == "consistent"
    plain = extend_log(few, "dispatch", {})
    assert locate(verify_lines(plain, key=VERIFIER)) == ("unsigned", 0)
    chain = Chain(parse_record(plain[0])["log"])
    opened = chain.extend(make_source("log_opened"), encode_body({"checkpoint_every": 5}))
    many = [opened, *(chain.extend(make_source(), encode_body({})) for _ in range(20))]
    assert locate(verify_lines(many, key=VERIFIER))[0] == "unsigned"


class SignedLines:
    """A log whose first opening is signed; what follows may be anybody's."""

    def __init__(self, interval: Any) -> None:
        self.lines: list[bytes] = []
        self._chain = Chain("ab")
        self.open(interval)
        self.sign()

    def write(self, type: str = "dispatch", count: int = 1, **body: Any) -> None:
        for _ in range(count):
            self.lines.append(self._chain.extend(make_source(type), encode_body(body)))

    def open(self, interval: Any) -> None:
        previous = self._chain.head.to_dict()
        self.write("log_opened", checkpoint_every=interval, previous=previous)

    def sign(self) -> None:
        size, root = self._chain.size, self._chain.tree.compute_root()
        self.write("checkpoint", note=make_note("ab", size, root, SIGNER).text)

    def verify(self) -> Report:
        return verify_lines(self.lines, key=VERIFIER)


@pytest.mark.parametrize(
    ("interval", "most"),
    [(10**9, 1000), (0, 1000), (-5, 1000), ("many", 1000), (None, 1000), (1.5, 1000), (True, 1)],
)
def test_an_interval_does_not_stretch_the_rule(interval: Any, most: int) -> None:
    """At most a thousand records go without a signature, whatever the log says of itself."""
    log = SignedLines(interval)
    log.write(count=most)
    assert log.verify().verdict == "consistent"
    log.write()
    assert locate(log.verify()) == ("unsigned", len(log.lines))


@pytest.mark.parametrize(
    ("interval", "most"), [(10**9, 1000), (0, 5), (-5, 5), ("many", 5), (None, 5), (True, 5)]
)
def test_a_forged_opening_hides_no_unsigned_stretch(interval: Any, most: int) -> None:
    """Whoever has no key can append an opening that promises less, up to the same thousand."""
    log = SignedLines(5)
    log.open(interval)
    log.write(count=most)
    assert log.verify().verdict == "consistent"
    log.write()
    assert locate(log.verify()) == ("unsigned", len(log.lines))


def test_forged_openings_do_not_begin_the_count_anew() -> None:
    """Only a signature does."""
    log = SignedLines(5)
    for _ in range(5):
        log.write()
        log.open(5)
    assert log.verify().verdict == "consistent"
    log.write()
    assert locate(log.verify()) == ("unsigned", len(log.lines))


@pytest.mark.parametrize(("first", "second"), [(1, 50), (50, 1)])
def test_each_writer_has_its_own_interval(first: int, second: int) -> None:
    """Whoever opens a log with other settings does not make it look tampered with."""
    lines, chain = list[bytes](), Chain("ab")

    def write(type: str, body: dict[str, Any]) -> None:
        lines.append(chain.extend(make_source(type), encode_body(body)))

    def sign() -> None:
        note = make_note("ab", chain.size, chain.tree.compute_root(), SIGNER)
        write("checkpoint", {"note": note.text})

    for interval in (first, second):
        previous = chain.head.to_dict()
        write("log_opened", {"checkpoint_every": interval, "previous": previous})
        sign()
        for _ in range(interval):
            write("dispatch", {})
    assert verify_lines(lines, key=VERIFIER).verdict == "consistent"
    write("dispatch", {})
    assert locate(verify_lines(lines, key=VERIFIER))[0] == "unsigned"


def test_records_of_the_log_itself_come_on_top_of_the_interval() -> None:
    """A crash, an opening or a removal may follow just before a signature is due."""
    chain = Chain("ab")
    opened = encode_body({"checkpoint_every": 1})
    lines = [chain.extend(make_source("log_opened"), opened)]
    note = make_note("ab", 1, chain.tree.compute_root(), SIGNER)
    lines.append(chain.extend(make_source("checkpoint"), encode_body({"note": note.text})))
    lines.append(chain.extend(make_source(), encode_body({})))
    own = ("recovered", "segment_removed", "redacted")
    lines += [chain.extend(make_source(type), encode_body({})) for type in own]
    assert verify_lines(lines, key=VERIFIER).verdict == "recovered"
    one_more = chain.extend(make_source(), encode_body({}))
    assert locate(verify_lines([*lines, one_more], key=VERIFIER)) == ("unsigned", 7)


def test_records_of_the_log_itself_are_not_without_a_limit() -> None:
    """Else whoever has no key could go on with those; each signature begins the count anew."""
    log = SignedLines(5)
    log.write("redacted", count=900)
    log.sign()
    log.write("redacted", count=999)  # the record that holds the checkpoint is one of its own
    assert log.verify().verdict == "consistent"
    log.write("redacted")
    assert locate(log.verify()) == ("unsigned", len(log.lines))


@pytest.mark.parametrize(("type", "most"), [("dispatch", 5), ("redacted", 999)])
def test_before_the_first_signature_there_is_room_for_one_interval(type: str, most: int) -> None:
    """For as many records as between two of them; of the log's own, the opening is the first."""
    chain = Chain("ab")
    lines = [chain.extend(make_source("log_opened"), encode_body({"checkpoint_every": 5}))]
    lines += [chain.extend(make_source(type), encode_body({})) for _ in range(most)]
    verifier = feed_lines(lines, key=VERIFIER)
    assert verifier.size == most + 1
    with pytest.raises(Mismatch, match="without a signature"):
        verifier.feed(chain.extend(make_source(type), encode_body({})))


def test_one_record_behind_a_saved_position_may_wait_for_its_signature() -> None:
    """As the first of a log may; the second must be under one."""
    lines = make_lines(20, signer=SIGNER)
    before = feed_lines(lines[:10], key=VERIFIER)
    options = {"start": before.head, "log": before.log, "key": VERIFIER}
    assert verify_lines(lines[10:11], **options).verdict == "consistent"
    assert locate(verify_lines(lines[10:12], **options)) == ("unsigned", 10)


def test_an_anchor_without_the_right_signature_is_refused_when_a_key_is_given() -> None:
    """Else anybody could anchor what they like."""
    lines = make_lines(60, signer=SIGNER)
    good = verify_lines(lines, key=VERIFIER, anchors=[make_anchor(lines, 40, SIGNER)])
    assert (good.verdict, good.proven_to) == ("proven", 40)
    for signer, kind in ((OTHER, "signature"), (None, "unsigned")):
        report = verify_lines(lines, key=VERIFIER, anchors=[make_anchor(lines, 40, signer)])
        assert locate(report)[0] == kind


# Checkpoints


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({}, "checkpoint"),
        ({"note": "nonsense\n"}, "checkpoint"),
        ({"note": 5}, "checkpoint"),
        ({"note": make_note("ab", 3, bytes(32)).text}, "wrong log"),
    ],
)
def test_a_checkpoint_that_is_none_is_found(body: dict[str, Any], kind: str) -> None:
    """A record of that type must hold one, of this log."""
    assert locate(verify_lines(extend_log(make_lines(3), "checkpoint", body))) == (kind, 3)


@pytest.mark.parametrize("type", ["checkpoint", "sealed"])
def test_a_checkpoint_with_another_root_or_size_is_found(type: str) -> None:
    """It must speak of exactly the lines before it."""
    lines = make_lines(5)
    log = parse_record(lines[0])["log"]
    for size, root in ((5, bytes(32)), (4, make_anchor(lines, 4).checkpoint.root)):
        body = {"note": make_note(log, size, root).text}
        assert locate(verify_lines(extend_log(lines, type, body))) == ("checkpoint", 5)


def test_a_checkpoint_from_outside_must_fit_as_well() -> None:
    """As the seal of a segment that is gone, it stands for the lines before the first."""
    lines = make_lines(5)
    verifier = feed_lines(lines)
    verifier.check_note(make_anchor(lines, 5), "the seal")
    assert verifier.last_checkpoint == 5
    with pytest.raises(Mismatch, match="the seal does not fit the 5 records before it"):
        verifier.check_note(make_anchor(lines, 4), "the seal")
    with pytest.raises(Mismatch, match="the seal belongs to log 'cd'"):
        verifier.check_note(make_note("cd", 5, bytes(32)), "the seal")


# Lines in the wrong place


def test_a_record_of_another_log_is_found() -> None:
    """By its id, even when it links to the record before."""
    lines, other = make_lines(10), make_lines(10)
    assert locate(verify_lines([*lines[:4], *other[4:]])) == ("wrong log", 4)
    chain = Chain("cd", Head(1, parse_record(lines[0])["hash"], (bytes(32),)))
    spliced = [lines[0], chain.extend(make_source(), encode_body({}))]
    assert locate(verify_lines(spliced)) == ("wrong log", 1)


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
    """The sequence is the one that belongs there."""
    lines = make_lines(5)
    assert locate(verify_lines([lines[n] for n in order])) == expected


def test_a_replaced_record_breaks_the_link_to_the_next() -> None:
    """Its own hash may be right; its successor's memory of it is not."""
    lines = make_lines(5)
    forged = extend_log(lines[:2], "dispatch", {"forged": True})
    assert locate(verify_lines([*forged, *lines[3:]])) == ("link", 3)


def test_a_line_with_a_right_hash_that_no_writer_wrote_is_found() -> None:
    """Here a key stands twice, which two readers could read in two ways."""
    lines = make_lines(3)
    chain = Chain(parse_record(lines[0])["log"], feed_lines(lines).head)
    bad = chain.extend(make_source(), b'{"a":1,"a":2}')
    assert locate(verify_lines([*lines, bad])) == ("malformed", 3)


def test_a_legal_line_that_is_spelled_otherwise_is_taken() -> None:
    """A writer in another language may put spaces; hashes cover bytes, not spellings."""
    lines = make_lines(2)
    chain = Chain(parse_record(lines[0])["log"], feed_lines(lines).head)
    spaced = chain.extend(make_source(), b'{ "a" : 1 }')
    assert verify_lines([*lines, spaced]).verdict == "consistent"
    covered = spaced[:-TAIL].replace(b'{"v":1,', b'{"v": 1, ')
    respelled = b'%b,"hash":"%b"}\n' % (covered, hash_record(covered).encode())
    assert verify_lines([*lines, respelled]).verdict == "consistent"


def test_a_first_line_without_its_beginning_is_found() -> None:
    """While the log is not known yet, nothing that must stand there is taken for granted."""
    line = Chain("ab").extend(make_source(), encode_body({}))
    covered = line[line.index(b"0,") : -TAIL]
    cut = b'%b,"hash":"%b"}\n' % (covered, hash_record(covered).encode())
    assert locate(verify_lines([cut])) == ("malformed", 0)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"x" * 70_000 + b"\n", "more than 65536"),
        (b"hello\n", "not a record"),
        (b"", "not a record"),
        (make_lines(1)[0].replace(b"log_opened", b"log_OPENED"), "not what its hash says"),
    ],
    ids=["long", "text", "nothing", "edited"],
)
def test_the_message_says_what_is_wrong_with_the_line(line: bytes, word: str) -> None:
    """Too long, never a record, or changed."""
    finding = verify_lines([line]).finding
    assert finding is not None
    assert word in finding.message


def test_a_line_that_was_refused_changes_nothing() -> None:
    """The verifier still stands where it stood."""
    lines = make_lines(10)
    verifier = feed_lines(lines[:5])
    head = verifier.head
    for wrong in (lines[6], lines[4], b"x\n"):
        with pytest.raises(Mismatch):
            verifier.feed(wrong)
        assert verifier.head == head
    assert verifier.feed(lines[5])["type"] == "dispatch"


# What the log says of itself


def test_a_recovery_shows_until_an_anchor_covers_it() -> None:
    """Then somebody has seen the log after it."""
    lines = extend_log(make_lines(10), "recovered", {"state": "missing"})
    lines = extend_log(lines, "dispatch", {})
    report = verify_lines(lines)
    assert (report.verdict, report.recoveries) == ("recovered", (10,))
    assert verify_lines(lines, anchors=[make_anchor(lines, 10)]).verdict == "recovered"
    assert verify_lines(lines, anchors=[make_anchor(lines, 11)]).verdict == "proven"


def test_a_log_that_begins_with_a_recovery_says_so() -> None:
    """A writer may have found nothing before it but half a line."""
    chain = Chain("ab")
    lines = [chain.extend(make_source("recovered"), encode_body({}))]
    report = verify_lines(lines)
    assert (report.verdict, report.recoveries) == ("recovered", (0,))


def test_a_log_that_says_it_is_broken_is_tampered() -> None:
    """The first such record is the one that is named."""
    lines = extend_log(make_lines(10), "broken", {"why": "cut"})
    lines = extend_log(lines, "broken", {"why": "again"})
    report = verify_lines(lines)
    assert report.verdict == "tampered"
    assert locate(report) == ("broken", 10)


def test_a_segment_that_does_not_go_on_where_the_last_ended_is_found() -> None:
    """Its first record repeats the end of the one before."""
    lines = make_lines(10)
    wrong = {"previous": Head().to_dict()}
    assert locate(verify_lines(extend_log(lines, "log_opened", wrong))) == ("checkpoint", 10)
    assert locate(verify_lines(extend_log(lines, "log_opened", {}))) == ("checkpoint", 10)
    good = {"previous": feed_lines(lines).head.to_dict()}
    assert verify_lines(extend_log(lines, "log_opened", good)).verdict == "consistent"


def test_odd_bodies_of_the_logs_own_records_do_not_confuse_it() -> None:
    """Whatever stands in them, nothing but a verdict comes out."""
    lines = extend_log(make_lines(3), "segment_removed", {"segment": "x"})
    lines = extend_log(lines, "segment_removed", {"segment": 4})
    lines = extend_log(lines, "segment_removed", {"segment": 2})
    assert feed_lines(lines).claims.find_removed_to(None) == 4
    odd = extend_log(make_lines(3), "log_opened", {"previous": [1]})
    assert locate(verify_lines(odd)) == ("checkpoint", 3)


# Going on


def test_verification_goes_on_from_a_saved_head() -> None:
    """What lies before it is not claimed, and anchors there are said to be unchecked."""
    lines = make_lines(60)
    verifier = feed_lines(lines[:30])
    log = parse_record(lines[0])["log"]
    anchors = [make_anchor(lines, 10), make_anchor(lines, 50)]
    report = verify_lines(lines[30:], start=verifier.head, log=log, anchors=anchors)
    assert (report.verdict, report.proven_to, report.first) == ("proven", 50, 30)
    assert report.notes == ("anchor at 10 not checked: the reading began later",)
    assert report.head is not None
    assert report.head.size == 60
    wrong = verify_lines(lines[31:], start=verifier.head, log=log)
    assert locate(wrong) == ("gap", 30)


def test_memory_stays_constant_however_long_the_log() -> None:
    """Ten times as many records take no more of it."""

    def measure(count: int) -> int:
        chain, verifier = Chain("ab"), LineVerifier()
        tracemalloc.start()
        for _ in range(count):
            verifier.feed(chain.extend(make_source(), encode_body({"n": 1})))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    measure(100)
    assert measure(4000) < measure(400) + 20_000


# What is proven, and by what


def test_records_behind_the_last_proof_are_counted() -> None:
    """By the anchor, by the signature that reaches further, or by nothing at all."""
    lines = make_lines(60, signer=SIGNER, every=50)
    anchor = make_anchor(lines, 20, SIGNER)
    assert (r := verify_lines(lines, anchors=[anchor])).unproven == 40, r
    report = verify_lines(lines, anchors=[anchor], key=VERIFIER)
    # Record 51 holds the last signed checkpoint, and is as good as it.
    assert (report.proven_to, report.signed_to, report.unproven) == (20, 51, 8)
    assert (verify_lines(lines).unproven, verify_lines(lines, key=VERIFIER).unproven) == (60, 8)
    assert verify_lines(lines[:52], key=VERIFIER).unproven == 0
    assert verify_lines(lines, anchors=[make_anchor(lines, 51)]).unproven == 8


def test_a_checkpoint_that_says_more_than_its_note_is_not_proven_with_it() -> None:
    """What stands beside the note is nobody's word."""
    lines = make_lines(10, signer=SIGNER, every=50)
    root = feed_lines(lines).tree.compute_root()
    note = make_note(parse_record(lines[0])["log"], 10, root, SIGNER)
    plain = extend_log(lines, "checkpoint", {"note": note.text})
    assert verify_lines(plain, key=VERIFIER).unproven == 0
    more = extend_log(lines, "checkpoint", {"note": note.text, "by": "forger"})
    assert verify_lines(more, key=VERIFIER).unproven == 1


def test_a_log_of_two_names_is_tampered_with() -> None:
    """In its openings, in its checkpoints, or in the anchors."""
    lines = make_lines(10)
    named = extend_log(lines, "log_opened", _make_opening(lines, "ann"))
    assert verify_lines(named).name == "ann"
    twice = extend_log(named, "log_opened", _make_opening(named, "bob"))
    assert locate(verify_lines(twice)) == ("wrong log", 11)
    anchor = make_note(parse_record(lines[0])["log"], 10, feed_lines(lines).tree.compute_root())
    report = verify_lines(named, anchors=[make_named(anchor, "bob")])
    assert locate(report)[0] == "wrong log"
    # A name behind the proven position is only somebody's word.
    assert verify_lines(named, anchors=[anchor]).name is None
    assert verify_lines(named, anchors=[make_named(anchor, "ann")]).name == "ann"


def test_a_checkpoint_alone_may_say_whose_log_it_is() -> None:
    """With or without a key, and against what an opening says."""
    lines = make_lines(10)
    note = make_note(
        parse_record(lines[0])["log"], 10, feed_lines(lines).tree.compute_root(), SIGNER, "ann"
    )
    named = extend_log(lines, "checkpoint", {"note": note.text})
    assert verify_lines(named).name == "ann"
    twice = extend_log(named, "log_opened", _make_opening(named, "bob"))
    assert locate(verify_lines(twice)) == ("wrong log", 11)


def test_the_first_session_of_a_log_is_kept_with_its_record() -> None:
    """The log's own records may come before it, those of sub-agents after it."""
    chain, verifier = Chain("ab"), LineVerifier()
    for session in (None, "root", "child"):
        source = encode_source("dispatch", session, None, None, None, None)
        verifier.feed(chain.extend(source, encode_body({})))
    assert verifier.claims.first_session == (1, "root")


def make_named(note: Note, name: str) -> Note:
    return make_note(note.checkpoint.log, note.checkpoint.size, note.checkpoint.root, None, name)


def _make_opening(lines: list[bytes], name: str) -> dict[str, Any]:
    return {"name": name, "previous": feed_lines(lines).head.to_dict()}
