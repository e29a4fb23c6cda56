"""A child process is told what it must not use."""

from __future__ import annotations

import gc
import os
import weakref

import pytest

from amplifier_audit import log
from amplifier_audit.log import refuse_in_children


class Queue:
    refused = False

    def leave_to_parent(self) -> None:
        self.refused = True


def ask_child(queue: Queue) -> bool:
    """Whether the queue refuses in a forked process."""
    child = os.fork()
    if child == 0:
        os._exit(7 if queue.refused else 0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 7


def test_only_the_copy_of_the_child_refuses() -> None:
    """The parent goes on; whoever did not ask is left alone."""
    queue, other = Queue(), Queue()
    refuse_in_children(queue)
    assert ask_child(queue)
    assert not ask_child(other)
    assert not queue.refused


def test_what_is_gone_is_not_kept_for_the_next_fork() -> None:
    """A program may open and close a thousand logs."""
    queue = Queue()
    refuse_in_children(queue)
    gone = weakref.ref(queue)
    del queue
    gc.collect()
    assert gone() is None


def test_all_who_asked_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may have many logs open when it forks."""
    monkeypatch.setattr(log, "_originals", weakref.WeakSet())
    queues = [Queue() for _ in range(3)]
    for queue in queues:
        refuse_in_children(queue)
    log._refuse_all()
    assert all(queue.refused for queue in queues)
