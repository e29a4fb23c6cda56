"""The clock of a session, and the modules that go by it."""

from __future__ import annotations

import datetime
import time

from amplifier_core.events import PROMPT_SUBMIT, TOOL_PRE
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.guards import datetime as datetime_hook
from amplifier_hooks.guards import rate_limit
from amplifier_hooks.modules.clock import CAPABILITY, find_calendar, find_clock

NOON = datetime.datetime(2030, 1, 2, 12, tzinfo=datetime.UTC)


class Hands:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOON.timestamp()

    def __call__(self) -> float:
        return self.now


def test_a_session_without_a_clock_goes_by_the_machine() -> None:
    """Intervals are measured with a clock that nobody sets back."""
    host = TestCoordinator()
    assert find_clock(host) is time.monotonic
    assert abs(find_calendar(host)() - datetime.datetime.now(datetime.UTC)).total_seconds() < 60


async def test_a_rate_limit_goes_by_the_clock_of_its_session() -> None:
    """Calls that were an hour apart are an hour apart, however fast they are told again."""
    host, hands = TestCoordinator(), Hands()
    host.register_capability(CAPABILITY, hands)
    await rate_limit.mount(host, {"overall": {"calls": 1, "seconds": 3600}})
    call = {"tool_name": "Bash", "tool_input": {}}
    answers = []
    for later in (0, 10, 3600):
        hands.now = NOON.timestamp() + later
        answers.append((await host.hooks.emit(TOOL_PRE, call)).action)
    assert answers == ["continue", "deny", "continue"]


async def test_the_time_that_an_agent_is_told_is_that_of_its_session() -> None:
    """A session that is told again hears the time that it had."""
    host = TestCoordinator()
    host.register_capability(CAPABILITY, Hands())
    await datetime_hook.mount(host, {"timezone": "UTC"})
    answer = await host.hooks.emit(PROMPT_SUBMIT, {"prompt": "what time is it?"})
    assert "2030-01-02 12:00" in str(answer.context_injection)
