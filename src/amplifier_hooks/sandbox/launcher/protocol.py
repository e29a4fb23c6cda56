"""Messages of the agent, the launcher and its cells; the first byte says which one it is."""

from __future__ import annotations

import array
import socket

WALLED, PLAIN = b"w", b"p"  # to the launcher: a cell for commands behind a wall, or without one
RUN, TERMINATE, KILL = b"R", b"T", b"K"  # to a cell
LONGEST = 32_768  # bytes of an order that are sent in the message itself
FAILED, ENDED, GONE = b"F", b"S", b"G"  # from a cell: not started; ended; and nothing is left


def receive(sock: socket.socket, size: int, most: int) -> tuple[bytes, list[int]]:
    """A message and its descriptors, which no program inherits; empty when nobody is left.

    `socket.recv_fds` would let every command inherit them: it does not pass on its flags.
    """
    descriptors = array.array("i")
    room = socket.CMSG_LEN(most * descriptors.itemsize)
    try:
        data, ancillary, _, _ = sock.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    except OSError:
        return b"", []
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(payload[: len(payload) // 4 * 4])
    return data, list(descriptors)
