"""Emitting: what hooks are given, and what the caller gets back."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from pydantic import BaseModel

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder
from tests.support.hooks import PRE, Data, raises, returns, says


@pytest.fixture
def registry() -> HookRegistry:
    return HookRegistry()


async def test_nobody_listens(registry):
    """The default fields are added, and nothing is copied or stamped."""
    registry.set_default_fields(session_id="s")
    given = {"x": [1]}
    result = await registry.emit(PRE, given)
    assert (result.action, result.data) == ("continue", {"session_id": "s", "x": [1]})
    assert result.data["x"] is given["x"]
    assert given == {"x": [1]}


async def test_the_registry_stamps_the_time(registry):
    """A caller's own timestamp is replaced."""
    registry.register(PRE, says())
    result = await registry.emit(PRE, {"timestamp": "forged"})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", result.data["timestamp"])


class Payload(BaseModel):
    tool_name: str = "Write"


@pytest.mark.parametrize(
    ("given", "seen_as"),
    [
        (None, {}),
        ("text", {"data": "text"}),
        (5, {"data": 5}),
        (Payload(), {"tool_name": "Write"}),
        ({"a": 1}, {"a": 1}),
    ],
)
async def test_data_of_any_form(registry, given, seen_as):
    """Nothing, a bare value or a model: hooks always get a dict."""
    assert (await registry.emit(PRE, given)).data == seen_as
    seen = EventRecorder()
    registry.register(PRE, seen)
    await registry.emit(PRE, given)
    await registry.dispatch(PRE, given)
    for _, data in seen.events:
        data.pop("timestamp")
        assert data == seen_as
    assert len(seen.events) == 2


async def test_emit_returns_a_real_coroutine(registry):
    emitted = registry.emit(PRE, {})
    assert asyncio.iscoroutine(emitted)
    await emitted


class TestCollecting:
    """A question to all hooks at once: their data, in the order they run."""

    async def test_data_in_order(self, registry):
        registry.register(PRE, says(data={"n": 2}), priority=2)
        registry.register(PRE, says(data={"n": 1}), priority=1)
        registry.register(PRE, says())
        registry.register(PRE, says("deny"))
        assert await registry.emit_and_collect(PRE, {}) == [{"n": 1}, {"n": 2}]

    async def test_slow_and_failing_hooks_are_skipped(self, registry, caplog):
        """The others are heard."""

        async def slow(event: str, data: Data) -> HookResult:
            await asyncio.sleep(10)
            return HookResult(data={"late": True})

        registry.register(PRE, slow, name="slow", timeout=0.01)
        registry.register(PRE, raises(ValueError("x")), on_error="deny")
        registry.register(PRE, returns("text"))
        registry.register(PRE, says(data={"n": 1}))
        assert await registry.emit_and_collect(PRE, {}, timeout=5) == [{"n": 1}]
        assert (
            "Hook 'slow' failed on 'tool:pre': HookTimeout: took longer than 0.01 s" in caplog.text
        )

    async def test_the_question_is_the_same_for_all(self, registry):
        async def meddler(event: str, data: Data) -> HookResult:
            data["x"].append(1)
            return HookResult(action="modify", data=data)

        seen = EventRecorder()
        registry.register(PRE, meddler)
        registry.register(PRE, seen)
        given: Data = {"x": []}
        assert (await registry.emit_and_collect(PRE, given))[0]["x"] == [1]
        assert given == {"x": []}
        assert seen.events[0][1]["x"] == []

    @pytest.mark.parametrize("timeout", [0, -1, float("nan")])
    async def test_a_limit_is_checked(self, registry, timeout):
        with pytest.raises(ValueError, match="positive and finite"):
            await registry.emit_and_collect(PRE, {}, timeout=timeout)


async def test_a_thousand_emits_at_once(registry):
    """1,000 concurrent emits: each has its own data, in its own order."""

    async def slow(event: str, data: Data) -> HookResult:
        await asyncio.sleep(data["n"] % 7 / 1000)
        return HookResult(action="modify", data={**data, "list": [*data["list"], data["n"]]})

    async def meddler(event: str, data: Data) -> HookResult:
        data["list"].append("leak")
        await asyncio.sleep(0)
        return HookResult()

    for handler in (slow, meddler, slow):
        registry.register(PRE, handler)
    given = [{"n": n, "list": []} for n in range(1000)]
    results = await asyncio.gather(*(registry.emit(PRE, data) for data in given))
    assert [result.data["list"] for result in results] == [[n, n] for n in range(1000)]
    assert all(data["list"] == [] for data in given)


async def test_what_a_coroutine_returns_is_the_answer():
    """A call that somebody forgot to await is none, however often it is emitted."""
    registry = HookRegistry()

    async def forgetful(event: str, data: Data) -> Any:
        made = says("deny")(event, data)
        made.close()
        return made

    registry.register(PRE, forgetful, name="forgetful")
    for _ in range(10):
        assert (await registry.emit(PRE, {})).action == "continue"
    assert registry.count()["forgetful"].failures == 10
