"""Heads of trails."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_audit.checkpoint import make_note
from amplifier_audit.merkle import hash_leaf
from amplifier_hooks.approvals.errors import BadRequest, Conflict
from amplifier_hooks.approvals.models import TrailHead
from amplifier_hooks.approvals.stores.store import Store


async def test_of_two_first_heads_at_once_one_is_kept(store: Store) -> None:
    """And the other one is a second history."""
    notes = [make_note("log", 1, hash_leaf(leaf)).text for leaf in (b"a", b"b")]
    results = await asyncio.gather(
        *(store.heads.put(note, [], "laptop") for note in notes), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in results) == [Conflict.__name__, TrailHead.__name__]


async def test_a_checkpoint_of_something_else_is_refused(store: Store) -> None:
    """Its origin must be one of our logs."""
    note = make_note("log", 1, hash_leaf(b"a")).text
    for wrong in (note.replace("amplifier.audit/", "other/"), note.replace("/log", "/"), "", "x"):
        with pytest.raises(BadRequest):
            await store.heads.put(wrong, [], "laptop")
    with pytest.raises(BadRequest, match="up to 64 hashes"):
        await store.heads.put(note, [b"x" * 32] * 65, "laptop")
    assert await store.heads.list() == []
    assert await store.heads.history("log") == []
