"""The growing end of a log: gives each body its sequence, its place in the chain and its line."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from amplifier_audit.format.record import GENESIS, RECORD_DIGEST, TAIL, VERSION
from amplifier_audit.format.tree import LEAF_DIGEST, Tree, fold

_COVERED = b'%b%d,"time":"%b.%09dZ","mono":%d,%b,"body":%b,"prev":"%b"'
_HASH = re.compile(r"[0-9a-f]{64}")

Waiting = tuple[bytes, bytes, int, int]
"""Source and body of a record, and when it came: in nanoseconds since 1970, and monotonic ones."""


@dataclass(frozen=True, slots=True)
class Head:
    """Everything that is needed to go on after so many records."""

    size: int = 0
    hash: str = GENESIS
    frontier: tuple[bytes, ...] = ()

    def compute_root(self) -> bytes:
        """The root of the tree over these records."""
        return fold(self.frontier)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"size": self.size, "hash": self.hash, "frontier": [h.hex() for h in self.frontier]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Head:
        """From JSON; ValueError for anything else."""
        try:
            size, last = int(data["size"]), str(data["hash"])
            frontier = tuple(bytes.fromhex(node) for node in data["frontier"])
            Tree(size, frontier)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"Not the head of a log: {error}") from error
        if not _HASH.fullmatch(last):
            raise ValueError(f"Not the head of a log: {last[:80]!r} is not a hash")
        return cls(size, last, frontier)


class Chain:
    """Turns bodies into lines. Not locked: its owner sees to it that one call runs at a time."""

    __slots__ = ("_hash", "_start", "_tree", "log", "size")

    def __init__(self, log: str, head: Head | None = None) -> None:
        head = head or Head()
        self.log = log
        self.size = head.size
        self._hash = head.hash.encode("ascii")
        self._tree = Tree(head.size, head.frontier)
        self._start = b'{"v":%d,"log":"%b","seq":' % (VERSION, log.encode("ascii"))

    @property
    def hash(self) -> str:
        """The hash of the last record."""
        return self._hash.decode("ascii")

    @property
    def tree(self) -> Tree:
        """The tree over all lines so far."""
        return self._tree

    @property
    def head(self) -> Head:
        """The end of the log as it is now."""
        return Head(self.size, self.hash, self._tree.frontier)

    def extend(self, source: bytes, body: bytes) -> bytes:
        """The line (with LF) of a record of now, from `encode_source` and `encode_body`."""
        (line,) = self.extend_all([(source, body, time.time_ns(), time.monotonic_ns())])
        return line

    def extend_all(self, records: Iterable[Waiting]) -> list[bytes]:
        """The lines of the next records; each says when it came, in nanoseconds of both clocks."""
        start, size, last = self._start, self.size, self._hash
        begin_record, begin_leaf = RECORD_DIGEST.copy, LEAF_DIGEST.copy
        known, date = -1, b""
        lines: list[bytes] = []
        leaves: list[bytes] = []
        for source, body, moment, ticks in records:
            second, fraction = divmod(moment, 1_000_000_000)
            if second != known:
                known, date = second, _format_second(second)
            covered = _COVERED % (
                start,
                size,
                date,
                fraction,
                ticks // 1000,  # in nanoseconds it would pass 2^53 after 104 days
                source,
                body,
                last,
            )
            digest = begin_record()
            digest.update(covered)
            last = digest.hexdigest().encode("ascii")
            leaf = b'%b,"hash":"%b"}' % (covered, last)
            digest = begin_leaf()
            digest.update(leaf)
            leaves.append(digest.digest())
            lines.append(leaf + b"\n")
            size += 1
        self.size, self._hash = size, last
        self._tree.extend(leaves)
        return lines

    def measure_line(self) -> int:
        """How long the next line is without its source and its body."""
        ticks = time.monotonic_ns() // 1000
        empty = (self._start, self.size, _format_second(0), 0, ticks, b"", b"", self._hash)
        return len(_COVERED % empty) + TAIL


@lru_cache(maxsize=1)
def _format_second(second: int) -> bytes:
    """ISO 8601, in UTC; it goes on with the fraction and a Z."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)).encode("ascii")


def make_log_id() -> str:
    """A random id for a log."""
    return secrets.token_hex(16)
