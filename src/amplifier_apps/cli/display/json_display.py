"""A run for machines: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from amplifier_apps.cli.display.run_state import RunState


class JsonDisplay:
    """One JSON object a line: every event, every message, and the result."""

    def __init__(self, stream: IO[str]) -> None:
        self.state = RunState()
        self._stream = stream

    def start(self) -> None:
        """A turn begins."""
        self.state = RunState()

    def stop(self) -> None:
        """A turn is over."""
        self.state.end()
        self._stream.flush()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Questions go to the terminal itself, not here."""
        yield

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody types into this."""
        yield

    def result(self, **facts: Any) -> None:
        """The last line."""
        known = {"tokens": self.state.tokens, "cost": self.state.cost}
        self._write({"type": "result", **facts, **known, "seconds": round(self.state.elapsed, 3)})

    def show_message(self, message: str, level: str, source: str = "hook") -> None:
        """A hook's message."""
        self._write({"type": "message", "level": level, "source": source, "message": message})

    def event(self, event: str, data: Mapping[str, Any]) -> None:
        """An event with all its data."""
        self.state.take(event, data)
        self._write({"type": "event", "event": event, "data": dict(data)})

    def _write(self, value: dict[str, Any]) -> None:
        self._stream.write(as_json_line(value) + "\n")
        self._stream.flush()


def as_json_line(value: Mapping[str, Any]) -> str:
    """ASCII on one line; what JSON cannot say is written as text."""
    try:
        return json.dumps(value, default=str)
    except (ValueError, TypeError, RecursionError):
        return json.dumps({"type": value.get("type"), "unprintable": repr(value)[:10_000]})
