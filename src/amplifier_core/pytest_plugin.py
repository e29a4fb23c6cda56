"""Fixtures for authors of modules. Give the module with `--module-path`, or stand in its folder.

Nothing of the kernel is imported until a fixture is used: pytest loads this for every project.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from amplifier_core.testing import TestCoordinator

_KINDS = ("hooks", "tool", "provider", "loop", "context")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--module-path`."""
    parser.addoption("--module-path", default=None, help="the Amplifier module under test")


def detected_module(folder: Path) -> Path | None:
    """The module that a folder holds: a package `amplifier_module_*`, or the folder itself."""
    packages = sorted(folder.glob("**/amplifier_module_*/__init__.py"))
    if packages:
        return packages[0].parent
    return folder if (folder / "__init__.py").is_file() else None


@pytest.fixture
def module_path(request: pytest.FixtureRequest) -> Path:
    """The module under test."""
    given = request.config.getoption("--module-path")
    found = Path(given).resolve() if given else detected_module(request.config.rootpath)
    if found is None or not found.exists():
        pytest.skip("no Amplifier module here; name one with --module-path")
    return found


@pytest.fixture
def module_type(module_path: Path) -> str:
    """hooks, tool, provider, loop or context, by the module's name."""
    name = module_path.stem.removeprefix("amplifier_module_")
    return next((kind for kind in _KINDS if name.startswith(kind)), "unknown")


@pytest.fixture
def mock_deps() -> dict[str, Any]:
    """A conversation, a person and a screen for a coordinator of your own."""
    from amplifier_core.testing import MockContextManager, RecordingDisplay, ScriptedApproval

    return {
        "context": MockContextManager(),
        "approval_system": ScriptedApproval("Allow"),
        "display_system": RecordingDisplay(),
    }


@pytest.fixture
def coordinator(mock_deps: dict[str, Any]) -> TestCoordinator:
    """A real coordinator to mount a module on."""
    from amplifier_core.testing import TestCoordinator

    return TestCoordinator(**mock_deps)


@pytest.fixture
def hook_cleanup() -> Iterator[list[Callable[[], Any]]]:
    """Append what `register` returned; it is called when the test is over."""
    undo: list[Callable[[], Any]] = []
    yield undo
    for one in reversed(undo):
        one()


async def _mounted(coordinator: TestCoordinator, path: Path) -> AsyncIterator[TestCoordinator]:
    from amplifier_core.loader import ModuleLoader
    from amplifier_core.mounting import Mounting

    mounting = Mounting(coordinator, ModuleLoader())
    entry = {"module": path.stem, "source": str(path), "required": True}
    await mounting.mount("module", entry)
    yield coordinator
    await mounting.unmount_all()


@pytest.fixture
async def tool_module(
    coordinator: TestCoordinator, module_path: Path
) -> AsyncIterator[dict[str, Any]]:
    """The tools that the module mounts."""
    async for board in _mounted(coordinator, module_path):
        yield board.get("tools")


@pytest.fixture
async def provider_module(
    coordinator: TestCoordinator, module_path: Path
) -> AsyncIterator[dict[str, Any]]:
    """The providers that the module mounts."""
    async for board in _mounted(coordinator, module_path):
        yield board.get("providers")


@pytest.fixture
async def orchestrator_module(
    coordinator: TestCoordinator, module_path: Path
) -> AsyncIterator[Any]:
    """The loop that the module mounts."""
    async for board in _mounted(coordinator, module_path):
        yield board.get("orchestrator")


@pytest.fixture
async def context_module(coordinator: TestCoordinator, module_path: Path) -> AsyncIterator[Any]:
    """The context that the module mounts."""
    async for board in _mounted(coordinator, module_path):
        yield board.get("context")
