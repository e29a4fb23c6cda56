"""The display of a run: live on a terminal, plain lines, or JSON lines.

It writes to a handle of its own: the kernel keeps what hooks print on the standard streams.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import IO, Any, Literal, Protocol

from pydantic import BaseModel

from amplifier_audit.streams import open_output
from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.dispatch import DENIED_BY
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from amplifier_hooks.cli.display.narration import RunState
from amplifier_hooks.cli.early_signals import LastLine
from amplifier_hooks.cli.text.encoding import accept_any_text


class JsonDisplay:
    """One JSON object a line: every event, every message, and the result."""

    def __init__(self, stream: IO[str]) -> None:
        self.state = RunState()
        self._stream = stream

    def start(self) -> None:
        """Begin a turn."""
        self.state = RunState()

    def stop(self) -> None:
        """End a turn."""
        self.state.end()
        self._stream.flush()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Do nothing: questions go to the terminal itself."""
        yield

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Do nothing: nobody types here."""
        yield

    def show_outputs(self, coordinator: SessionCoordinator) -> None:
        """Do nothing: what tools print is in their results."""

    def watch_keys(self, on_escape: Callable[[], None]) -> None:
        """Do nothing: no keys are pressed here."""

    def pop_typed(self) -> str:
        """Nothing was typed."""
        return ""

    def show_reply(self, text: str) -> None:
        """Do nothing: the reply is in the last line."""

    def show_result(self, **facts: Any) -> None:
        """Write the last line."""
        known = {
            "tokens": self.state.tokens,
            "cost": self.state.cost,
            "hook_failures": self.state.hook_failures,
        }
        with LastLine():
            self._write(
                {"type": "result", **facts, **known, "seconds": round(self.state.elapsed, 3)}
            )

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """Write a hook's message."""
        self._write({"type": "message", "level": level, "source": source, "message": message})

    def show_event(self, event: str, data: Mapping[str, Any]) -> None:
        """Write an event with all its data."""
        self.state.count(event, data)
        self._write({"type": "event", "event": event, "data": dict(data)})

    def show_denied(self, event: str, data: Mapping[str, Any]) -> None:
        """Write an event that a hook denied, as it was before any hook."""
        self._write({"type": "event", "event": event, "data": dict(data)})

    def _write(self, value: dict[str, Any]) -> None:
        self._stream.write(to_json_line(value) + "\n")
        self._stream.flush()


def to_json_line(value: Mapping[str, Any]) -> str:
    """ASCII on one line; what JSON cannot express is written as text."""
    try:
        return json.dumps(value, default=str)
    except (ValueError, TypeError, RecursionError):
        return json.dumps({"type": value.get("type"), "unprintable": repr(value)[:10_000]})


Mode = Literal["live", "plain", "json"]


class Display(Protocol):
    """What all three kinds can do."""

    state: RunState

    def show_message(self, message: str, level: str, source: str = "hook") -> None: ...
    def show_event(self, event: str, data: Mapping[str, Any]) -> None: ...
    def show_denied(self, event: str, data: Mapping[str, Any]) -> None: ...
    def show_reply(self, text: str) -> None: ...
    def show_result(self, **facts: Any) -> None: ...
    def pause(self) -> AbstractContextManager[None]: ...
    def hold(self) -> AbstractContextManager[None]: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def show_outputs(self, coordinator: SessionCoordinator) -> None: ...
    def watch_keys(self, on_escape: Callable[[], None]) -> None: ...
    def pop_typed(self) -> str: ...


def open_handle(fd: int, like: IO[str] | None = None) -> IO[str]:
    """A text stream over a descriptor that nobody redirects and no character breaks.

    In the encoding of the stream that it stands beside, else in UTF-8. The run goes on when nobody
    reads it any more.
    """
    stream = open_output(fd, getattr(like, "encoding", None) or "utf-8")
    accept_any_text(stream)
    return stream


