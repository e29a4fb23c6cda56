"""For authors of hooks and modules: async tests run, and fixtures mount the module under test.

The module is given with `--module-path`, or it is the package `amplifier_module_*` that is nearest
to the test file. Nothing of the kernel is imported until a fixture is used: pytest loads this
plugin for every project.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator


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
    value = runner.run(_run_step(steps.__anext__))
    request.addfinalizer(lambda: runner.run(_finish(steps)))
    return value


async def _run_step(step: Callable[[], Awaitable[Any]]) -> Any:
    return await step()


async def _finish(steps: AsyncIterator[Any]) -> None:
    async for _ in steps:
        raise ValueError("An async fixture must yield only once")


def _get_runner(item: pytest.Item) -> asyncio.Runner:
    if _RUNNER not in item.stash:
        item.stash[_RUNNER] = asyncio.Runner()
    return item.stash[_RUNNER]


__all__ = [
    "pytest_configure",
    "pytest_fixture_setup",
    "pytest_pycollect_makeitem",
    "pytest_pyfunc_call",
    "pytest_runtest_teardown",
]

logger = logging.getLogger(__name__)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--module-path`."""
    parser.addoption("--module-path", default=None, help="the Amplifier module under test")


@pytest.fixture
def module_path(request: pytest.FixtureRequest) -> Path | None:
    """The module under test; None if there is none."""
    from amplifier_core.validation.module import find_module_near

    given = request.config.getoption("--module-path")
    if given:
        return Path(given).absolute()
    return find_module_near(request.path)


@pytest.fixture
def module_type(module_path: Path | None) -> str | None:
    """hook, tool, provider, orchestrator or context: what the package says, or by its name."""
    if module_path is None:
        return None
    from amplifier_core.loader import guess_kind, read_facts
    from amplifier_core.loader.importing import PREFIX

    path = Path(module_path)  # a project's own fixture may name it by a string
    return read_facts(path).get("type") or guess_kind(path.stem.removeprefix(PREFIX))


@pytest.fixture
def module_config() -> dict[str, Any]:
    """What the module is configured with: override it if yours needs something."""
    return {}


@pytest.fixture
def is_module_context(module_path: Path | None) -> bool:
    """Whether there is a module under test."""
    return module_path is not None


@pytest.fixture
def coordinator() -> MockCoordinator:
    """A real coordinator to mount a module on, with a person who allows and a screen."""
    from amplifier_core.testing import MockCoordinator

    return MockCoordinator()


@pytest.fixture
def mock_deps() -> tuple[Any, dict[str, Any], dict[str, Any], Any]:
    """What a loop is executed with: context, providers, tools, hooks."""
    from amplifier_core.testing import EventRecorder, MockContextManager, MockProvider, MockTool

    providers = {"default": MockProvider("default")}
    return MockContextManager(), providers, {"test_tool": MockTool("test_tool")}, EventRecorder()


@pytest.fixture
async def hook_cleanup(
    module_path: Path | None, module_config: dict[str, Any], coordinator: MockCoordinator
) -> AsyncIterator[Callable[[], Any] | None]:
    """The module mounted: what its `mount` returned, which is called when the test is over."""
    async with _mounted(module_path, module_config, coordinator) as undo:
        yield undo


@pytest.fixture
async def tool_module(
    module_path: Path | None, module_config: dict[str, Any], coordinator: MockCoordinator
) -> AsyncIterator[Any]:
    """The first tool that the module mounts."""
    async with _mounted(module_path, module_config, coordinator):
        yield _find_first(coordinator, "tools")


@pytest.fixture
async def provider_module(
    module_path: Path | None, module_config: dict[str, Any], coordinator: MockCoordinator
) -> AsyncIterator[Any]:
    """The first provider that the module mounts."""
    async with _mounted(module_path, module_config, coordinator):
        yield _find_first(coordinator, "providers")


@pytest.fixture
async def orchestrator_module(
    module_path: Path | None, module_config: dict[str, Any], coordinator: MockCoordinator
) -> AsyncIterator[Any]:
    """The loop that the module mounts."""
    async with _mounted(module_path, module_config, coordinator):
        yield _find_first(coordinator, "orchestrator")


@pytest.fixture
async def context_module(
    module_path: Path | None, module_config: dict[str, Any], coordinator: MockCoordinator
) -> AsyncIterator[Any]:
    """The context that the module mounts."""
    async with _mounted(module_path, module_config, coordinator):
        yield _find_first(coordinator, "context")


@asynccontextmanager
async def _mounted(
    module_path: Path | None, config: dict[str, Any], coordinator: MockCoordinator
) -> AsyncIterator[Callable[[], Any] | None]:
    from amplifier_core.utils import resolve
    from amplifier_core.validation.module import mount_code
    from amplifier_core.validation.pytest_marks import require_module

    undo = await mount_code(require_module(module_path), coordinator, config)
    try:
        yield undo
    finally:
        try:
            if callable(undo):
                await resolve(undo())
        except Exception:  # a test is about the clean-up, and another may have called it already
            logger.exception("The clean-up of the module failed")


def _find_first(coordinator: MockCoordinator, mount_point: str) -> Any:
    found = coordinator.get(mount_point)
    if isinstance(found, dict):
        found = next(iter(found.values()), None)
    if found is None:
        pytest.skip(f"the module mounts nothing at '{mount_point}'")
    return found
