"""Async tests and fixtures, in projects that have set up nothing for them.

Where pytest-asyncio is installed it runs them, marked or not; else each test has a loop of its own,
which its async fixtures share. What belongs to anyio, trio or another plugin is left to it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from functools import partial
from types import MethodType
from typing import Any

import pytest

_OTHERS = ("anyio", "curio", "tornado", "trio", "twisted")
_RUNNER = pytest.StashKey[asyncio.Runner]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the usual marker known: tests that carry it run without pytest-asyncio too."""
    if not _has_pytest_asyncio(config):
        config.addinivalue_line("markers", "asyncio: an async test, run in a loop of its own")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Mark what pytest-asyncio would leave alone in its strict mode, right before it looks."""
    made = yield
    if _has_pytest_asyncio(collector.config):
        for item in made if isinstance(made, list) else [made]:
            if isinstance(item, pytest.Function) and _is_unclaimed(item):
                item.add_marker("asyncio")
    return made


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test that nobody else runs."""
    if not _is_unclaimed(pyfuncitem):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    given = {name: value for name, value in pyfuncitem.funcargs.items() if name in wanted}
    _get_runner(pyfuncitem).run(pyfuncitem.obj(**given))
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Set up a plain async fixture in the loop of the test."""
    if not _is_async_fixture(fixturedef.func) or _belongs_to_others(request.node, request):
        return (yield)
    if _has_pytest_asyncio(request.config):
        _mark_fixture(fixturedef.func, request)
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fixturedef, "func", partial(_run_fixture, fixturedef.func, request))
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """Close the loop of a test, after its fixtures."""
    try:
        return (yield)
    finally:
        if (runner := item.stash.get(_RUNNER, None)) is not None:
            del item.stash[_RUNNER]
            runner.close()


def _has_pytest_asyncio(config: pytest.Config) -> bool:
    return config.pluginmanager.has_plugin("asyncio")


def _is_unclaimed(item: pytest.Function) -> bool:
    return inspect.iscoroutinefunction(item.obj) and not _belongs_to_others(item, item)


def _belongs_to_others(node: pytest.Item, asks: pytest.Function | pytest.FixtureRequest) -> bool:
    if "anyio_backend" in asks.fixturenames:
        return True
    if any(node.get_closest_marker(name) for name in _OTHERS):
        return True
    return node.config.pluginmanager.has_plugin("trio") and bool(node.config.getini("trio_mode"))


def _is_async_fixture(function: Any) -> bool:
    if getattr(function, "_force_asyncio_fixture", False):  # pytest-asyncio's own
        return False
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _mark_fixture(function: Any, request: pytest.FixtureRequest) -> None:
    """Have pytest-asyncio run it until it is torn down; tests of other plugins may use it too."""
    import pytest_asyncio

    plain = getattr(function, "__func__", function)
    before = dict(vars(plain))

    def restore() -> None:
        vars(plain).clear()
        vars(plain).update(before)

    request.addfinalizer(restore)
    pytest_asyncio.fixture(plain)


def _run_fixture(function: Any, request: pytest.FixtureRequest, /, **given: Any) -> Any:
    if request.scope != "function":
        pytest.fail(
            f"The async fixture {request.fixturename!r} has the scope {request.scope!r}. Without "
            "pytest-asyncio each test has a loop of its own, so async fixtures must have the scope "
            "'function'; install pytest-asyncio, or leave the scope out.",
            pytrace=False,
        )
    if inspect.ismethod(function) and isinstance(request.instance, type(function.__self__)):
        function = MethodType(function.__func__, request.instance)
    runner = _get_runner(request.node)
    if inspect.iscoroutinefunction(function):
        return runner.run(function(**given))
    steps: AsyncIterator[Any] = function(**given)
    value = runner.run(_take_step(steps.__anext__))
    request.addfinalizer(lambda: runner.run(_finish(steps)))
    return value


async def _take_step(step: Callable[[], Awaitable[Any]]) -> Any:
    return await step()


async def _finish(steps: AsyncIterator[Any]) -> None:
    async for _ in steps:
        raise ValueError("An async fixture must yield only once")


def _get_runner(item: pytest.Item) -> asyncio.Runner:
    if _RUNNER not in item.stash:
        item.stash[_RUNNER] = asyncio.Runner()
    return item.stash[_RUNNER]
