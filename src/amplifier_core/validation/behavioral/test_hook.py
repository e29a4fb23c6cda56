"""Behaviour of a hook module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_core.models import HookResult
from amplifier_core.utils import resolve
from amplifier_core.validation.module import mount_code
from amplifier_core.validation.pytest_marks import asynchronous, require_module

EVENT = "test:event"


class HookBehaviorTests:
    """The module mounts, lets events pass, and can be undone."""

    @asynchronous
    async def test_the_module_mounts(self, hook_cleanup: Any, coordinator: Any) -> None:
        """Without disturbing what the coordinator had."""
        assert coordinator.get("hooks") is coordinator.hooks, "the hook registry was replaced"

    @asynchronous
    async def test_mount_returns_a_clean_up_or_none(self, hook_cleanup: Any) -> None:
        """A session calls it at its end."""
        returned = type(hook_cleanup).__name__
        assert hook_cleanup is None or callable(hook_cleanup), f"mount returned {returned}"

    @asynchronous
    async def test_the_clean_up_does_not_raise(
        self, module_path: Path | None, module_config: dict[str, Any], coordinator: Any
    ) -> None:
        """Right after mounting, too."""
        undo = await mount_code(require_module(module_path), coordinator, module_config)
        if undo is not None:
            await resolve(undo())

    @asynchronous
    async def test_events_pass_after_the_clean_up(
        self, module_path: Path | None, module_config: dict[str, Any], coordinator: Any
    ) -> None:
        """What is left of the module stops nobody."""
        undo = await mount_code(require_module(module_path), coordinator, module_config)
        if undo is not None:
            await resolve(undo())
        await _check_answer(coordinator, {"key": "value"})

    @asynchronous
    async def test_an_event_with_data_passes(self, hook_cleanup: Any, coordinator: Any) -> None:
        """An event that the module may never have heard of."""
        await _check_answer(coordinator, {"key": "value", "number": 1})

    @asynchronous
    async def test_an_event_without_data_passes(self, hook_cleanup: Any, coordinator: Any) -> None:
        """None instead of a dict."""
        await _check_answer(coordinator, None)

    @asynchronous
    async def test_an_event_with_empty_data_passes(
        self, hook_cleanup: Any, coordinator: Any
    ) -> None:
        """A dict with none of the fields that a hook may look for."""
        await _check_answer(coordinator, {})


async def _check_answer(coordinator: Any, data: dict[str, Any] | None) -> None:
    result = await coordinator.hooks.emit(EVENT, data)
    assert isinstance(result, HookResult), f"emit gave {type(result).__name__}"


class TestHookBehavior(HookBehaviorTests):
    """The same, for the module that `--module-path` names."""
