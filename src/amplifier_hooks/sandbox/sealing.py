"""Seals around one command behind a wall."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from amplifier_hooks.sandbox.seals import Seals, explain_restored
from amplifier_hooks.sandbox.wall import Wall


@contextlib.contextmanager
def keep_sealed(wall: Wall) -> Iterator[list[str]]:
    """Put back what changes at sealed places; the list then holds sentences about it."""
    seals = Seals.take(wall, wall.writable, wall.granted)
    notes: list[str] = []
    if seals.left_changed:
        listed = ", ".join(map(str, seals.left_changed))
        notes.append(f"Changed while an earlier command ran that was not seen to its end: {listed}")
    try:
        yield notes
    finally:
        restored = seals.restore()
        if restored:
            notes.append(explain_restored(restored))
