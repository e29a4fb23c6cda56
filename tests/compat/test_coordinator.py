"""The coordinator as authors of existing modules construct and use it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import MockTool
from tests.support.sessions import plan_for

PLAN = {"session": {"orchestrator": "o", "context": "c"}}


class Config:
    def model_dump(self) -> dict[str, Any]:
        return dict(PLAN)


def test_session_approval_and_display_are_positional_in_this_order() -> None:
    session = SimpleNamespace(session_id="s", parent_id="p", config=PLAN)
    approval, display = object(), object()
    coordinator = ModuleCoordinator(session, approval, display)  # type: ignore[arg-type]
    assert coordinator.session is session
    assert coordinator.approval_system is approval
    assert coordinator.display_system is display
    assert (coordinator.session_id, coordinator.parent_id) == ("s", "p")
    assert coordinator.config == PLAN


def test_it_can_be_made_and_subclassed_without_anything() -> None:
    class Own(ModuleCoordinator):
        def __init__(self) -> None:
            super().__init__()
            self.todo_state = ["a module keeps what it likes here"]

    assert Own().todo_state
    assert ModuleCoordinator().session is None


def test_a_config_may_be_a_model() -> None:
    session = SimpleNamespace(session_id="s", parent_id=None, config=Config())
    assert ModuleCoordinator(session).config == PLAN


def test_the_coordinator_of_a_session_is_one() -> None:
    session = AmplifierSession(plan_for([]))
    assert isinstance(session.coordinator, ModuleCoordinator)
    assert session.coordinator.session is session


def test_at_first_nothing_is_mounted() -> None:
    coordinator = ModuleCoordinator()
    points = coordinator.mount_points
    assert points["hooks"] is coordinator.hooks
    assert points["orchestrator"] is points["context"] is points["module-source-resolver"] is None
    assert points["providers"] == points["tools"] == {}


async def test_the_tokens_of_a_turn_can_be_read_and_set() -> None:
    coordinator = ModuleCoordinator()
    assert coordinator._current_turn_injections == 0
    coordinator._current_turn_injections = 7
    assert coordinator.injection_budget == 7
    coordinator.reset_turn()
    assert coordinator._current_turn_injections == 0


async def test_the_summary_has_what_existing_readers_look_for() -> None:
    coordinator = ModuleCoordinator(None, object(), None)  # type: ignore[arg-type]
    await coordinator.mount("tools", MockTool("a"))
    coordinator.register_capability("k", 1)
    summary = coordinator.to_dict()
    assert (summary["tools"], summary["providers"]) == (["a"], [])
    assert summary["capabilities"] == ["k"]
    assert summary["has_orchestrator"] is summary["has_context"] is False
    assert (summary["has_approval_provider"], summary["has_display_service"]) == (True, False)


async def test_clean_ups_run_in_reverse_and_an_interruption_comes_last() -> None:
    """What cannot be called is ignored."""
    coordinator, done = ModuleCoordinator(), []

    def interrupt() -> None:
        done.append("interrupted")
        raise KeyboardInterrupt

    coordinator.register_cleanup(lambda: done.append("first"))
    coordinator.register_cleanup(interrupt)
    coordinator.register_cleanup(None)  # type: ignore[arg-type]
    coordinator.register_cleanup(lambda: done.append("last"))
    with pytest.raises(KeyboardInterrupt):
        await coordinator.cleanup()
    assert done == ["last", "interrupted", "first"]


def test_loader_approval_and_display_can_be_set_later_and_cleared() -> None:
    coordinator = ModuleCoordinator()
    for name in ("loader", "approval_system", "display_system"):
        one = object()
        setattr(coordinator, name, one)
        assert getattr(coordinator, name) is one
        setattr(coordinator, name, None)
        assert getattr(coordinator, name) is None


async def test_a_contributor_that_is_cancelled_ends_the_collection() -> None:
    """With what there is so far."""
    coordinator = ModuleCoordinator()

    def cancelled() -> None:
        raise asyncio.CancelledError

    coordinator.register_contributor("c", "a", lambda: 1)
    coordinator.register_contributor("c", "b", cancelled)
    coordinator.register_contributor("c", "c", lambda: 2)
    assert await coordinator.collect_contributions("c") == [1]


@pytest.mark.parametrize("name", ["emit", "session_dir"])
def test_what_modules_probe_for_is_absent(name: str) -> None:
    assert not hasattr(ModuleCoordinator(), name)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (("nowhere", object(), "n"), "Unknown mount point"),
        (("tools", object(), None), "Name required"),
        (("hooks", object(), "n"), "Hooks should be registered"),
    ],
)
async def test_wrong_mounts_are_named(call: tuple[Any, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        await ModuleCoordinator().mount(*call)


async def test_a_bare_dict_is_no_result() -> None:
    with pytest.raises(AttributeError):
        await ModuleCoordinator().process_hook_result({"action": "deny"}, "x")  # type: ignore[arg-type]
    assert HookResult(action="deny").action == "deny"
