"""Calling functions that somebody else wrote."""

from __future__ import annotations

import asyncio
import functools
import inspect
import itertools
import time
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from amplifier_core.utils import DONE, run_with_timeout
from amplifier_core.utils.calling import (
    check_has,
    find_name,
    find_signature_problem,
    list_parameters,
)


class Loop:
    async def execute(self, prompt: str, context: Any, **more: Any) -> None: ...


def test_names_and_any_others_are_told() -> None:
    """`**` stands for parameters of any name."""
    assert list_parameters(lambda a, b=1: None) == {"a", "b"}
    assert list_parameters(Loop.execute) == {"self", "prompt", "context", "more", "**"}


def test_a_bound_method_is_read_once() -> None:
    """A method is a new object at each look; what it takes is remembered by its function."""
    assert list_parameters(Loop().execute) is list_parameters(Loop().execute)


def test_a_function_that_does_not_tell_is_none() -> None:
    """Whoever calls it decides what that means."""
    assert list_parameters(dict.update) is None


@pytest.mark.parametrize(
    "handler",
    [
        lambda event, data: None,
        lambda event, data, more=1: None,
        lambda *both: None,
        functools.partial(lambda more, event, data: None, 1),
        Loop().execute,
        max,
        dict.update,
    ],
)
def test_what_takes_event_and_data_fits(handler: Any) -> None:
    """Whatever kind of callable it is; one that does not tell may fit."""
    assert find_signature_problem(handler) is None


def test_what_takes_something_else_is_said() -> None:
    """With its signature; what cannot be called at all is refused."""
    assert find_signature_problem(lambda event: None) == (
        "must take (event, data); '<lambda>(event)' does not and fails whenever it is called"
    )
    with pytest.raises(TypeError, match="must be callable, got 'text'"):
        find_signature_problem("text")


PARAMETERS = [
    "", "a", "a, b", "a, b, c", "a, b, c, d", "a, b, /", "a, b, /, c", "a, b, c, /", "a=1",
    "a, b=1", "a, b, c=1", "a, b, c=1, d=2", "a=1, b=2, c=3, d=4", "a, b, c, /, d=1", "*rest",
    "a, *rest", "a, b, *rest", "a, b, c, *rest", "a, b, c=1, *rest", "**more", "a, b, **more",
    "a, b, c=1, **more", "*rest, **more", "a, b, *, c", "a, b, *, c=1", "a, b, *, c, d=1",
    "*, a, b", "*, a=1", "a, b, *rest, c", "a, b, *rest, c=1", "a, b, c, *, d=1", "a, /, b, *, c=1",
]  # fmt: skip
NAMED: list[dict[str, int]] = [{}, {"a": 1}, {"b": 1}, {"c": 1}, {"c": 1, "d": 2}, {"x": 1}]


def _list_shapes(parameters: str) -> Iterator[Any]:
    """Everything that can be called with these parameters and reads in its own way."""
    made: dict[str, Any] = {}
    exec(f"def function({parameters}): pass", made)
    function = made["function"]
    yield function
    by_name = [{}] if "/" in parameters else NAMED  # which Pythons before 3.14 read differently
    for placed, named in itertools.product(((), (1,), (1, 2)), by_name):
        yield functools.partial(function, *placed, **named)
        yield functools.partial(functools.partial(function, *placed), **named)
    kinds = {"plain": function, "static": staticmethod(function), "class": classmethod(function)}
    for kind in kinds.values():
        owner: Any = type("Owner", (), {"method": kind, "__call__": kind})
        yield owner().method
        yield owner.method
        yield owner()
        yield functools.partial(owner().method, 1)
    yield functools.wraps(function)(lambda *args, **more: function(*args, **more))
    yield types.MethodType(functools.partial(function), 1)
    yield types.MethodType(types.MethodType(function, 1), 2)
    owner = type("Owner", (), {"method": functools.partialmethod(function, 1)})
    yield owner().method
    yield functools.lru_cache(function)
    yield type("Meta", (type,), {"__call__": function})("Class", (), {})


