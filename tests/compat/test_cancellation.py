"""Cancellation as existing loops and sub-agents use it: states, running tools, children."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from amplifier_core.cancellation import CancellationState, CancellationToken


@pytest.fixture
def token() -> CancellationToken:
    return CancellationToken()


def test_there_are_three_states() -> None:
    assert {one.name: one.value for one in CancellationState} == {
        "NONE": "none",
        "GRACEFUL": "graceful",
        "IMMEDIATE": "immediate",
    }


@pytest.mark.parametrize(
    ("request_it", "state"),
    [
        ("request_cancellation", "graceful"),
        ("request_graceful", "graceful"),
        ("request_immediate", "immediate"),
    ],
)
def test_the_state_is_a_string(token: CancellationToken, request_it: str, state: str) -> None:
    """With properties for each; asking without more is asking gracefully."""
    assert (type(token.state), token.state, token.is_cancelled) == (str, "none", False)
    assert getattr(token, request_it)() is True
    assert (type(token.state), token.state, token.is_cancelled) == (str, state, True)
    assert token.is_graceful is (state == "graceful")
    assert token.is_immediate is (state == "immediate")
    token.reset()
    assert token.state == "none"


def test_running_tools_are_a_set_of_ids_with_a_list_of_names(token: CancellationToken) -> None:
    token.register_tool_start("1", "Bash")
    token.register_tool_start("2", "Bash")
    assert token.running_tools == {"1", "2"}
    assert isinstance(token.running_tools, set)
    assert token.running_tool_names == ["Bash", "Bash"]
    token.register_tool_complete("1")
    assert (token.running_tools, token.running_tool_names) == ({"2"}, ["Bash"])


@pytest.mark.parametrize("request_it", ["request_graceful", "request_immediate"])
@pytest.mark.parametrize("late", [False, True])
def test_a_request_reaches_children(token: CancellationToken, request_it: str, late: bool) -> None:
    """Also one that is registered when it has been made."""
    child = CancellationToken()
    steps = [lambda: token.register_child(child), getattr(token, request_it)]
    for step in reversed(steps) if late else steps:
        step()
    assert child.state == token.state == request_it.removeprefix("request_")


def test_a_child_that_was_taken_away_is_not_reached(token: CancellationToken) -> None:
    child = CancellationToken()
    token.register_child(child)
    token.unregister_child(child)
    token.request_immediate()
    assert child.state == "none"


def test_a_reset_does_not_touch_children(token: CancellationToken) -> None:
    child = CancellationToken()
    token.register_child(child)
    token.request_graceful()
    token.reset()
    assert (token.state, child.state) == ("none", "graceful")
    token.request_immediate()
    assert child.state == "immediate"


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
async def test_all_callbacks_run_whatever_one_raises(
    token: CancellationToken, failure: type[BaseException]
) -> None:
    called: list[Any] = []

    def fail() -> None:
        called.append("failing")
        raise failure

    async def work() -> None:
        called.append("async")

    for callback in (fail, work, lambda: called.append("plain")):
        token.on_cancel(callback)
    with suppress(KeyboardInterrupt):
        await token.trigger_callbacks()
    assert called == ["failing", "async", "plain"]
