"""Requests that are under way."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.guards.mcp.frames import answer, write_frame
from amplifier_hooks.mcp.gateway.pending import PROTOCOL, Pending, Side
from tests.support.mcp.relaying import Line


def make(id: object, **params: object) -> Pending:
    return Pending(
        write_frame({"jsonrpc": "2.0", "id": id, "method": "a", "params": params}), "judged"
    )


async def test_a_request_is_found_by_its_id_until_it_is_answered() -> None:
    """A later one may have the same id, and is not removed for the first."""
    side = Side("server", Line())
    first, second = make(1), make(1)
    assert side.add(first)
    assert not side.add(second)
    assert side.find(1) is first
    assert side.find("1") is None
    side.remove(first)
    assert side.add(second)
    side.remove(first)
    assert side.find(1) is second


def test_the_id_of_a_cancelled_request_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer may come all the same, unless nobody was asked; not all of them are kept."""
    monkeypatch.setattr("amplifier_hooks.mcp.gateway.pending.MOST_GIVEN_UP", 2)
    side = Side("server", Line())
    for id in (1, 2, 3, 4):
        pending = make(id)
        pending.is_forwarded = id != 4
        assert side.add(pending)
        side.give_up(pending)
    assert [side.is_free(id) for id in (1, 2, 3, 4)] == [True, False, False, True]
    assert not side.add(make(2))


async def test_a_request_is_answered_once() -> None:
    """Whatever comes later is too late."""
    pending = make(1)
    pending.settle(answer(1, {}))  # nobody waits yet
    pending.response = asyncio.get_running_loop().create_future()
    pending.settle(answer(1, {"first": True}))
    pending.settle(answer(1, {"second": True}))
    pending.fail(ValueError())
    assert (await pending.response).message["result"] == {"first": True}
    pending.response = asyncio.get_running_loop().create_future()
    pending.fail(ValueError("gone"))
    with pytest.raises(ValueError, match="gone"):
        await pending.response


def test_the_newer_protocol_is_told_by_what_its_requests_carry() -> None:
    """And by nothing else."""
    assert make(1, _meta={PROTOCOL: "2026-07-28"}).is_modern
    assert not make(1, _meta={}).is_modern
    assert not make(1, _meta=3).is_modern