def _fails(handler: Any) -> bool:
    try:
        handler("event", ())
    except TypeError:
        return True
    return False


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_what_is_said_of_a_handler_is_what_calling_it_shows(parameters: str) -> None:
    """For every shape of what can be called, on every Python; some partials do not tell."""
    for handler in _list_shapes(parameters):
        with suppress(ValueError):
            inspect.signature(handler)
            fails = _fails(handler)
            assert bool(find_signature_problem(handler)) == fails, (parameters, handler)


def test_what_an_object_tells_of_itself_is_believed() -> None:
    """`__signature__` and `__wrapped__`, as decorators leave them."""
    handler: Any = type("Handler", (), {"__call__": lambda self, *both: None})()
    assert find_signature_problem(handler) is None
    handler.__wrapped__ = lambda event: None
    assert "Handler(event)" in str(find_signature_problem(handler))
    handler.__signature__ = inspect.signature(lambda event, data: None)
    assert find_signature_problem(handler) is None


def test_what_wraps_itself_does_not_tell() -> None:
    """As a signature has it: whoever asks gets no answer."""

    def circle(event: str) -> None: ...

    vars(circle)["__wrapped__"] = circle
    assert find_signature_problem(circle) is None


def test_an_object_is_named_after_its_class() -> None:
    """A function has a name of its own."""
    assert (find_name(find_signature_problem), find_name(Loop())) == (
        "find_signature_problem",
        "Loop",
    )


def test_an_object_without_the_method_is_refused() -> None:
    """One of several is enough, and no object at all is fine; a class is not an object."""
    check_has("A loop", Loop(), "run", "execute")
    check_has("A loop", None, "run")
    with pytest.raises(TypeError, match=r"^A loop needs a method run\(...\) or go\(...\); <.*Loop"):
        check_has("A loop", Loop(), "run", "go")
    with pytest.raises(TypeError, match=r"got the class itself: use Loop\(...\)"):
        check_has("A loop", Loop, "execute")


async def test_something_done_can_be_awaited_or_not():
    await DONE
    assert list(DONE.__await__()) == []


async def test_the_outcome_and_the_error_go_through():
    async def work(error: Exception | None = None) -> int:
        if error is not None:
            raise error
        return 5

    assert await run_with_timeout(work(), None) == 5
    with pytest.raises(ValueError, match="x"):
        await run_with_timeout(work(ValueError("x")), 1)


async def test_a_future_that_is_done():
    future = asyncio.get_running_loop().create_future()
    future.set_result(1)
    assert await run_with_timeout(future, 1) == 1


async def test_late_work_is_stopped():
    ended = []

    async def late() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    with pytest.raises(TimeoutError, match=r"took longer than 0\.01 s"):
        await run_with_timeout(late(), 0.01)
    assert ended == [True]


async def test_work_that_fails_while_it_is_stopped(caplog):
    async def bad() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ValueError("x") from None

    with pytest.raises(TimeoutError):
        await run_with_timeout(bad(), 0.01)
    assert caplog.messages == []


async def test_both_at_once():
    async def exactly() -> int:
        await asyncio.sleep(0.01)
        time.sleep(0.02)
        return 1

    assert await run_with_timeout(exactly(), 0.02) == 1


@pytest.mark.parametrize("moment", range(4))
async def test_no_cancellation_is_lost_when_the_work_has_just_ended(moment: int):
    """`asyncio.wait_for` drops it before Python 3.12."""
    work = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(run_with_timeout(work, 60))
    await asyncio.sleep(0)
    work.set_result(1)
    for _ in range(moment):
        await asyncio.sleep(0)
    if waiting.cancel():
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert waiting.done()


async def test_work_is_stopped_in_time_within_a_task_that_was_cancelled():
    """`asyncio.timeout` raises no TimeoutError there before Python 3.11.3."""
    ends = []

    async def clean_up() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            with pytest.raises(TimeoutError):
                await run_with_timeout(asyncio.sleep(60), 0.01)
            ends.append(True)

    task = asyncio.create_task(clean_up())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ends == [True]
