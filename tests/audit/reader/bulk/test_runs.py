"""Lines that follow each other: their places, their links, their hashes."""

from __future__ import annotations

import pytest

from amplifier_audit.quick_lines import LINKS, are_in_place, check_links, count_alike
from amplifier_audit.record import Head, make_line_start
from tests.audit.reader.bulk.test_batches import chain_lines

CONTENTS = [b'"n":%d' % number for number in range(40)]
START = make_line_start("log")
SIZES = [0, 1, 9, 10, 73, 99, 100, 998, 999, 1000, 1001, 9999, 10_000, 99_999, 123_456, 10**9]


def make_run(size: int) -> list[bytes]:
    """Lines from a sequence on, as many as are alike."""
    head = Head(size, "ab" * 32, (b"x" * 32,) * size.bit_count())
    return chain_lines(CONTENTS[: count_alike(size)], head=head)


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
