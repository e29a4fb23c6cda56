"""One line of a log: its members, how it is read, what its hash covers.

    {"v":1,"log":…,"seq":…,"time":…,"mono":…,"session":…,"turn":…,"event":…,"hook":…,
     "registration":…,"type":…,"body":{…},"prev":…,"hash":…}

All members, in this order, on one line of printable ASCII that ends with LF. `hash` is SHA-256 over
a label and the exact bytes of the line up to the comma before `"hash"`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from amplifier_audit.errors import MalformedRecord
from amplifier_audit.format.limits import RECORD_LIMIT
from amplifier_audit.format.strict_json import read_json

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
