"""Who is at the other end of a socket."""

from __future__ import annotations

import os
import pwd
import socket

import pytest

from amplifier_audit.errors import AuditError, AuditUnavailable
from amplifier_audit.messages import Peer, find_user, read_peer


def test_the_kernel_says_who_it_is() -> None:
    """Process, user and group."""
    one, other = socket.socketpair()
    with one, other:
        peer = read_peer(one)
    assert peer == Peer(os.getpid(), os.geteuid(), os.getegid())
    assert peer.to_dict() == {"process": peer.process, "user": peer.user, "group": peer.group}


def test_a_system_that_cannot_say_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nobody could be told from anybody."""
    monkeypatch.delattr(socket, "SO_PEERCRED")
    one, other = socket.socketpair()
    with one, other, pytest.raises(AuditUnavailable, match="only Linux has"):
        read_peer(one)


def test_a_user_is_named_or_numbered() -> None:
    """An unknown one is an error with its name."""
    assert find_user("1234") == 1234
    assert find_user(pwd.getpwuid(0).pw_name) == 0
    with pytest.raises(AuditError, match="no user 'nobody-at-all'"):
        find_user("nobody-at-all")
