"""Lines that follow each other: their places, their links, their hashes."""

from __future__ import annotations

import pytest

from amplifier_audit.merkle import hash_leaf
from amplifier_audit.quick_lines import LINKS, are_in_place, check_links, count_alike
from amplifier_audit.record import Head, hash_record, make_line_start
from tests.audit.reader.bulk.test_batches import chain_lines

CONTENTS = [b'"n":%d' % number for number in range(40)]
START = make_line_start("log")
SIZES = [0, 1, 9, 10, 73, 99, 100, 998, 999, 1000, 1001, 9999, 10_000, 99_999, 123_456, 10**9]


def make_run(size: int) -> list[bytes]:
    """Lines from a sequence on, as many as are alike."""
    head = Head(size, "ab" * 32, (b"x" * 32,) * size.bit_count())
    return chain_lines(CONTENTS[: count_alike(size)], head=head)


@pytest.mark.parametrize("size", SIZES)
def test_sequences_that_are_alike_begin_the_same_way(size: int) -> None:
    """They have as many digits, and differ in the last three only."""
    alike = count_alike(size)
    assert 0 < alike <= 1000
    last = size + alike - 1
    assert (len(str(size)), size // 1000) == (len(str(last)), last // 1000)
    assert (len(str(size)), size // 1000) != (len(str(last + 1)), (last + 1) // 1000)


@pytest.mark.parametrize("size", SIZES)
def test_lines_in_their_places_are_right(size: int) -> None:
    """Wherever they begin."""
    lines = make_run(size)
    assert are_in_place(lines, START, size)
    assert are_in_place(lines[:1], START, size)
    leaves, own = check_links(lines, "ab" * 32) or ([], "")
    assert leaves == [hash_leaf(line[:-1]) for line in lines]
    assert own == hash_record(lines[-1][: lines[-1].index(b',"hash"')])


@pytest.mark.parametrize("size", SIZES)
def test_no_other_sequence_is_in_place(size: int) -> None:
    """One more, one less, one with another digit; in any line."""
    lines = make_run(size)
    for other in (size + 1, size - 1, size + 1000, size + 1_000_000):
        if other >= 0:
            assert not are_in_place(lines, START, other)
    for place, line in enumerate(lines):
        wrong = line.replace(b'"seq":', b'"seq":0')
        assert not are_in_place([*lines[:place], wrong, *lines[place + 1 :]], START, size)


def test_every_byte_before_the_content_is_compared() -> None:
    """Of each line."""
    lines = make_run(1234)
    head = len(START) + len("1234,")
    for place in (0, 1, len(lines) - 1):
        for at in range(head):
            spoiled = bytearray(lines[place])
            spoiled[at] ^= 1
            run = [*lines[:place], bytes(spoiled), *lines[place + 1 :]]
            assert not are_in_place(run, START, 1234)


def test_every_byte_behind_the_content_is_compared() -> None:
    """Of each line; and the content is hashed."""
    lines = make_run(1234)
    for place in (0, 1, len(lines) - 1):
        for at in range(1, LINKS + len('"n":1')):
            spoiled = bytearray(lines[place])
            spoiled[-at] ^= 1
            run = [*lines[:place], bytes(spoiled), *lines[place + 1 :]]
            assert check_links(run, "ab" * 32) is None


def test_another_order_is_no_chain() -> None:
    """Each hash is right, and the links are not."""
    lines = make_run(1234)
    assert check_links(lines[1:], "ab" * 32) is None
    assert check_links([lines[0], lines[2], lines[1]], "ab" * 32) is None
    assert check_links([lines[0], lines[0]], "ab" * 32) is None
    assert check_links(lines, "cd" * 32) is None


def test_a_wrong_link_with_a_right_hash_is_found() -> None:
    """Whoever changes a link can make the hash fit."""
    lines = make_run(1234)
    covered = lines[3][: lines[3].index(b',"prev"')] + b',"prev":"%b"' % (b"0" * 64)
    wrong = b'%b,"hash":"%b"}\n' % (covered, hash_record(covered).encode())
    assert check_links([*lines[:3], wrong], "ab" * 32) is None
