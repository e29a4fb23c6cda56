"""Messages over HTTP: headers that repeat what one says, and events for several."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_hooks.guards.mcp.frames import LARGEST, Frame
from amplifier_hooks.guards.mcp.protocol import CALL, GET, READ

SESSION = "Mcp-Session-Id"
VERSION = "MCP-Protocol-Version"
METHOD = "Mcp-Method"
NAME = "Mcp-Name"
PARAM = "Mcp-Param-"

HEADER_MISMATCH = -32020
"""The code of the error for headers that say something else than the message."""

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_NAMED_BY = {CALL: "name", GET: "name", READ: "uri"}
_PLAIN = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?")
_OPENING = "=?base64?"
_CLOSING = "?="


def read_version(frame: Frame) -> str | None:
    """The protocol version that a message states itself; None for one of a session."""
    meta = frame.params.get("_meta")
    found = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    return found if isinstance(found, str) else None


def list_mirrored(frame: Frame) -> dict[str, str]:
    """The headers that repeat a message, without those for single arguments."""
    version = read_version(frame)
    if version is None:
        return {}
    found = {VERSION: version, METHOD: frame.method}
    name = frame.params.get(_NAMED_BY.get(frame.method, ""))
    if isinstance(name, str):
        found[NAME] = name
    return {header: encode_value(value) for header, value in found.items()}


def encode_value(value: Any) -> str:
    """A text, number or truth value so that a header can have it."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    is_marked = text.startswith(_OPENING) and text.endswith(_CLOSING)
    if _PLAIN.fullmatch(text) and not is_marked:
        return text
    encoded = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"{_OPENING}{encoded}{_CLOSING}"


def decode_value(value: str) -> str | None:
    """What a header says; None if it cannot be read."""
    if not (value.startswith(_OPENING) and value.endswith(_CLOSING)):
        return value
    encoded = value.removeprefix(_OPENING).removesuffix(_CLOSING)
    try:
        return base64.b64decode(encoded, validate=True).decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        return None


_MARK = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PRIMITIVE = frozenset({"string", "integer", "boolean"})
_NOT_SCHEMAS = frozenset({"const", "default", "enum", "examples"})
_SAFE = 2**53 - 1

Path = tuple[str, ...]


class ParamHeaders:
    """Which arguments of which tools have a header, as the server last listed them."""

    def __init__(self) -> None:
        self._paths: dict[str, dict[str, Path]] = {}

    def learn(self, tools: list[Any]) -> dict[str, str]:
        """Note what the tools of a list want; return those that want what is not allowed, and why.

        A client must not use such a tool over HTTP.
        """
        refused: dict[str, str] = {}
        for tool in tools:
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                try:
                    self._paths[name] = _read_schema(tool.get("inputSchema"))
                except (ValueError, RecursionError) as error:
                    self._paths.pop(name, None)
                    refused[name] = str(error)
        return refused

    def list_headers(self, frame: Frame) -> dict[str, str]:
        """The headers for the arguments of a call, encoded."""
        if frame.method != CALL:
            return {}
        paths = self._paths.get(str(frame.params.get("name")), {})
        found = {name: _follow(frame.params.get("arguments"), path) for name, path in paths.items()}
        return {
            f"{PARAM}{name}": encode_value(_round(value))
            for name, value in found.items()
            if isinstance(value, str | int | float)
        }


def _read_schema(schema: Any) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path, owner in _find_marks(schema, ()):
        name = owner[_MARK]
        if path is None:
            raise ValueError(f"{_MARK} {name!r:.60} stands where no argument can be found by it")
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ValueError(f"{_MARK} {name!r:.60} is no name for a header")
        if name.lower() in {one.lower() for one in found}:
            raise ValueError(f"{_MARK} {name!r:.60} is there twice")
        if not _is_primitive(owner.get("type")):
            raise ValueError(f"{_MARK} {name!r:.60} is neither a text, an integer nor a boolean")
        found[name] = path
    return found


def _find_marks(schema: Any, path: Path | None) -> Iterator[tuple[Path | None, Mapping[str, Any]]]:
    """Every marked schema with the path of its argument, None if that is not fixed."""
    if isinstance(schema, dict) and _MARK in schema:
        yield path or None, schema
    for inner, inner_path in _list_inner(schema, path):
        yield from _find_marks(inner, inner_path)


def _list_inner(schema: Any, path: Path | None) -> Iterator[tuple[Any, Path | None]]:
    if isinstance(schema, list):
        yield from ((one, None) for one in schema)
    if not isinstance(schema, dict):
        return
    for key, inner in schema.items():
        if key == "properties" and isinstance(inner, dict):
            fixed = {name: None if path is None else (*path, name) for name in inner}
            yield from ((one, fixed[name]) for name, one in inner.items())
        elif key not in _NOT_SCHEMAS:
            yield inner, None


def _is_primitive(kind: Any) -> bool:
    kinds = [one for one in (kind if isinstance(kind, list) else [kind]) if one != "null"]
    return len(kinds) == 1 and isinstance(kinds[0], str) and kinds[0] in _PRIMITIVE


def _follow(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _round(value: Any) -> Any:
    is_whole = isinstance(value, float) and abs(value) <= _SAFE and value.is_integer()
    return int(value) if is_whole else value


KIND = "text/event-stream"
PING = b": still here\n\n"
"""A comment: it keeps a connection from looking dead."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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

    def discard_rest(self) -> None:
        """Drop half an event: the stream broke, and the next one begins anew."""
        self._line.clear()
        self._data.clear()
        self._kind = ""
        self._size = 0
        self._id = self.last_id
        self._is_first = True
        self._after_return = False

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
            line = line.removeprefix(_BYTE_ORDER_MARK)
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
        data = b"\n".join(self._data)
        kind = self._kind or "message"
        self._data.clear()
        self._kind = ""
        self._size = 0
        self.last_id = self._id
        return ServerEvent(kind, data) if data else None
