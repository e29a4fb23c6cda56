"""HTTP headers that repeat what a message says, as the protocol wants since 2026-07-28."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from amplifier_hooks.guards.mcp.frames import Frame
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
_OPENING, _CLOSING = "=?base64?", "?="


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
