"""Who is told that everything is mounted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.module import find_on_session_ready, take_waiting


async def ready(coordinator: Any) -> None: ...


def test_the_first_place_that_has_it_counts(caplog: pytest.LogCaptureFixture) -> None:
    """Some places are not there at all."""
    homes = [None, SimpleNamespace(), SimpleNamespace(on_session_ready=ready)]
    assert find_on_session_ready("x", homes) is ready
    assert find_on_session_ready("x", homes[:2]) is None
    assert not caplog.messages


def test_one_that_is_not_async_is_warned_about_and_not_called(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The module is named."""
    assert find_on_session_ready("x", [SimpleNamespace(on_session_ready=print)]) is None
    assert caplog.messages == ["Module 'x': on_session_ready is not async, so it is not called"]


def test_what_waits_in_a_loaders_queue_is_taken_once() -> None:
    """In its order."""
    loader = ModuleLoader()
    loader.enqueue_on_session_ready("a", ready)
    loader.enqueue_on_session_ready("b", print)
    assert take_waiting(loader) == [("a", ready), ("b", print)]
    assert take_waiting(loader) == []


@pytest.mark.parametrize(
    "loader", [SimpleNamespace(), SimpleNamespace(get_on_session_ready_queue=lambda: "none")]
)
def test_a_loader_of_somebody_else_may_have_no_queue(loader: Any) -> None:
    """Or something that is none."""
    assert take_waiting(loader) == []
