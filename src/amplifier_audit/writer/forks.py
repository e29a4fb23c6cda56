"""Tells what a child process must not use that it is a copy of its parent's.

Asking for the number of the process with each record would cost more than to queue the record.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Parental(Protocol):
    """What can be told that it is a copy, and another process has the original."""

    def leave_to_parent(self) -> None: ...


_originals: WeakSet[Parental] = WeakSet()


def refuse_in_children(one: Parental) -> None:
    """From now on: whichever process is forked, its copy takes nothing."""
    _originals.add(one)


def _refuse_all() -> None:
    for one in _originals:
        one.leave_to_parent()


# Once for all: such a call cannot be taken back.
if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_refuse_all)
