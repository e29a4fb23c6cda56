"""For authors of hooks and modules: async tests run, and fixtures mount the module under test.

The module is given with `--module-path`, or it is the package `amplifier_module_*` that is nearest
to the test file. Nothing of the kernel is imported until a fixture is used: pytest loads this
plugin for every project.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from amplifier_core.pytest_plugin.async_tests import (
    pytest_configure,
    pytest_fixture_setup,
    pytest_pycollect_makeitem,
    pytest_pyfunc_call,
    pytest_runtest_teardown,
)

if TYPE_CHECKING:
    from amplifier_core.testing import MockCoordinator

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
    from amplifier_core.validation.finding import find_module_near

    given = request.config.getoption("--module-path")
    return Path(given).absolute() if given else find_module_near(request.path)


@pytest.fixture
def module_type(module_path: Path | None) -> str | None:
    """hook, tool, provider, orchestrator or context: what the package says, or by its name."""
    if module_path is None:
        return None
    from amplifier_core.loader.discovery import guess_kind, read_facts
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
    from amplifier_core.validation.finding import mount_code
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
