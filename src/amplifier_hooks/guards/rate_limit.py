"""hooks-rate-limit: limit how often tools are called and events occur.

Listens to  tool:pre, and the events that have a limit of their own
Answers     deny, ask_user, or continue
Configure   tools, events, overall, action, priority, timeout, approval_*
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import TOOL_PRE, canonical
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.modules.clock import find_clock
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import GuardConfig, fits_glob, register_guards

NAME = "hooks-rate-limit"


class Limit(BaseModel):
    """`calls` in `seconds`, and up to `burst` of them at once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: float = Field(gt=0, allow_inf_nan=False)
    seconds: float = Field(60.0, gt=0, allow_inf_nan=False)
    burst: int | None = Field(None, ge=1)

    @property
    def rate(self) -> float:
        """Calls per second."""
        return self.calls / self.seconds

    @property
    def size(self) -> float:
        """How many calls the bucket holds."""
        return float(self.burst) if self.burst is not None else max(self.calls, 1.0)


class Config(GuardConfig):
    """The options of hooks-rate-limit."""

    priority: int = 950  # behind the guards: a call that they deny is not counted
    tools: dict[str, Limit] = Field(default_factory=dict)
    events: dict[str, Limit] = Field(default_factory=dict)
    overall: Limit | None = None
    action: Literal["deny", "ask_user"] = "deny"


@dataclass
class Bucket:
    """Fills evenly, is emptied one call at a time, and never holds more than its size."""

    limit: Limit
    tokens: float
    filled_at: float

    @classmethod
    def make_full(cls, limit: Limit, now: float) -> Bucket:
        """A bucket that lets a whole burst through."""
        return cls(limit, limit.size, now)

    def compute_wait(self, now: float) -> float:
        """Seconds until there is room for a call; 0 when there is."""
        elapsed = max(now - self.filled_at, 0.0)
        self.tokens = min(self.limit.size, self.tokens + elapsed * self.limit.rate)
        self.filled_at = now
        # A millionth of a call is rounding, not a limit.
        return 0.0 if self.tokens >= 1 - 1e-6 else (1 - self.tokens) / self.limit.rate

    def take(self) -> None:
        """Count a call."""
        self.tokens = max(self.tokens - 1, 0.0)


class RateLimiter:
    """Takes one token of every bucket that an event concerns, or none of any."""

    def __init__(self, config: Config, now: Callable[[], float] = time.monotonic) -> None:
        self._config = config
        self._now = now
        start = now()
        self._tools = {glob: Bucket.make_full(limit, start) for glob, limit in config.tools.items()}
        self._events = {
            canonical(name): Bucket.make_full(limit, start) for name, limit in config.events.items()
        }
        self._overall = Bucket.make_full(config.overall, start) if config.overall else None

    def on_event(self, event: str, data: dict[str, Any]) -> HookResult:
        # Counted before the wait, or allowed by a person; what is denied already costs nothing.
        if data.get("judged_again") or data.get("denied_by"):
            return HookResult(action="continue")
        now = self._now()
        concerned = list(self._find_buckets(canonical(event), str(data.get("tool_name", ""))))
        waits = [(bucket.compute_wait(now), what, bucket) for what, bucket in concerned]
        longest = max(waits, key=lambda compute_wait: compute_wait[0], default=None)
        if longest is None or longest[0] <= 0:
            for _, bucket in concerned:
                bucket.take()
            return HookResult(action="continue")
        return self._refuse(longest[1], longest[2].limit, longest[0])

    def _find_buckets(self, event: str, tool: str) -> Iterator[tuple[str, Bucket]]:
        if event in self._events:
            yield event, self._events[event]
        if event != TOOL_PRE:
            return
        for glob, bucket in self._tools.items():
            if fits_glob(tool, glob):
                yield f"the tool {tool}" if glob == tool else f"tools like {glob}", bucket
        if self._overall:
            yield "all tools together", self._overall

    def _refuse(self, what: str, limit: Limit, wait: float) -> HookResult:
        allowed = f"{limit.calls:g} calls in {limit.seconds:g} seconds"
        reason = f"Rate limit for {what}: {allowed}; try again in {max(wait, 0.1):.1f} seconds"
        return self._config.ask_or_deny(self._config.action, f"{reason}. Allow it now?", reason)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to count."""
    settings = parse_config(Config, config, NAME)
    if not {"tools", "events", "overall"} & settings.model_fields_set:
        raise ModuleLoadError(f"{NAME}: give 'tools', 'events' or 'overall'; nothing is limited")
    limiter = RateLimiter(settings, find_clock(coordinator))
    events = {canonical(name) for name in settings.events}
    if settings.tools or settings.overall:
        events.add(TOOL_PRE)
    handlers = [(event, limiter.on_event) for event in sorted(events)]
    return register_guards(
        coordinator,
        NAME,
        handlers,
        priority=settings.priority,
        timeout=settings.timeout,
    )
