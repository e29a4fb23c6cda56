"""hooks-rate-limit: token buckets per tool, per event and over all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.models import HookResult
from amplifier_hooks.guards.rate_limit import Bucket, Config, Limit, RateLimiter
from tests.support.harness import Harness
from tests.support.hooks import asks
from tests.support.people import PlainPerson


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Limited:
    """A limiter and its clock."""

    def __init__(self, **config: Any) -> None:
        self.clock = Clock()
        self.limiter = RateLimiter(Config.model_validate(config), self.clock)

    def call(self, tool: str = "Bash", event: str = "tool:pre") -> HookResult:
        return self.limiter.on_event(event, {"tool_name": tool})

    def allowed(self, times: int, tool: str = "Bash", event: str = "tool:pre") -> int:
        return sum(self.call(tool, event).action == "continue" for _ in range(times))


def test_a_burst_passes_and_then_calls_come_at_the_rate() -> None:
    """A bucket lets its size through at once and fills evenly."""
    limited = Limited(tools={"Bash": {"calls": 6, "seconds": 60}})
    assert limited.allowed(10) == 6
    limited.clock.now += 9.9
    assert limited.allowed(10) == 0
    limited.clock.now += 0.1
    assert limited.allowed(10) == 1
    limited.clock.now += 10_000
    assert limited.allowed(10) == 6


def test_burst_is_how_many_may_come_at_once() -> None:
    """`burst` is smaller or larger than the rate."""
    limited = Limited(overall={"calls": 60, "seconds": 60, "burst": 2})
    assert limited.allowed(10) == 2
    limited.clock.now += 1
    assert limited.allowed(10) == 1


def test_the_answer_says_what_the_limit_is_and_how_long_to_wait() -> None:
    """Deny or ask over it, with the reason an agent can act on."""
    limited = Limited(tools={"Bash": {"calls": 1, "seconds": 30}})
    limited.call()
    denied = limited.call()
    assert denied.action == "deny"
    assert denied.reason == (
        "Rate limit for the tool Bash: 1 calls in 30 seconds; try again in 30.0 seconds"
    )
    asking = Limited(overall={"calls": 1}, action="ask_user")
    asking.call()
    asked = asking.call()
    assert asked.action == "ask_user"
    assert "all tools together" in (asked.approval_prompt or "")


def test_limits_are_kept_apart() -> None:
    """Per tool, per event and overall; other tools and events have their own."""
    limited = Limited(
        tools={"Bash": {"calls": 2}, "mcp__*": {"calls": 1}},
        events={"provider:request": {"calls": 3}},
        overall={"calls": 5},
    )
    assert limited.allowed(1, "Bash") == 1
    assert limited.allowed(5, "bash") == 1  # letter case is no second budget
    assert limited.allowed(5, "mcp__a") == 1
    assert limited.allowed(5, "mcp__b") == 0
    assert limited.allowed(5, event="provider:request") == 3
    assert limited.allowed(5, "Read") == 2
    assert limited.allowed(5, event="prompt:submit") == 5


def test_a_refused_call_takes_nothing_from_the_other_buckets() -> None:
    """One token of every bucket that the call concerns, or none of any."""
    limited = Limited(tools={"Bash": {"calls": 1}}, overall={"calls": 3})
    assert limited.allowed(50, "Bash") == 1
    assert limited.allowed(50, "Read") == 2


def test_spellings_of_an_event_share_a_limit() -> None:
    """`execution:end` is `execution:complete`."""
    limited = Limited(events={"execution:end": {"calls": 1}})
    assert limited.allowed(2, event="execution:complete") == 1
    assert limited.allowed(2, event="execution:end") == 0


def test_a_clock_that_goes_back_gives_nothing() -> None:
    """Only time that passed fills a bucket."""
    limited = Limited(overall={"calls": 1, "seconds": 10})
    limited.call()
    limited.clock.now -= 1_000
    assert limited.allowed(3) == 0


@given(
    st.integers(1, 20),
    st.floats(0.1, 100),
    st.integers(1, 30),
    st.lists(st.floats(0, 5), min_size=1, max_size=60),
)
def test_never_more_than_burst_plus_rate(
    calls: int, seconds: float, burst: int, pauses: list[float]
) -> None:
    """In any time t at most burst + rate · t calls pass."""
    limit = Limit(calls=calls, seconds=seconds, burst=burst)
    bucket, now, passed = Bucket.make_full(limit, 0.0), 0.0, 0
    for pause in pauses:
        now += pause
        while bucket.compute_wait(now) <= 0 and passed < 10_000:
            bucket.take()
            passed += 1
    assert passed <= burst + limit.rate * now + 0.01


async def test_it_limits_real_tool_calls(tmp_path: Path) -> None:
    """Mounted on a session's registry."""
    harness = Harness(tmp_path)
    await harness.mount("rate_limit", {"tools": {"Bash": {"calls": 2}}})
    answers = [(await harness.answer("Bash", {})).action for _ in range(4)]
    assert answers == ["continue", "continue", "deny", "deny"]


