"""Tells what a child process must not use that it is a copy of its parent's.

Asking for the number of the process with each record would cost more than to queue the record.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Refusing(Protocol):
    """What can be told that nothing more may come."""

    def refuse(self) -> None: ...


_parents: WeakSet[Refusing] = WeakSet()


def refuse_in_children(one: Refusing) -> None:
    """From now on: whichever process is forked, its copy takes nothing."""
    _parents.add(one)


def _refuse_all() -> None:
    for one in _parents:
        one.refuse()


# Once for all: such a call cannot be taken back.
os.register_at_fork(after_in_child=_refuse_all)
