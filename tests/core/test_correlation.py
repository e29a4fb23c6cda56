"""The id of a request, and who repeats it."""

from __future__ import annotations

import asyncio
import uuid
from contextvars import Context
from typing import Any

import pytest

from amplifier_core.correlation import TRACED, add_request_id
from amplifier_core.hooks import HookRegistry
from amplifier_core.testing import EventRecorder


def listen() -> tuple[HookRegistry, EventRecorder]:
    registry, heard = HookRegistry(), EventRecorder()
    registry.register("*", heard)
    return registry, heard


async def test_a_request_gets_an_id_that_its_answer_and_failures_repeat() -> None:
    registry, heard = listen()
    for event in ("llm:request", "provider:retry", "provider:throttle", "llm:response"):
        await registry.emit(event, {"provider": "p"})
    ids = {data["request_id"] for _, data in heard.events}
    assert len(ids) == 1
    assert uuid.UUID(ids.pop()).version == 4


def test_an_answer_without_a_request_gets_none() -> None:
    """In a context of its own: whatever ran before it has left no request behind."""
    data: dict[str, Any] = {}
    Context().run(add_request_id, "llm:response", data)
    assert data == {}


async def test_the_next_request_has_another() -> None:
    registry, heard = listen()
    await registry.emit("llm:request", {})
    await registry.emit("llm:request", {})
    first, second = (data["request_id"] for _, data in heard.events)
    assert first != second


async def test_requests_of_other_tasks_are_not_mixed_up() -> None:
    registry, heard = listen()

    async def call(name: str) -> None:
        await registry.emit("llm:request", {"provider": name})
        await asyncio.sleep(0)
        await registry.emit("llm:response", {"provider": name})

    await asyncio.gather(call("a"), call("b"))
    by_provider: dict[str, set[str]] = {}
    for _, data in heard.events:
        by_provider.setdefault(data["provider"], set()).add(data["request_id"])
    assert [len(ids) for ids in by_provider.values()] == [1, 1]
    assert by_provider["a"] != by_provider["b"]


@pytest.mark.parametrize("event", sorted(TRACED))
def test_an_id_that_was_given_wins(event: str) -> None:
    data: dict[str, Any] = {"request_id": "mine"}
    add_request_id(event, data)
    assert data == {"request_id": "mine"}


async def test_other_events_have_none() -> None:
    registry, heard = listen()
    await registry.emit("llm:request", {})
    await registry.emit("tool:pre", {})
    assert "request_id" not in heard.events[-1][1]
