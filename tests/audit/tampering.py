"""Random damage to the lines of a log, with the sequence that a verifier must name.

Runs as a program of its own for large counts: `python -m tests.audit.tampering --cases 1000000`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable

from amplifier_audit.encoding import encode_body
from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.record import Chain, Head, parse_record
from amplifier_audit.report import Mismatch
from tests.audit.support import make_lines, make_source

Case = tuple[list[bytes], int]
"""The damaged lines, and the sequence that belongs where they depart."""


def flip_bit(lines: list[bytes], chance: random.Random) -> Case:
    """One bit of one line is another."""
    at = chance.randrange(len(lines))
    place = chance.randrange(len(lines[at]))
    line = bytearray(lines[at])
    line[place] ^= 1 << chance.randrange(8)
    return _splice(lines, at, bytes(line)), at


def change_byte(lines: list[bytes], chance: random.Random) -> Case:
    """One byte of one line is another."""
    at = chance.randrange(len(lines))
    place = chance.randrange(len(lines[at]))
    line = bytearray(lines[at])
    line[place] = (line[place] + chance.randrange(1, 256)) % 256
    return _splice(lines, at, bytes(line)), at


def drop_byte(lines: list[bytes], chance: random.Random) -> Case:
    """One byte of one line is missing."""
    at = chance.randrange(len(lines))
    place = chance.randrange(len(lines[at]))
    return _splice(lines, at, lines[at][:place] + lines[at][place + 1 :]), at


def insert_byte(lines: list[bytes], chance: random.Random) -> Case:
    """One byte too many inside a line."""
    at = chance.randrange(len(lines))
    place = chance.randrange(len(lines[at]))
    extra = bytes([chance.randrange(256)])
    return _splice(lines, at, lines[at][:place] + extra + lines[at][place:]), at


def delete_line(lines: list[bytes], chance: random.Random) -> Case:
    """A record is missing; the last one only an anchor could miss."""
    at = chance.randrange(len(lines) - 1)
    return lines[:at] + lines[at + 1 :], at


def swap_lines(lines: list[bytes], chance: random.Random) -> Case:
    """Two records have changed places."""
    first, second = sorted(chance.sample(range(len(lines)), 2))
    damaged = list(lines)
    damaged[first], damaged[second] = damaged[second], damaged[first]
    return damaged, first


def duplicate_line(lines: list[bytes], chance: random.Random) -> Case:
    """A record is there twice, next to itself or elsewhere."""
    at = chance.randrange(len(lines))
    to = chance.choice([at + 1, chance.randrange(len(lines) + 1)])
    where = to if to != at else at + 1
    return [*lines[:where], lines[at], *lines[where:]], where


def insert_forged(lines: list[bytes], chance: random.Random) -> Case:
    """A record with a right hash and the right number, that nobody wrote."""
    at = chance.randrange(1, len(lines))
    return [*lines[:at], _forge(lines, at, chance), *lines[at:]], at + 1


def replace_by_forged(lines: list[bytes], chance: random.Random) -> Case:
    """A record is replaced by another with a right hash; the link to the next one breaks."""
    at = chance.randrange(1, len(lines) - 1)
    return [*lines[:at], _forge(lines, at, chance), *lines[at + 1 :]], at + 1


WAYS: tuple[Callable[[list[bytes], random.Random], Case], ...] = (
    flip_bit,
    change_byte,
    drop_byte,
    insert_byte,
    delete_line,
    swap_lines,
    duplicate_line,
    insert_forged,
    replace_by_forged,
)


def _forge(lines: list[bytes], at: int, chance: random.Random) -> bytes:
    before = parse_record(lines[at - 1])
    filler = tuple(bytes(32) for _ in range(at.bit_count()))
    chain = Chain(before["log"], Head(at, before["hash"], filler))
    return chain.extend(make_source(), encode_body({"forged": chance.random()}))


def _splice(lines: list[bytes], at: int, line: bytes) -> list[bytes]:
    """The file is cut into lines anew, as a reader would."""
    merged = b"".join([line, *lines[at + 1 : at + 2]])
    rest = [part + b"\n" for part in merged.split(b"\n")]
    rest[-1] = rest[-1][:-1]
    return lines[:at] + [part for part in rest if part] + lines[at + 2 :]


def find_named(lines: list[bytes], verifier: LineVerifier) -> int | None:
    """The sequence that the verifier names, or None if it finds nothing."""
    try:
        for line in lines:
            verifier.feed(line)
    except Mismatch as mismatch:
        return mismatch.finding.sequence
    return None


class Corpus:
    """Logs of 50 to 500 records.

    A verifier's memory is its head. So the undamaged part before the damage is verified once for
    each log and not again for each case, unless `whole` is wanted.
    """

    def __init__(self, chance: random.Random, count: int, *, whole: bool = False) -> None:
        self._chance = chance
        self._whole = whole
        logs = [make_lines(chance.randrange(50, 501)) for _ in range(count)]
        self._logs = [(lines, _list_heads(lines)) for lines in logs]

    def make_case(self) -> tuple[str, int | None, int]:
        """The way, what the verifier named, what it had to name."""
        lines, heads = self._chance.choice(self._logs)
        way = self._chance.choice(WAYS)
        damaged, expected = way(lines, self._chance)
        while damaged == lines:
            damaged, expected = way(lines, self._chance)
        start = 0 if self._whole else max(0, expected - 2)
        log = heads[0][1] if start else None
        return (
            way.__name__,
            find_named(damaged[start:], LineVerifier(start=heads[start][0], log=log)),
            expected,
        )


def _list_heads(lines: list[bytes]) -> list[tuple[Head, str | None]]:
    verifier = LineVerifier()
    heads = []
    for line in lines:
        heads.append(verifier.head)
        verifier.feed(line)
    return [(head, verifier.log) for head in heads]


def main() -> None:
    """Print one line of JSON."""
    options = argparse.ArgumentParser()
    options.add_argument("--cases", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--whole", action="store_true", help="verify each log from its start")
    given = options.parse_args()
    corpus = Corpus(random.Random(given.seed), 40, whole=given.whole)
    missed: dict[str, int] = {}
    counts: dict[str, int] = {}
    start = time.monotonic()
    for _ in range(given.cases):
        way, found, expected = corpus.make_case()
        counts[way] = counts.get(way, 0) + 1
        if found != expected:
            missed[way] = missed.get(way, 0) + 1
    spent = round(time.monotonic() - start, 1)
    result = {"cases": given.cases, "counts": counts, "missed": missed, "seconds": spent}
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
