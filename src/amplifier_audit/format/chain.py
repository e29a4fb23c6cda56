"""The growing end of a log: gives each body its sequence, its place in the chain and its line."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_audit.format.record import GENESIS, RECORD_DIGEST, VERSION
from amplifier_audit.format.tree import LEAF_DIGEST, Tree, fold

# The tree grows when somebody asks for it or so many leaves wait for it, not with each line.
LEAVES_AT_ONCE = 64
_HASH = re.compile(r"[0-9a-f]{64}")


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


class NanoClock:
    """ISO 8601 in UTC with nanoseconds; the date is formatted once a second."""

    __slots__ = ("_now", "_prefix", "_second")

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._second = -1
        self._prefix = ""

    def __call__(self) -> str:
        second, fraction = divmod(self._now(), 1_000_000_000)
        if second != self._second:
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        return f"{self._prefix}.{fraction:09d}Z"


class Chain:
    """Turns bodies into lines. Not locked: its owner sees to it that one call runs at a time."""

    __slots__ = ("_clock", "_leaves", "_start", "_tree", "hash", "log", "size")

    def __init__(self, log: str, head: Head | None = None, clock: NanoClock | None = None) -> None:
        head = head or Head()
        self.log = log
        self.hash = head.hash
        self.size = head.size
        self._tree = Tree(head.size, head.frontier)
        self._leaves: list[bytes] = []
        self._clock = clock or NanoClock()
        self._start = b'{"v":%d,"log":"%b","seq":' % (VERSION, log.encode("ascii"))

    @property
    def tree(self) -> Tree:
        """The tree over all lines so far."""
        self._grow_tree()
        return self._tree

    @property
    def head(self) -> Head:
        """The end of the log as it is now."""
        return Head(self.size, self.hash, self.tree.frontier)

    def extend(self, source: bytes, body: bytes) -> bytes:
        """The line (with LF) of the next record, from `encode_source` and `encode_body`."""
        covered = b'%b%d,"time":"%b","mono":%d,%b,"body":%b,"prev":"%b"' % (
            self._start,
            self.size,
            self._clock().encode("ascii"),
            time.monotonic_ns() // 1000,  # in nanoseconds it would pass 2^53 after 104 days
            source,
            body,
            self.hash.encode("ascii"),
        )
        digest = RECORD_DIGEST.copy()
        digest.update(covered)
        self.hash = digest.hexdigest()
        leaf = b'%b,"hash":"%b"}' % (covered, self.hash.encode("ascii"))
        digest = LEAF_DIGEST.copy()
        digest.update(leaf)
        self._leaves.append(digest.digest())
        self.size += 1
        if len(self._leaves) == LEAVES_AT_ONCE:
            self._grow_tree()
        return leaf + b"\n"

    def _grow_tree(self) -> None:
        push = self._tree.push
        for leaf in self._leaves:
            push(leaf)
        self._leaves.clear()


def make_log_id() -> str:
    """A random id for a log."""
    return secrets.token_hex(16)
