"""Messages with descriptors."""

from __future__ import annotations

import array
import socket


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
