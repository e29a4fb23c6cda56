"""The words between the agent and its cells."""

from __future__ import annotations

import os
import socket

from amplifier_hooks.sandbox.launcher import protocol
from amplifier_hooks.sandbox.launcher.protocol import receive


def test_every_word_is_one_byte_and_no_two_in_one_direction_are_the_same() -> None:
    """The rest of a message is what the word is about."""
    asked = [protocol.RUN, protocol.TERMINATE, protocol.KILL]
    told = [protocol.FAILED, protocol.ENDED, protocol.GONE]
    kinds = [protocol.WALLED, protocol.PLAIN]
    assert all(len(word) == 1 for word in (*asked, *told, *kinds))
    assert all(len(set(group)) == len(group) for group in (asked, told, kinds))


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
