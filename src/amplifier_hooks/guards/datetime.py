"""hooks-datetime: tell the agent the date and time with each prompt.

Listens to  prompt:submit
Answers     inject_context
Configure   timezone, format, ephemeral, every_minutes, priority
"""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core.events import PROMPT_SUBMIT
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.machine.text import to_one_line
from amplifier_hooks.modules.clock import find_calendar
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import is_own_event, subscribe

NAME = "hooks-datetime"
_LONGEST = 200


class Config(BaseModel):
    """The options of hooks-datetime."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timezone: str | None = None
    format: str = "%A, %Y-%m-%d %H:%M %Z (UTC%z)"
    ephemeral: bool = True
    every_minutes: float = Field(0, ge=0)
    priority: int = 20

    @field_validator("timezone")
    @classmethod
    def _check_zone(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                zoneinfo.ZoneInfo(value)
            except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
                raise ValueError("no such time zone; use a name such as 'Europe/Berlin'") from None
        return value

    @field_validator("format")
    @classmethod
    def _check_format(cls, value: str) -> str:
        try:
            shown = datetime.datetime.now(datetime.UTC).strftime(value)
        except (ValueError, UnicodeError) as wrong:
            raise ValueError(f"not a strftime format: {wrong}") from None
        if not shown.strip():
            raise ValueError("shows nothing; use strftime codes such as '%Y-%m-%d %H:%M'")
        return value


class CurrentTime:
    """Says the time with each prompt, or when the last time said is old enough."""

    def __init__(
        self, coordinator: Host, config: Config, now: Callable[[], datetime.datetime]
    ) -> None:
        self._coordinator = coordinator
        self._config = config
        self._get_now = now
        self._zone = zoneinfo.ZoneInfo(config.timezone) if config.timezone else None
        self._pause = datetime.timedelta(minutes=config.every_minutes)
        self._said: datetime.datetime | None = None

    async def on_prompt(self, event: str, data: dict[str, Any]) -> HookResult:
        now = self._get_now()
        if not is_own_event(self._coordinator, data) or self._is_fresh(now):
            return HookResult(action="continue")
        self._said = now
        shown = to_one_line(now.astimezone(self._zone).strftime(self._config.format), _LONGEST)
        return HookResult(
            action="inject_context",
            context_injection=f"Current date and time: {shown}",
            ephemeral=self._config.ephemeral,
        )

    def _is_fresh(self, now: datetime.datetime) -> bool:
        return self._said is not None and now - self._said < self._pause


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = await parse_known(coordinator, Config, config, NAME)
    current = CurrentTime(coordinator, settings, find_calendar(coordinator))
    return subscribe(coordinator, NAME, settings.priority, [(PROMPT_SUBMIT, current.on_prompt)])