def choose_mode(*, as_json: bool, stream: IO[str] | None = None) -> Mode:
    """Live only where a person looks on."""
    if as_json:
        return "json"
    watched = (stream or sys.stdout).isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "live" if watched else "plain"


def make_display(mode: Mode, *, verbose: bool = False) -> Display:
    """The display for a mode; only the live one imports rich."""
    if mode == "json":
        return JsonDisplay(open_handle(1, sys.stdout))
    if mode == "plain":
        from amplifier_hooks.cli.display.line_display import LineDisplay

        return LineDisplay(open_handle(1, sys.stdout), open_handle(2, sys.stderr), verbose=verbose)
    from amplifier_hooks.cli.display.live_display import LiveDisplay

    return LiveDisplay(open_handle(1, sys.stdout), verbose=verbose)


LAST = 10_000
"""The priority of an observer: behind every hook that changes or redacts."""

NAME = "cli-display"

# Per task, as parallel calls each have their own.
_call: ContextVar[dict[str, Any] | None] = ContextVar("amplifier_cli_call", default=None)
_refused: ContextVar[bool] = ContextVar("amplifier_cli_refused", default=False)
_begun: ContextVar[tuple[str, Mapping[str, Any]] | None] = ContextVar(
    "amplifier_cli_begun", default=None
)

# What a hook withholds by denying one of these, a display is not shown either.
_RESULTS = frozenset({events.TOOL_POST, events.PROVIDER_RESPONSE, events.PROMPT_ANSWER})
DENIABLE = tuple(
    one for one in events.ALL_EVENTS if not events.is_notification(one) and one not in _RESULTS
)


def observe(
    registry: HookRegistry, display: Display, scrub: Callable[[Any], Any]
) -> Callable[[], None]:
    """Show every event on a display: last in every chain, so that it sees what redaction left.

    A denied event never gets to the last hook, so a first one notes what it was about.
    Returns the function that ends it.
    """

    async def note_event(event: str, data: dict[str, Any]) -> HookResult:
        _begun.set((event, data))
        return CONTINUE

    async def note_call(_: str, data: dict[str, Any]) -> HookResult:
        _call.set(scrub({key: data.get(key) for key in ("tool_name", "tool_input")}))
        return CONTINUE

    async def show(event: str, data: dict[str, Any]) -> HookResult:
        if DENIED_BY in data:  # with session.run_all; as if it had not come here
            return CONTINUE
        if denied := _recall_denied(event, data):
            display.show_denied(denied[0], scrub(_unpack(denied[1])))
        display.show_event(event, {**scrub(_unpack(data)), **_recall_call(event, data)})
        _forget_begun(event)
        return CONTINUE

    removals = [
        registry.register(events.TOOL_PRE, note_call, -LAST, NAME),
        registry.register("*", show, LAST, NAME),
        *(registry.register(one, note_event, -LAST, NAME) for one in DENIABLE),
    ]

    def remove() -> None:
        for undo in removals:
            undo()

    return remove


def _unpack(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with what models are in it as dicts; loops of the ecosystem emit replies so."""
    return {
        key: one.model_dump() if isinstance(one, BaseModel) else one for key, one in data.items()
    }


def _recall_denied(event: str, data: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """The event that a denial ended, if it is the one that began last."""
    begun = _begun.get()
    if begun is None or event != events.POLICY_VIOLATION or data.get("event") != begun[0]:
        return None
    return _forget_begun(begun[0])


def _forget_begun(event: str) -> tuple[str, Mapping[str, Any]] | None:
    begun = _begun.get()
    if begun is None or begun[0] != event:
        return None
    _begun.set(None)
    return begun


def _recall_call(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Which call a denial is about, and whether a person's refusal has been shown already."""
    if event == events.APPROVAL_DENIED:
        _refused.set(True)
    if event != events.POLICY_VIOLATION or data.get("event") != events.TOOL_PRE:
        return {}
    refused = _refused.get()
    _refused.set(False)
    return {**(_call.get() or {}), "refused_by_person": refused}
