"""What is seen of a run: live on a terminal, plain lines, or JSON lines, and what feeds it.

Writes to a handle of its own: the kernel keeps what hooks print on the standard streams.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol

from amplifier_apps.cli.display.run_state import RunState
from amplifier_core import events
from amplifier_core.models import CONTINUE, HookResult

if TYPE_CHECKING:
    from amplifier_apps.cli.display.live_display import LiveDisplay

Mode = Literal["live", "plain", "json"]

LAST = 10_000
"""The priority of an observer: behind every hook that changes or redacts."""


# Per task, as parallel calls each have their own.
_call: ContextVar[dict[str, Any] | None] = ContextVar("amplifier_cli_call", default=None)
_refused: ContextVar[bool] = ContextVar("amplifier_cli_refused", default=False)


class Display(Protocol):
    """The one face of all three."""

    state: RunState

    def show_message(self, message: str, level: str, source: str = "hook") -> None: ...
    def event(self, event: str, data: Mapping[str, Any]) -> None: ...
    def paused(self) -> Any: ...
    def held(self) -> Any: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def result(self, **facts: Any) -> None: ...


def own_handle(fd: int) -> IO[str]:
    """A text stream over a descriptor that nobody redirects and no character breaks."""
    return open(fd, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1)


def mode_for(*, as_json: bool, stream: IO[str] | None = None) -> Mode:
    """Live only where a person looks on."""
    if as_json:
        return "json"
    looked_at = (stream or sys.stdout).isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "live" if looked_at else "plain"


def make_display(mode: Mode, *, verbose: bool = False) -> Display:
    """The display for a mode; the live one brings rich along."""
    if mode == "json":
        from amplifier_apps.cli.display.json_display import JsonDisplay

        return JsonDisplay(own_handle(1))
    if mode == "plain":
        from amplifier_apps.cli.display.line_display import LineDisplay

        return LineDisplay(own_handle(1), own_handle(2), verbose=verbose)
    from amplifier_apps.cli.display.live_display import LiveDisplay

    display: LiveDisplay = LiveDisplay(own_handle(1), verbose=verbose)
    return display


def observe(registry: Any, display: Display, scrub: Callable[[Any], Any]) -> Callable[[], None]:
    """Let a display look on: last in every chain, so that it sees what redaction left.

    A denied call never gets to the last hook, so a first one notes what is about to be called.
    """

    async def display_call(_: str, data: dict[str, Any]) -> HookResult:
        _call.set(scrub({key: data.get(key) for key in ("tool_name", "tool_input")}))
        return CONTINUE

    async def display_observer(event: str, data: dict[str, Any]) -> HookResult:
        display.event(event, {**scrub(data), **_known_of(event, data)})
        return CONTINUE

    removals = [
        registry.register(events.TOOL_PRE, display_call, -LAST, "cli-display"),
        registry.register("*", display_observer, LAST, "cli-display"),
    ]

    def remove() -> None:
        for undo in removals:
            undo()

    return remove


def _known_of(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Which call a denial is about, and whether the person who refused has been told of already."""
    if event == events.APPROVAL_DENIED:
        _refused.set(True)
    if event != events.POLICY_VIOLATION or data.get("event") != events.TOOL_PRE:
        return {}
    refused = _refused.get()
    _refused.set(False)
    return {**(_call.get() or {}), "refused_by_person": refused}
