"""Server-sent events: how several messages travel in one HTTP answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from amplifier_hooks.guards.mcp.frames import LARGEST

KIND = "text/event-stream"
PING = b": still here\n\n"
"""A comment: it keeps a connection from looking dead."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_MARK = b"\xef\xbb\xbf"


class EventError(ValueError):
    """An event that is too large to be passed on."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its kind, `message` unless stated, and its lines of data."""

    kind: str
    data: bytes


def write_event(raw: bytes) -> bytes:
    """A message as an event. It must be on one line, as every `Frame` is."""
    return b"event: message\ndata: " + raw + b"\n\n"


@dataclass(slots=True)
class EventReader:
    """Events out of bytes, wherever these are cut; lines end with LF, CR or both."""

    largest: int = LARGEST
    last_id: str = ""
    """Of the last complete event that had one: from where a broken stream can go on."""
    retry: float | None = None
    """Seconds to wait before coming back, if the server said so."""

    _line: list[bytes] = field(default_factory=list)
    _data: list[bytes] = field(default_factory=list)
    _size: int = 0
    _id: str = ""
    _kind: str = ""
    _is_first: bool = True
    _after_return: bool = False

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that are complete with these bytes; EventError if one is too large."""
        if not chunk:
            return []
        if self._after_return:  # its line feed may come in the next piece
            chunk = chunk.removeprefix(b"\n")
        self._after_return = chunk.endswith(b"\r") or (self._after_return and not chunk)
        *ended, rest = _LINE_END.split(chunk)
        events = [event for part in ended if (event := self._end_line(part)) is not None]
        self._keep(rest)
        return events

    def find_wait(self, trial: int) -> float:
        """How many seconds to wait before a try: as the server said, or longer each time."""
        wanted = 2.0 ** min(trial, 6) if self.retry is None else self.retry
        return min(max(wanted, 0.05), 60.0)

    def forget_rest(self) -> None:
        """Drop half an event: the stream broke, and the next one begins anew."""
        self._line.clear()
        self._data.clear()
        self._kind, self._size, self._id = "", 0, self.last_id
        self._is_first, self._after_return = True, False

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self.largest:
            raise EventError(f"an event has more than {self.largest:,} bytes")
        if part:
            self._line.append(part)

    def _end_line(self, part: bytes) -> ServerEvent | None:
        self._keep(part)
        line = b"".join(self._line)
        self._line.clear()
        if self._is_first:
            line = line.removeprefix(_MARK)
            self._is_first = False
        if not line:
            return self._end_event()
        self._read_field(line)
        return None

    def _read_field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._kind = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) < 10:
            self.retry = int(value) / 1000

    def _end_event(self) -> ServerEvent | None:
        data, kind = b"\n".join(self._data), self._kind or "message"
        self._data.clear()
        self._kind, self._size, self.last_id = "", 0, self._id
        return ServerEvent(kind, data) if data else None
