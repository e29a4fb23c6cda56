"""Messages with descriptors."""

from __future__ import annotations

import os
import socket

from amplifier_hooks.sandbox.launcher.messages import receive


def test_descriptors_arrive_and_no_program_inherits_them() -> None:
    """One that a command inherited would be a way out of its wall."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read, write = os.pipe()
    socket.send_fds(ours, [b"word"], [read, write])
    word, descriptors = receive(theirs, 64, 8)
    assert word == b"word"
    assert [os.get_inheritable(descriptor) for descriptor in descriptors] == [False, False]
    for descriptor in (read, write, *descriptors):
        os.close(descriptor)
    ours.close()
    assert receive(theirs, 64, 8) == (b"", [])
    theirs.close()


def test_a_socket_that_is_broken_counts_as_one_whose_other_end_is_gone() -> None:
    """Either way there is nobody to obey."""
    closed = socket.socket()
    closed.close()
    assert receive(closed, 64, 8) == (b"", [])