async def test_a_call_that_a_guard_denies_is_not_counted(tmp_path: Path) -> None:
    """It stands behind the guards."""
    harness = Harness(tmp_path)
    await harness.mount("rate_limit", {"overall": {"calls": 1}})
    await harness.mount("command_guard")
    for _ in range(3):
        denied = await harness.answer("Bash", {"command": "rm -rf /"})
        assert "[recursive-delete]" in (denied.reason or "")
    assert (await harness.answer("Bash", {"command": "ls"})).action == "continue"


@pytest.mark.parametrize(
    "config",
    [
        {"overall": {"calls": 0}},
        {"overall": {"calls": -1}},
        {"overall": {"calls": 1, "seconds": 0}},
        {"overall": {"calls": float("inf")}},
        {"overall": {"calls": 1, "burst": 0}},
        {"overall": {}},
        {"tools": {"Bash": 5}},
        {"action": "modify"},
    ],
)
async def test_a_limit_that_limits_nothing_is_refused(tmp_path: Path, config: Any) -> None:
    """Bad limits are clear errors at load."""
    with pytest.raises(ModuleLoadError, match="hooks-rate-limit: option"):
        await Harness(tmp_path).mount("rate_limit", config)


async def test_a_call_that_waited_for_a_person_is_counted_once(tmp_path: Path) -> None:
    """Guards judge again after a wait; the call is the same."""
    harness = Harness(tmp_path, approval=PlainPerson("Allow"))
    limit = {"calls": 2, "seconds": 3600}
    async with harness.mounted("rate_limit", {"tools": {"Bash": limit}}):
        harness.hooks.register("tool:pre", asks())
        actions = [(await harness.pre("Bash")).action for _ in range(3)]
    assert actions == ["continue", "continue", "deny"]


async def test_a_person_who_lets_a_call_through_is_asked_once(tmp_path: Path) -> None:
    """The time that is left runs on while they think; the question stays the same."""
    person = PlainPerson("Allow", delay=0.2)
    harness = Harness(tmp_path, approval=person)
    config = {"overall": {"calls": 1, "seconds": 3600}, "action": "ask_user"}
    async with harness.mounted("rate_limit", config):
        assert (await harness.pre("Bash")).action == "continue"
        assert (await harness.pre("Bash")).action == "continue"
    assert len(person.asked) == 1


@pytest.mark.parametrize("config", [None, {}, {"action": "ask_user"}])
async def test_without_a_limit_there_is_nothing_to_guard(
    config: dict[str, Any] | None,
) -> None:
    """Whoever forgot the limits believes that there are some."""
    with pytest.raises(ModuleLoadError, match="give 'tools', 'events' or 'overall'"):
        await Harness().mount("rate_limit", config)


async def test_a_call_that_another_hook_has_denied_takes_no_token() -> None:
    """With `session.run_all` the limiter is told of it; it does not run."""
    limited = Limited(overall={"calls": 1, "seconds": 3600})
    limited.limiter.on_event("tool:pre", {"tool_name": "Bash", "denied_by": "guard"})
    assert limited.allowed(2) == 1
