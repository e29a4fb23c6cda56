"""The tests of a hook module's behaviour."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import MockCoordinator
from amplifier_core.validation.behavioral import HookBehaviorTests
from tests.support.behavior import list_tests
from tests.support.modules import GOOD_HOOKS, write_module

RAISES = GOOD_HOOKS.replace('return HookResult(action="continue")', "raise ValueError('no')")
FAILING_UNDO = "async def mount(coordinator, config):\n    return lambda: 1 / 0\n"
NO_UNDO = "async def mount(coordinator, config): ...\n"
ASYNC_UNDO = """
async def mount(coordinator, config):
    async def undo(): coordinator.undone = True
    return undo
"""

with_mounting = pytest.mark.parametrize(
    "test",
    [
        HookBehaviorTests().test_the_clean_up_does_not_raise,
        HookBehaviorTests().test_events_pass_after_the_clean_up,
    ],
)
with_events = pytest.mark.parametrize(
    "test",
    [
        HookBehaviorTests().test_an_event_with_data_passes,
        HookBehaviorTests().test_an_event_without_data_passes,
        HookBehaviorTests().test_an_event_with_empty_data_passes,
    ],
)


def test_there_are_seven() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(HookBehaviorTests)) == 7


@with_mounting
@pytest.mark.parametrize("text", [GOOD_HOOKS, RAISES, NO_UNDO, ASYNC_UNDO])
async def test_every_clean_up_that_works_will_do(
    tmp_path: Path, test: Callable[..., Any], text: str
) -> None:
    """Sync, async or none."""
    await test(write_module(tmp_path, text), {}, MockCoordinator())


@with_mounting
async def test_a_clean_up_that_raises_fails(tmp_path: Path, test: Callable[..., Any]) -> None:
    """The author sees its error."""
    with pytest.raises(ZeroDivisionError):
        await test(write_module(tmp_path, FAILING_UNDO), {}, MockCoordinator())


async def test_an_async_clean_up_is_awaited(tmp_path: Path) -> None:
    """And what it does has been done."""
    coordinator: Any = MockCoordinator()
    test = HookBehaviorTests().test_the_clean_up_does_not_raise
    await test(write_module(tmp_path, ASYNC_UNDO), {}, coordinator)
    assert coordinator.undone


@pytest.mark.parametrize(("returned", "passes"), [(None, True), (print, True), (3, False)])
async def test_mount_returns_a_clean_up_or_none(returned: Any, passes: bool) -> None:
    """Anything else fails."""
    test = HookBehaviorTests().test_mount_returns_a_clean_up_or_none
    if passes:
        await test(returned)
        return
    with pytest.raises(AssertionError, match="mount returned int"):
        await test(returned)


@with_events
async def test_an_answer_must_be_a_result(test: Callable[..., Any]) -> None:
    """Whatever the event carries."""
    coordinator = MockCoordinator()
    await test(None, coordinator)

    class Broken:
        async def emit(self, event: str, data: Any) -> str:
            return "yes"

    coordinator.hooks = Broken()  # type: ignore[assignment]
    with pytest.raises(AssertionError, match="emit gave str"):
        await test(None, coordinator)


async def test_a_module_must_not_replace_the_registry() -> None:
    """Others have registered there."""
    coordinator = MockCoordinator()
    test = HookBehaviorTests().test_the_module_mounts
    await test(None, coordinator)
    coordinator.mount_points["hooks"] = None
    with pytest.raises(AssertionError, match="registry was replaced"):
        await test(None, coordinator)
