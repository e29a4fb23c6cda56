"""Headers that repeat what a message says, as the protocol wants since 2026-07-28.

A server refuses a message that says something else than its headers. So they are always made
from the message that is sent, after hooks may have changed it.
"""

from __future__ import annotations

import base64
import binascii
import re
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
