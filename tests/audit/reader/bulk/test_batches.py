"""Many lines at a time, with the verdict of one after the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from amplifier_audit.checkpoint import make_note
from amplifier_audit.encoding import encode_body
from amplifier_audit.line_verifier import Claims, LineVerifier
from amplifier_audit.quick_lines import ENOUGH, EVERY, FEWEST, LineBatches, Shapes
from amplifier_audit.record import Chain, Head, hash_record
from amplifier_audit.report import Mismatch, Report
from tests.audit.reader.bulk.odd_records import make_content, spoil_content
from tests.audit.support import (
    SIGNER,
    VERIFIER,
    feed_lines,
    make_anchor,
    make_lines,
    make_source,
    verify_lines,
)

FAR = 1 << 40


def verify_batch(lines: Sequence[bytes], shapes: Shapes, **options: Any) -> tuple[Report, int]:
    """The verdict on these lines, and how many of them were taken many at a time."""
    verifier = LineVerifier(**options)
    batches = LineBatches(verifier, shapes)
    first = many = 0
    try:
        while first < len(lines):
            taken = batches.take(lines, first, FAR)
            many += taken
            first += taken
            if first < len(lines):
                batches.feed(lines[first])
                first += 1
    except Mismatch as mismatch:
        return verifier.report("tampered", mismatch.finding), many
    return verifier.finish(), many


def chain_lines(
    contents: Sequence[bytes], log: str = "log", head: Head | None = None
) -> list[bytes]:
    """Lines with right places, links and hashes, whatever they hold."""
    start = head or Head()
    lines, previous = [], start.hash
    for place, content in enumerate(contents, start.size):
        covered = b'{"v":1,"log":"%b","seq":%d,%b,"prev":"%b"' % (
            log.encode(),
            place,
            content,
            previous.encode(),
        )
        previous = hash_record(covered)
        lines.append(b'%b,"hash":"%b"}\n' % (covered, previous.encode()))
    return lines


def teach(**options: Any) -> tuple[Shapes, LineVerifier]:
    """Shapes of what writers make, and a verifier that has read all that."""
    shapes = Shapes()
    verifier = LineVerifier(**options)
    batches = LineBatches(verifier, shapes)
    for line in chain_lines([make_content(seed) for seed in range(3000)]):
        batches.feed(line)
    return shapes, verifier


SHAPES, TAUGHT = teach()


def go_on() -> dict[str, Any]:
    """The options of a verifier that goes on behind that."""
    claims = Claims(first_session=TAUGHT.claims.first_session)
    return {"start": TAUGHT.head, "log": TAUGHT.log, "claims": claims}


def test_ordinary_lines_are_taken_many_at_a_time() -> None:
    """Once their shape is known; the checkpoints are not among them."""
    lines = make_lines(500)
    report, many = verify_batch(lines, Shapes())
    assert report == verify_lines(lines)
    assert 500 > many > 500 - 2 * EVERY * ENOUGH - 20


def test_whatever_a_line_holds_the_verdict_is_the_same() -> None:
    """Its hash and its links are right; only what is between them is odd."""
    many = wrong = 0
    head = TAUGHT.head
    for seed in range(1500):
        odd = spoil_content(make_content(seed), seed)
        contents = [make_content(seed + 1), odd, make_content(seed + 2)]
        lines = chain_lines(contents, head=head)
        report, taken = verify_batch(lines, SHAPES, **go_on())
        assert report == verify_lines(lines, **go_on()), odd
        many += taken
        wrong += report.verdict == "tampered"
    assert many > 1500
    assert 300 < wrong < 1400


def test_whatever_is_wrong_with_a_line_the_verdict_is_the_same() -> None:
    """Places, links, hashes and ends of lines."""
    head = TAUGHT.head
    good = chain_lines([make_content(seed) for seed in range(4)], head=head)
    for lines in (
        [good[0], good[2], good[3]],
        [good[0], good[0], good[1]],
        [good[1], good[0]],
        [good[0], good[1][:-1] + b" \n", good[2]],
        [good[0], good[1].replace(b'"hash":"', b'"hash":"f', 1), good[2]],
        [good[0], good[1].replace(b'"v":1', b'"v":2')],
        [good[0], good[1].replace(b'"v":1', b'"v": 1')],
        [good[0], chain_lines([make_content(9)], "other", feed(good[:1], head))[0]],
        [b"\n", good[0]],
        [b'{"v":1,"log":"log","seq":%d,\n' % head.size],
        [good[0], good[1].replace(b"2026", b"2027")],
    ):
        report, _ = verify_batch(lines, SHAPES, **go_on())
        assert report == verify_lines(lines, **go_on())
        assert report.verdict == "tampered"


@pytest.mark.parametrize("size", [2, 9, 95, 993, 999, 1000, 9960, 99_990, 123_456])
def test_whatever_is_wrong_in_a_long_run_the_verdict_is_the_same(size: int) -> None:
    """At every place of it, where sequences become longer too."""
    head = Head(size, "ab" * 32, (b"x" * 32,) * size.bit_count())
    good = [make_content(seed) for seed in range(60)]
    options = go_on() | {"start": head}
    report, many = verify_batch(chain_lines(good, head=head), SHAPES, **options)
    assert (report.verdict, report.size) == ("consistent", size + 60)
    assert many > 55
    for place in range(60):
        odd = [*good[:place], spoil_content(good[place], 60 * size + place), *good[place + 1 :]]
        lines = chain_lines(good, head=head)
        changed = lines[place].replace(b'"mono":', b'"mono":1')
        swapped = [*lines[:place], *lines[place : place + 2][::-1], *lines[place + 2 :]]
        for wrong in (
            chain_lines(odd, head=head),
            [*lines[:place], changed, *lines[place + 1 :]],
            [*lines[:place], *lines[place + 1 :]],
            swapped,
        ):
            report, _ = verify_batch(wrong, SHAPES, **go_on() | {"start": head})
            assert report == verify_lines(wrong, **go_on() | {"start": head})


def spell_otherwise(content: bytes, head: Head) -> bytes:
    """A line that is right, and not as writers make them."""
    [line] = chain_lines([content], head=head)
    covered = line[: line.index(b',"hash"')].replace(b'"v":1', b'"v": 1')
    return b'%b,"hash":"%b"}\n' % (covered, hash_record(covered).encode())


@pytest.mark.parametrize("every", [1, 2, 10, 100])
def test_lines_that_are_spelled_otherwise_are_not_tried_too_often(
    every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever makes many of them must not make the verifier slow."""
    tried: list[int] = []
    count = LineBatches._count_fitting

    def note(self: LineBatches, lines: Sequence[bytes]) -> int:
        tried.append(len(lines))
        return count(self, lines)

    monkeypatch.setattr(LineBatches, "_count_fitting", note)
    verifier, lines = LineVerifier(**go_on()), []
    for number in range(1000):
        content = make_content(number)
        [line] = chain_lines([content], head=verifier.head)
        lines.append(line if number % every else spell_otherwise(content, verifier.head))
        verifier.feed(lines[-1])
    report, _ = verify_batch(lines, SHAPES, **go_on())
    assert report == verify_lines(lines, **go_on())
    assert sum(tried) <= (FEWEST + 1) * len(lines)


