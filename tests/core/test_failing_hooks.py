"""Hooks that crash, hang, block, swallow cancellation or emit themselves."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="call-overload"

from __future__ import annotations

import asyncio
import time

import pytest

from amplifier_core.errors import HookDepthExceeded, HookTimeout
from amplifier_core.hooks import MAX_DEPTH, HookHandler, HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder
from tests.support.hooks import PRE, Data, modifies, raises, returns, says


@pytest.fixture
def registry() -> HookRegistry:
    return HookRegistry()


async def sleeping(event: str, data: Data) -> HookResult:
    await asyncio.sleep(60)
    return HookResult()


async def blocking(event: str, data: Data) -> HookResult:
    until = time.monotonic() + 0.03
    while time.monotonic() < until:
        pass
    return HookResult()


def blocking_plainly(event: str, data: Data) -> HookResult:
    time.sleep(0.03)
    return HookResult()


async def swallowing(event: str, data: Data) -> HookResult:
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(0)
    return HookResult()


async def deep(event: str, data: Data) -> HookResult:
    return await deep(event, data)


async def cancelling_itself(event: str, data: Data) -> HookResult:
    inner = asyncio.ensure_future(asyncio.sleep(60))
    inner.cancel()
    await inner
    return HookResult()


def interrupted(kind: type[BaseException]):
    async def hook(event: str, data: Data) -> HookResult:
        raise kind

    return hook


FAILURES = {
    "Exception": raises(Exception("x")),
    "ValueError": raises(ValueError("x")),
    "CancelledError": raises(asyncio.CancelledError()),
    "inner CancelledError": cancelling_itself,
    "RecursionError": deep,
    "MemoryError": raises(MemoryError()),
    "TimeoutError": raises(TimeoutError("its own")),
    "StopAsyncIteration": raises(StopAsyncIteration()),
    "string": returns("allow"),
    "unknown action": returns({"action": "allow"}),
    "modify without data": returns(HookResult(action="modify")),
    "sleeps": sleeping,
    "blocks": blocking,
    "blocks plainly": blocking_plainly,
    "swallows": swallowing,
}
POSITIONS = {"first": -5, "middle": 0, "last": 5}


def surrounded(registry: HookRegistry, failing, position: int, on_error: str) -> EventRecorder:
    seen = EventRecorder()
    registry.register(PRE, says(), priority=-1)
    registry.register(PRE, modifies(x=1), priority=1)
    registry.register(PRE, seen, priority=9)
    registry.register(
        PRE, failing, priority=position, name="failing", on_error=on_error, timeout=0.02
    )
    return seen


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
@pytest.mark.parametrize("kind", FAILURES)
class TestTheMatrix:
    """Every failure kind times every position: guards 100 % deny, observers 100 % continue (G8)."""

    async def test_a_guard_denies(self, registry, kind, position):
        surrounded(registry, FAILURES[kind], position, "deny")
        result = await registry.emit(PRE, {"x": 0})
        assert result.action == "deny"
        assert result.reason.startswith("hook 'failing' failed and fails closed: ")

    async def test_an_observer_does_not(self, registry, kind, position):
        seen = surrounded(registry, FAILURES[kind], position, "continue")
        result = await registry.emit(PRE, {"x": 0})
        assert (result.action, result.data["x"]) == ("continue", 1)
        assert len(seen.events) == 1


@pytest.mark.parametrize("on_error", ["deny", "continue"])
async def test_none_is_continue_for_guards_too(registry, on_error):
    """Returning `None` is `continue` without a warning, for guards too."""
    registry.register(PRE, returns(None), on_error=on_error)
    assert (await registry.emit(PRE, {})).action == "continue"


@pytest.mark.parametrize("on_error", ["deny", "continue"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupts_are_never_swallowed(kind, on_error):
    """`KeyboardInterrupt` and `SystemExit` are never swallowed."""
    registry = HookRegistry()
    registry.register(PRE, interrupted(kind), on_error=on_error)
    with pytest.raises(kind):
        asyncio.run(registry.emit(PRE, {}))


async def test_a_thousand_failures_disable_no_guard(registry):
    """No breaker may disable a guard."""

    async def failing(event: str, data: Data) -> HookResult:
        raise ValueError("x")

    registry.register(PRE, failing, on_error="deny")
    for _ in range(1000):
        assert (await registry.emit(PRE, {})).action == "deny"


class TestTimeLimits:
    async def test_a_late_guard_says_so(self, registry):
        """A timeout is an error; the reason names hook and cause."""
        registry.register(PRE, sleeping, name="slow", on_error="deny", timeout=0.01)
        result = await registry.emit(PRE, {})
        assert result.reason == (
            "hook 'slow' failed and fails closed: HookTimeout: took longer than 0.01 s"
        )

    async def test_its_own_timeout_error_is_not_ours(self, registry):
        registry.register(PRE, raises(TimeoutError("its own")), on_error="deny", timeout=5)
        run = await registry.dispatch(PRE, {})
        assert not run.answers[0].timed_out
        assert "TimeoutError: its own" in run.answers[0].result.reason

    async def test_the_dispatch_knows_who_was_late(self, registry):
        registry.register(PRE, sleeping, timeout=0.01)
        run = await registry.dispatch(PRE, {})
        assert run.answers[0].timed_out
        assert isinstance(run.answers[0].error, HookTimeout)

    async def test_a_hook_in_time_answers(self, registry):
        registry.register(PRE, says("deny", reason="in time"), timeout=5)
        assert (await registry.emit(PRE, {})).reason == "in time"
        assert (await HookHandler(says("deny"), timeout=5).execute(PRE, {})).action == "deny"

    async def test_a_hook_that_never_stops_is_left_behind(self, registry, caplog):
        ends = asyncio.Event()

        async def stubborn(event: str, data: Data) -> HookResult:
            while not ends.is_set():
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    continue
            return HookResult()

        registry.register(PRE, stubborn, on_error="deny", timeout=0.01)
        started = time.monotonic()
        assert (await registry.emit(PRE, {})).action == "deny"
        assert time.monotonic() - started < 5
        assert "ignores its cancellation and is left behind" in caplog.text
        ends.set()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await task

    async def test_no_task_stays(self, registry):
        registry.register(PRE, sleeping, timeout=0.01)
        registry.register(PRE, swallowing, timeout=0.01)
        await registry.emit(PRE, {})
        assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("timeout", [None, 30])
@pytest.mark.parametrize("on_error", ["deny", "continue"])
async def test_cancellation_goes_through(registry, timeout, on_error):
    """When the running task is being cancelled, cancellation goes through."""
    started, ended = asyncio.Event(), asyncio.Event()

    async def waiting(event: str, data: Data) -> HookResult:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return HookResult()

    after = EventRecorder()
    registry.register(PRE, waiting, timeout=timeout, on_error=on_error)
    registry.register(PRE, after)
    task = asyncio.ensure_future(registry.emit(PRE, {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert after.events == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_deadline_around_an_emit_holds(registry):
    registry.register(PRE, sleeping, on_error="deny")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await registry.emit(PRE, {})


class TestDepth:
    """Emits nested deeper than 16 are a failed hook (F9, T24)."""

    def nesting(self, registry: HookRegistry, event: str = PRE):
        depths = []

        async def nested(name: str, data: Data) -> HookResult:
            depths.append(data["n"])
            return await registry.emit(event, {"n": data["n"] + 1})

        return nested, depths

    async def test_a_hook_that_emits_its_own_event(self, registry, caplog):
        nested, depths = self.nesting(registry)
        registry.register(PRE, nested)
        result = await registry.emit(PRE, {"n": 1})
        assert result.action == "continue"
        assert depths == list(range(1, MAX_DEPTH + 1))
        assert "was emitted 16 emits deep; at most 16" in caplog.text

    async def test_two_that_emit_each_others(self, registry):
        first, depths = self.nesting(registry, "tool:post")
        second, more = self.nesting(registry, PRE)
        registry.register(PRE, first)
        registry.register("tool:post", second)
        await registry.emit(PRE, {"n": 1})
        assert len(depths) + len(more) == MAX_DEPTH

    async def test_a_guard_at_the_limit_denies(self, registry):
        nested, _ = self.nesting(registry)
        registry.register(PRE, nested, name="guard", on_error="deny")
        result = await registry.emit(PRE, {"n": 1})
        assert result.action == "deny"
        assert "HookDepthExceeded" in result.reason

    async def test_collecting_counts_too(self, registry):
        errors = []

        async def nested(event: str, data: Data) -> HookResult:
            try:
                await registry.emit_and_collect(PRE, data, timeout=5)
            except HookDepthExceeded as error:
                errors.append(error)
            return HookResult()

        registry.register(PRE, nested)
        await registry.emit(PRE, {})
        assert len(errors) == 1

    async def test_the_limit_is_of_one_stack(self, registry):
        async def wide(event: str, data: Data) -> HookResult:
            if data["top"]:
                await asyncio.gather(*(registry.emit(PRE, {"top": False}) for _ in range(50)))
            return HookResult()

        registry.register(PRE, wide, on_error="deny")
        for _ in range(20):
            assert (await registry.emit(PRE, {"top": True})).action == "continue"
