"""A registration: what may be one, how it sorts, how it is run, and what its answer may be."""

# Wrong values are handed in on purpose.
# mypy: disable-error-code="arg-type"

from __future__ import annotations

import asyncio
import functools
import math
import re
import time

import pytest

from amplifier_core.errors import HookTimeout
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.registration import HookHandler
from tests.support.hooks import PRE, Data


async def hook(event: str, data: Data) -> HookResult:
    return HookResult()


async def one_argument(event: str) -> HookResult:
    return HookResult()


async def keyword_only(event: str, data: Data, *, more: int) -> HookResult:
    return HookResult()


@pytest.mark.parametrize(
    ("wrong", "kind", "text"),
    [
        ({"event": 7}, TypeError, "An event name must be a string, got 7"),
        ({"event": ""}, ValueError, "An event name must not be empty, got ''"),
        ({"event": "  "}, ValueError, "An event name must not be empty, got '  '"),
        ({"handler": "text"}, TypeError, "A hook handler must be callable, got 'text'"),
        ({"priority": 1.0}, TypeError, "A priority must be an integer, got 1.0"),
        ({"priority": True}, TypeError, "A priority must be an integer, got True"),
        ({"priority": math.nan}, TypeError, "A priority must be an integer, got nan"),
        ({"priority": "1"}, TypeError, "A priority must be an integer, got '1'"),
        ({"name": 5}, TypeError, "A hook's name must be a string, got 5"),
        ({"on_error": "explode"}, ValueError, "on_error must be 'continue' or 'deny'"),
        ({"timeout": 0}, ValueError, "A timeout must be positive and finite, got 0"),
        ({"timeout": -1.5}, ValueError, "A timeout must be positive and finite, got -1.5"),
        ({"timeout": math.inf}, ValueError, "A timeout must be positive and finite, got inf"),
        ({"timeout": math.nan}, ValueError, "A timeout must be positive and finite, got nan"),
        ({"timeout": True}, TypeError, "A timeout must be a number of seconds, got True"),
        ({"timeout": "1"}, TypeError, "A timeout must be a number of seconds, got '1'"),
    ],
)
def test_what_is_wrong_is_said(wrong, kind, text):
    """Bad input with the error text asserted."""
    registry = HookRegistry()
    with pytest.raises(kind, match=text):
        registry.register(**{"event": PRE, "handler": hook, **wrong})
    assert registry.list_handlers() == {}


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        (one_argument, r"must take \(event, data\); 'one_argument\(event"),
        (keyword_only, "'keyword_only"),
        (lambda: None, r"'<lambda>\(\)' does not"),
    ],
)
async def test_a_handler_that_takes_something_else_is_warned_about_and_fails(caplog, handler, text):
    """A module may register it and never emit the event; a guard is refused at once."""
    registry = HookRegistry()
    with pytest.raises(TypeError, match=text):
        registry.register(PRE, handler, on_error="deny")
    assert registry.list_handlers() == {}
    registry.register(PRE, handler)
    assert re.search(text, caplog.text)
    caplog.clear()
    assert (await registry.emit(PRE, {})).action == "continue"
    assert "failed on 'tool:pre': TypeError" in caplog.text


@pytest.mark.parametrize("method", ["register", "on"])
def test_a_misused_decorator_raises(method):
    """Silently registering nothing would leave a guard out."""
    registry = HookRegistry()
    register = getattr(registry, method)
    with pytest.raises(TypeError, match=r"must be a string, got <function .*'tool:pre'"):

        @register
        async def bare(event: str, data: Data) -> None: ...

    with pytest.raises(TypeError, match="the event comes first"):
        register(hook, PRE)
    with pytest.raises(TypeError, match="a priority is given by name, priority=5"):
        register(PRE, 5)
    with pytest.raises(ValueError, match="must not be empty"):
        register("")
    with pytest.raises(TypeError, match="must be callable, got None"):
        register(PRE)(None)
    assert registry.list_handlers() == {}


def test_every_kind_of_callable_is_a_handler():
    """Listed under a name that a person recognises."""

    class Object:
        async def __call__(self, event: str, data: Data) -> None: ...
        async def method(self, event: str, data: Data, more: int = 1) -> None: ...

    registry = HookRegistry()
    partial = functools.partial(lambda more, event, data: None, 1)
    for one in (hook, lambda event, data: None, Object(), Object().method, partial, max):
        registry.register(PRE, one)
    assert registry.list_handlers()[PRE] == [
        "hook", "<lambda>", "Object", "method", "partial", "max",
    ]  # fmt: skip


def test_an_odd_name_attribute_falls_back_to_the_class():
    class Odd:
        __name__ = 5

        def __call__(self, event: str, data: Data) -> None: ...

    assert HookHandler(Odd()).name == "Odd"


def test_handlers_sort_by_priority():
    """Lower runs first; equals keep their order."""
    last, first, second = (HookHandler(handler=hook, priority=p) for p in (9, -1, -1))
    assert sorted([last, second, first]) == [first, second, last]
    assert repr(first) == "HookHandler(name='hook', event='', priority=-1)"


def test_only_a_hook_that_denies_on_failure_is_a_guard():
    assert HookHandler(hook, on_error="deny").is_guard
    assert not HookHandler(hook).is_guard


async def test_a_hook_over_its_time_is_late_whether_it_waits_or_blocks():
    """A blocked loop cannot be interrupted, so the clock decides afterwards."""

    async def waits(event: str, data: Data) -> None:
        await asyncio.Event().wait()

    def blocks(event: str, data: Data) -> None:
        time.sleep(0.02)

    for late in (waits, blocks):
        with pytest.raises(HookTimeout, match=r"took longer than 0\.01 s"):
            await HookHandler(late, timeout=0.01).execute(PRE, {})


async def test_a_hooks_own_timeout_error_is_not_ours():
    """It failed; it was not late."""

    async def gives_up(event: str, data: Data) -> None:
        raise TimeoutError("the server did not answer")

    with pytest.raises(TimeoutError, match="the server") as caught:
        await HookHandler(gives_up, timeout=5).execute(PRE, {})
    assert not isinstance(caught.value, HookTimeout)


@pytest.mark.parametrize("limit", [None, 5.0])
async def test_a_plain_function_is_a_handler_too(limit: float | None) -> None:
    """With a limit and without."""
    record = HookHandler(lambda event, data: {"action": "deny", "reason": "no"}, timeout=limit)
    assert (await record.execute(PRE, {})).reason == "no"