def feed(lines: Sequence[bytes], head: Head) -> Head:
    """The head behind these lines."""
    return feed_lines(lines, start=head, log="log").head


def test_a_line_that_is_spelled_otherwise_teaches_nothing() -> None:
    """It is right, but its members lie elsewhere than those of other lines."""
    shapes = Shapes()
    verifier = LineVerifier(log="log")
    batches = LineBatches(verifier, shapes)
    for _ in range(EVERY * ENOUGH):
        batches.feed(spell_otherwise(make_content(1), verifier.head))
    assert not batches.take(chain_lines([make_content(1)], head=verifier.head), 0, FAR)


def test_nothing_is_taken_before_the_log_is_known() -> None:
    """The first line says which one it is."""
    lines = chain_lines([make_content(seed) for seed in range(3)])
    assert LineBatches(LineVerifier(), SHAPES).take(lines, 0, FAR) == 0
    assert LineBatches(LineVerifier(log="log"), SHAPES).take(lines, 0, 0) == 0


def test_the_first_session_is_noted() -> None:
    """Records without one do not hide it, and are taken at once nevertheless."""
    nameless = [seed for seed in range(2000) if b'"session":null' in make_content(seed)][:20]
    contents = [make_content(seed) for seed in nameless]
    lines = chain_lines([*contents, make_content(0), *contents])
    verifier = LineVerifier(log="log")
    batches = LineBatches(verifier, SHAPES)
    assert batches.take(lines, 0, FAR) == 20
    assert verifier.claims.first_session is None
    batches.feed(lines[20])
    name = json.loads(lines[20])["session"]
    assert verifier.claims.first_session == (20, name)
    assert batches.take(lines, 21, FAR) == 20


def test_anchors_are_checked_where_they_belong() -> None:
    """A right one and one of another history, at every size."""
    lines = make_lines(200)
    other = make_lines(200, log=json.loads(lines[0])["log"])
    shapes = Shapes()
    verify_batch(lines, shapes)
    for size in range(100, 200):
        for anchor in (make_anchor(lines, size), make_anchor(other, size)):
            report, many = verify_batch(lines, shapes, anchors=[anchor])
            assert report == verify_lines(lines, anchors=[anchor])
            assert many > 90


@pytest.mark.parametrize(("promised", "signed"), [(50, 50), (50, 51), (50, 53), (20, 90), (99, 7)])
def test_records_without_a_signature_are_counted(promised: int, signed: int) -> None:
    """To the record: also when it is one of those that are taken at once."""
    shapes = Shapes()
    chain = Chain("log")
    lines = [chain.extend(make_source("log_opened"), b'{"checkpoint_every":%d}' % promised)]
    while chain.size < 400:
        if chain.size % signed == 1:
            note = make_note("log", chain.size, chain.tree.compute_root(), SIGNER)
            lines.append(chain.extend(make_source("checkpoint"), encode_body({"note": note.text})))
        lines.append(chain.extend(make_source(), b'{"n":%d}' % chain.size))
    verify_batch(lines, shapes)
    report, many = verify_batch(lines, shapes, key=VERIFIER)
    assert report == verify_lines(lines, key=VERIFIER)
    assert many > 15
    assert (report.verdict == "tampered") == (signed > promised + 1)
