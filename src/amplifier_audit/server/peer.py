"""Who is at the other end of a Unix socket, as the kernel says; nobody can claim to be another."""

from __future__ import annotations

import pwd
import socket
import struct
from dataclasses import asdict, dataclass

from amplifier_audit.errors import AuditError, AuditUnavailable

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
