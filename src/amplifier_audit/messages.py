"""The messages between a session and the writer: one JSON object per line, read strictly.

from the session                              from the writer
{"hello":1,"session":…,"client":…,"sent":…}   {"welcome":1,"have":n} or {"refused":why}
{"append":n, …members of a record…}
{"commit":n}                                  {"durable":n}: the first n are on disk
{"close":n}                                   {"closed":n}, or at any time {"failed":why}

n counts the records of one session's process, from 0. After a broken connection the session says
hello again, with the same random `client`; `have` is how many of its records are in the log, and it
goes on from there: nothing that was acknowledged is missing, and nothing stands there twice.
"""

from __future__ import annotations

import json
import pwd
import socket
import struct
from dataclasses import asdict, dataclass
from typing import Any

from amplifier_audit.encoding import encode_source
from amplifier_audit.errors import AuditError, AuditUnavailable, MalformedRecord
from amplifier_audit.strict_json import read_json

PROTOCOL = 1
MESSAGE_LIMIT = 8 * 1024 * 1024
SOURCE = ("type", "session", "turn", "event", "hook", "registration")


class BadMessage(Exception):
    """A line that is no message of this protocol."""


def encode_message(**members: Any) -> bytes:
    """A message, with its line break."""
    return json.dumps(members, separators=(",", ":")).encode("ascii") + b"\n"


def encode_append(number: int, source: tuple[Any, ...], body: bytes) -> bytes:
    """A record; `source` are the values of SOURCE, `body` is encoded already."""
    return b'{"append":%d,%b,"body":%b}\n' % (number, encode_source(*source, foreign=True), body)


def decode_message(line: bytes) -> dict[str, Any]:
    """A message from its line."""
    if not line.endswith(b"\n") or len(line) > MESSAGE_LIMIT:
        raise BadMessage("a line without an end")
    try:
        message = read_json(line[:-1])
    except MalformedRecord as error:
        raise BadMessage(str(error)) from error
    if type(message) is not dict or not message:
        raise BadMessage("not an object")
    return message


def read_count(message: dict[str, Any], name: str) -> int:
    """A member that counts records."""
    value = message.get(name)
    if type(value) is not int or value < 0:
        raise BadMessage(f"{name} is a number of records, not {value!r}"[:200])
    return value


def read_text(message: dict[str, Any], name: str, limit: int = 1024) -> str:
    """A member that is text."""
    value = message.get(name)
    if type(value) is not str or len(value) > limit:
        raise BadMessage(f"{name} is a text of at most {limit} characters")
    return value


_CREDENTIALS = struct.Struct("3i")


@dataclass(frozen=True, slots=True)
class Peer:
    """A process, its user and its group."""

    process: int
    user: int
    group: int

    def to_dict(self) -> dict[str, int]:
        """As JSON."""
        return asdict(self)


def read_peer(connection: socket.socket) -> Peer:
    """The process that made the other end of a connection."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        raise AuditUnavailable("A writer of its own needs SO_PEERCRED, which only Linux has")
    raw = connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    return Peer(*_CREDENTIALS.unpack(raw))


def find_user(text: str) -> int:
    """The number of a user, from a name or a number."""
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        return pwd.getpwnam(text).pw_uid
    except KeyError as error:
        raise AuditError(f"There is no user {text!r} on this machine") from error
