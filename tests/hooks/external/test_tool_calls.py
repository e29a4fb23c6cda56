"""Before and after in pairs."""

from __future__ import annotations

import time

from amplifier_hooks.external.tool_calls import (
    MOST,
    OpenCall,
    OpenCalls,
    measure_start,
)


def _make(number: int, given: str = "", command: str = "x") -> OpenCall:
    return OpenCall(f"c{number}", given, "Bash", {"command": command}, {}, 0.0)


def test_a_call_is_found_by_its_id() -> None:
    """The agent's id says which one, whatever the input is by now."""
    calls = OpenCalls()
    calls.add(_make(1, "a"))
    calls.add(_make(2, "b"))
    found = calls.take("b", "Bash", {"command": "changed"})
    assert found is not None
    assert found.id == "c2"
    assert calls.take("b", "Bash", {}) is None


def test_without_ids_the_first_one_that_fits_is_meant() -> None:
    """Tool and input say which one, first in, first out."""
    calls = OpenCalls()
    for number, command in ((1, "x"), (2, "x"), (3, "y")):
        calls.add(_make(number, command=command))
    order = [calls.take("", "Bash", {"command": one}) for one in ("y", "x", "x", "x")]
    assert [one and one.id for one in order] == ["c3", "c1", "c2", None]


def test_a_changed_call_is_found_by_what_the_agent_wanted_too() -> None:
    """Some agents report the input before the change."""
    calls = OpenCalls()
    calls.add(OpenCall("c1", "", "Bash", {"command": "safe"}, {"command": "wild"}, 0.0))
    assert calls.find("", "Bash", {"command": "wild"}) is not None
    assert calls.find("", "Bash", {"command": "safe"}) is not None
    assert calls.find("", "Read", {"command": "safe"}) is None


def test_calls_survive_the_process() -> None:
    """What was saved is loaded, and what is no call is left out."""
    calls, later = OpenCalls(), OpenCalls()
    calls.add(_make(1, "a"))
    later.load([*calls.save(), {"wrong": 1}])
    later.load("rubbish")
    assert later.list_ids() == ["c1"]
    assert later.find("a", "Bash", {}) == _make(1, "a")


def test_the_oldest_are_forgotten() -> None:
    """An agent that reports nothing back does not fill the memory."""
    calls = OpenCalls()
    for number in range(MOST + 5):
        calls.add(_make(number))
    assert len(calls.list_ids()) == MOST
    assert calls.list_ids()[0] == "c5"


def test_a_start_lies_before_now() -> None:
    """By the milliseconds that the agent tells, if it does."""
    assert time.perf_counter() - measure_start(1000) > 0.99
    assert time.perf_counter() - measure_start("rubbish") < 0.9
