"""Registrations that are made and removed together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, TestCoordinator
from amplifier_hooks.modules.subscription import (
    combine_removals,
    get_session_id,
    get_working_dir,
    is_own_event,
    subscribe,
)
from tests.support.harness import Harness


async def test_handlers_bear_the_modules_name_and_go_together() -> None:
    """Logs and denials name the module, and one call removes all it registered."""
    harness, heard = Harness(), EventRecorder()
    remove = subscribe(
        harness.coordinator, "hooks-x", 5, [("tool:pre", heard), ("tool:post", heard)]
    )
    await harness.call("Read", {})
    assert heard.names == ["tool:pre", "tool:post"]
    assert harness.hooks.list_handlers() == {"tool:pre": ["hooks-x"], "tool:post": ["hooks-x"]}
    remove()
    assert harness.hooks.list_handlers() == {}


async def test_the_priority_is_that_of_the_module() -> None:
    """The lower number is asked first."""
    harness, order = Harness(), list[str]()

    def note(name: str) -> Any:
        async def hook(event: str, data: dict[str, Any]) -> HookResult:
            order.append(name)
            return HookResult()

        return hook

    subscribe(harness.coordinator, "late", 90, [("tool:pre", note("late"))])
    subscribe(harness.coordinator, "early", -90, [("tool:pre", note("early"))])
    await harness.emit("tool:pre")
    assert order == ["early", "late"]


async def test_one_module_does_not_remove_the_handlers_of_another() -> None:
    """Two instances of a module share a name and nothing else."""
    harness, heard = Harness(), EventRecorder()
    first = subscribe(harness.coordinator, "hooks-x", 0, [("tool:pre", heard)])
    subscribe(harness.coordinator, "hooks-x", 0, [("tool:post", heard)])
    first()
    assert harness.hooks.list_handlers() == {"tool:post": ["hooks-x"]}


def test_removals_run_once_the_last_first() -> None:
    """As a clean-up undoes things in reverse, and only once."""
    done: list[int] = []
    remove = combine_removals([lambda: done.append(1), lambda: done.append(2)])
    remove()
    remove()
    assert done == [2, 1]


def test_a_removal_that_fails_can_be_taken_up_again() -> None:
    """What comes before it is not forgotten."""
    done: list[int] = []

    def fail() -> None:
        raise OSError("busy")

    remove = combine_removals([lambda: done.append(1), fail])
    with pytest.raises(OSError, match="busy"):
        remove()
    remove()
    assert done == [1]


@pytest.mark.parametrize(
    ("own", "data", "session", "is_own"),
    [
        ("s1", {"session_id": "s1"}, "s1", True),
        ("s1", {}, "s1", True),
        ("s1", {"session_id": None}, "s1", True),
        ("s1", {"session_id": "child"}, "child", False),
        ("s1", {"session_id": 7}, "7", False),
        ("7", {"session_id": 7}, "7", True),
    ],
)
def test_the_session_of_an_event(
    own: str, data: dict[str, Any], session: str, is_own: bool
) -> None:
    """A sub-agent's events reach its parent's hooks, too."""
    host = TestCoordinator(session_id=own)
    assert get_session_id(host, data) == session
    assert is_own_event(host, data) is is_own


def test_without_a_session_every_event_is_ones_own() -> None:
    """A host without an id has no sub-agents to tell apart."""
    host = TestCoordinator(session_id=None)
    assert is_own_event(host, {"session_id": "anything"})
    assert get_session_id(host, {}) == "unknown"


def test_the_working_directory_is_the_processes_own_if_nobody_says(tmp_path: Path) -> None:
    """Modules work in a host that has no such capability."""
    assert get_working_dir(TestCoordinator()) == "."
    assert get_working_dir(Harness(tmp_path).coordinator) == str(tmp_path)
