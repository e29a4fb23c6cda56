"""hooks-datetime: the time, when the user speaks."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.datetime import Config, CurrentTime, mount
from tests.support.harness import Harness

NOON = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.UTC)


async def test_a_prompt_comes_with_the_time(harness: Harness) -> None:
    """Current date/time on prompt:submit."""
    async with harness.mounted("datetime", {"timezone": "UTC", "format": "%Y-%m-%dT%H:%M%z"}):
        before = datetime.datetime.now(datetime.UTC).replace(second=0, microsecond=0)
        result = await harness.emit("prompt:submit", prompt="what day is it?")
    said = str(result.context_injection).removeprefix("Current date and time: ")
    told = datetime.datetime.strptime(said, "%Y-%m-%dT%H:%M%z")
    assert before <= told <= datetime.datetime.now(datetime.UTC)


@pytest.mark.parametrize("ephemeral", [True, False])
async def test_whether_it_is_kept_is_configured(harness: Harness, ephemeral: bool) -> None:
    """Ephemeral by config."""
    async with harness.mounted("datetime", {"ephemeral": ephemeral}):
        assert (await harness.emit("prompt:submit")).ephemeral is ephemeral


async def test_the_zone_is_the_users(harness: Harness) -> None:
    """Noon in Greenwich is one o'clock in Berlin."""
    time = CurrentTime(harness.coordinator, Config(timezone="Europe/Berlin"), now=lambda: NOON)
    result = await time.on_prompt("prompt:submit", {})
    assert result.context_injection == (
        "Current date and time: Sunday, 2026-11-15 13:00 CET (UTC+0100)"
    )


async def test_every_minutes_saves_words(harness: Harness) -> None:
    """Said again only when the last time said is old enough."""
    now = NOON
    time = CurrentTime(harness.coordinator, Config(every_minutes=10), now=lambda: now)
    said = []
    for _ in range(5):
        said.append((await time.on_prompt("prompt:submit", {})).action)
        now += datetime.timedelta(minutes=4)
    assert said == ["inject_context", "continue", "continue", "inject_context", "continue"]


async def test_a_sub_agents_prompt_is_left_alone(harness: Harness) -> None:
    """The user spoke to the parent."""
    async with harness.mounted("datetime"):
        assert (await harness.emit("prompt:submit", session_id="child")).action == "continue"


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"timezone": "Mars/Olympus"}, "cannot be 'Mars/Olympus': no such time zone"),
        ({"timezone": "../etc/passwd"}, "no such time zone"),
        ({"format": " "}, "shows nothing"),
        ({"format": "\ud800"}, "not a strftime format"),
        ({"every_minutes": -1}, "every_minutes"),
    ],
)
async def test_bad_options_are_explained(
    harness: Harness, config: dict[str, Any], sentence: str
) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError) as caught:
        await mount(harness.coordinator, config)
    assert sentence in str(caught.value)
