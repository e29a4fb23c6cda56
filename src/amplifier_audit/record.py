"""One line of a log: its members, how it is read, what its hash covers.

    {"v":1,"log":…,"seq":…,"time":…,"mono":…,"session":…,"turn":…,"event":…,"hook":…,
     "registration":…,"type":…,"body":{…},"prev":…,"hash":…}

All members, in this order, on one line of printable ASCII that ends with LF. `hash` is SHA-256 over
a label and the exact bytes of the line up to the comma before `"hash"`.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from amplifier_audit.errors import AuditError, MalformedRecord
from amplifier_audit.merkle import LEAF_DIGEST, Tree, fold
from amplifier_audit.strict_json import RECORD_LIMIT, read_json

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)


def name_log(session: str) -> str:
    """The name of a session's log: its id where that is plain, else a digest of the id."""
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
    return session if is_log_name(session) else digest


def is_log_name(text: object) -> bool:
    """Whether a value can be the name of a log."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def refuse_bad_log_name(name: str | None) -> None:
    """No name, or one that stays on its line and in its folder."""
    if name is not None and not is_log_name(name):
        raise AuditError(
            f"A log's name has up to 128 letters, digits, dots, dashes and underscores, "
            f"and begins with a letter or digit; got {name!r}"
        )


VERSION = 1
LABEL = b"amplifier-audit record v1\n"
# Begun once and copied: to begin a digest takes longer than to hash a short line.
RECORD_DIGEST = hashlib.sha256(LABEL)
GENESIS = "0" * 64
MEMBERS = (
    *("v", "log", "seq", "time", "mono", "session", "turn", "event", "hook", "registration"),
    *("type", "body", "prev", "hash"),
)
TAIL = len(',"hash":""}\n') + 64
_INNER = MEMBERS[3:-2]

Record = dict[str, Any]


def make_line_start(log: str) -> bytes:
    """How every line of a log begins, up to its sequence."""
    return b'{"v":%d,"log":%b,"seq":' % (VERSION, json.dumps(log).encode("ascii"))


def hash_record(covered: bytes) -> str:
    """The hash of a record, from the bytes that it covers."""
    digest = RECORD_DIGEST.copy()
    digest.update(covered)
    return digest.hexdigest()


def read_claimed_hash(line: bytes) -> str | None:
    """The hash that a line (with its LF) states; None when it does not end like a record."""
    if line[-TAIL : -TAIL + 9] != b',"hash":"' or line[-3:] != b'"}\n':
        return None
    return line[-TAIL + 9 : -3].decode("ascii", "replace")


def parse_record(line: bytes) -> Record:
    """The record of a line (with its LF), read strictly."""
    if len(line) > RECORD_LIMIT:
        raise MalformedRecord(f"a line of {len(line)} bytes; at most {RECORD_LIMIT} are allowed")
    if line[-1:] != b"\n":
        raise MalformedRecord("bytes outside printable ASCII, or no line break at the end")
    record = read_json(line[:-1])
    if type(record) is not dict or tuple(record) != MEMBERS:
        raise MalformedRecord("not the members of a record, in their order")
    _refuse_wrong_types(record)
    return record


def parse_inner(content: bytes) -> Record:
    """The members from `time` to `body`, for a verifier that has compared all others as bytes."""
    record = read_json(b"{%b}" % content)
    if type(record) is not dict or tuple(record) != _INNER:
        raise MalformedRecord("not the members of a record, in their order")
    written, *_, kind, body = record.values()
    if type(body) is not dict:
        raise MalformedRecord("sequence or body is of the wrong type")
    if not type(written) is type(kind) is str:
        raise MalformedRecord("a member that must be text is not")
    return record


def _refuse_wrong_types(record: Record) -> None:
    version, log, sequence, written, *_, kind, body, previous, own = record.values()
    # `type`, not `isinstance`: True is an int as well.
    if version != VERSION or type(version) is not int:
        raise MalformedRecord(f"format version {version!r}; this program reads {VERSION}")
    if type(sequence) is not int or sequence < 0 or type(body) is not dict:
        raise MalformedRecord("sequence or body is of the wrong type")
    if not type(log) is type(written) is type(kind) is type(previous) is type(own) is str:
        raise MalformedRecord("a member that must be text is not")


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
            size = int(data["size"])
            last = str(data["hash"])
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
        start = self._start
        size = self.size
        last = self._hash
        begin_record = RECORD_DIGEST.copy
        begin_leaf = LEAF_DIGEST.copy
        known = -1
        date = b""
        lines: list[bytes] = []
        leaves: list[bytes] = []
        for source, body, moment, ticks in records:
            second, fraction = divmod(moment, 1_000_000_000)
            if second != known:
                known = second
                date = _format_second(second)
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
        self.size = size
        self._hash = last
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
