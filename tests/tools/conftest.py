"""A coordinator as small as a tool needs it, with the real registry of hooks."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult


class SmallCoordinator:
    def __init__(self, working_dir: str | None) -> None:
        self.hooks = HookRegistry()
        self.config: dict[str, Any] = {}
        self.session_state: dict[str, Any] = {}
        self.tools: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {"session.working_dir": working_dir}
        self.processed: list[tuple[str, HookResult]] = []

    def get_capability(self, name: str) -> Any:
        return self.capabilities.get(name)

    def register_capability(self, name: str, value: Any) -> None:
        self.capabilities[name] = value

    async def mount(self, point: str, module: Any, name: str | None = None) -> None:
        assert point == "tools"
        self.tools[name or module.name] = module

    async def unmount(self, point: str, name: str | None = None) -> None:
        assert point == "tools"
        del self.tools[name]

    async def process_hook_result(self, result: HookResult, event: str) -> HookResult:
        self.processed.append((event, result))
        return result


@pytest.fixture
def work(tmp_path):
    """The working directory, with something secret beside it."""
    directory = tmp_path / "work"
    directory.mkdir()
    (tmp_path / "secret.txt").write_text("secret\n")
    return directory


@pytest.fixture
def coordinator(work):
    return SmallCoordinator(str(work))


@pytest.fixture
def artifacts(coordinator):
    """The artifact events, in order, as (event, path, bytes)."""
    seen = []

    async def record(event, data):
        seen.append((event, data["path"], data["bytes"]))
        return HookResult(action="continue")

    coordinator.hooks.register("artifact:*", record)
    return seen
