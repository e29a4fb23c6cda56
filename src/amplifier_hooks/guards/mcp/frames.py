"""One message on the wire: read so that every other reader understands the same, or not at all."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.guards.mcp.protocol import METHODS, fold_name

LARGEST = 64 * 1024 * 1024
"""Bytes in one message."""

DEEPEST = 200
"""Objects and lists inside of one another: everybody who reads them has some limit."""

_LONGEST_ID = 1_024
"""Characters: ids are kept while nobody knows whether an answer comes."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603

_KEYS = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_METHOD = re.compile(r"[A-Za-z0-9$_.-]+(?:/[A-Za-z0-9$_.-]+)*")
_FOLDED = {fold_name(one): one for one in METHODS}
_BREAKS = re.compile(rb"[\r\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""What some readers take for the end of a line. JSON allows it between tokens or in texts, so a
message could hide another one behind it."""


class FrameError(ValueError):
    """What cannot be passed on, since its readers might not agree on what it says."""

    def __init__(self, reason: str, *, code: int = INVALID_REQUEST, id: Any = None) -> None:
        super().__init__(reason)
        self.code = code
        self.id = id
        """Of the request that cannot be passed on, if it has one."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One JSON-RPC message: as it was sent, without the line's end, and what it says."""

    raw: bytes
    message: dict[str, Any]

    @property
    def method(self) -> str:
        """What is asked for or told; empty for a response."""
        return str(self.message.get("method") or "")

    @property
    def key(self) -> str | None:
        """The id as a key: 1 and "1" are two. None if there is no id."""
        return make_key(self.message["id"]) if "id" in self.message else None

    @property
    def params(self) -> dict[str, Any]:
        """What comes with the method."""
        found = self.message.get("params")
        return found if isinstance(found, dict) else {}

    @property
    def is_request(self) -> bool:
        return "method" in self.message and "id" in self.message

    @property
    def is_response(self) -> bool:
        return "method" not in self.message


def make_key(id: Any) -> str:
    """An id as a key of a dict, in which 1, 1.0, True and "1" would not all be different."""
    return json.dumps(id)


def write_frame(message: dict[str, Any]) -> Frame:
    """A message of ours."""
    text = json.dumps(message, separators=(",", ":"), allow_nan=False)
    return Frame(text.encode("ascii"), message)


def answer(id: Any, result: Mapping[str, Any]) -> Frame:
    """The response to a request."""
    return write_frame({"jsonrpc": "2.0", "id": id, "result": dict(result)})


def refuse(id: Any, code: int, reason: str) -> Frame:
    """The response to a request that was not carried out."""
    return write_frame({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": reason}})


def read_frames(raw: bytes) -> list[Frame]:
    """The messages in one line, several if it is a batch; FrameError if it is not clear."""
    value = _parse(raw)
    if raw.count(b"[") + raw.count(b"{") > DEEPEST and _is_too_deep(value):
        raise FrameError(f"a message is nested over {DEEPEST} deep")
    if isinstance(value, dict):
        return [_check(raw, value)]
    if isinstance(value, list) and value:
        return [_check_one_of_batch(one) for one in value]
    raise FrameError("a message has to be a JSON object")


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [part for one in inner for part in one if isinstance(part, dict | list)]
        if not level:
            return False
    return True


def _parse(raw: bytes) -> Any:
    if len(raw) > LARGEST:
        raise FrameError(f"a message has {len(raw):,} bytes; {LARGEST:,} are the most")
    try:
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_build,
            parse_constant=_refuse_constant,
            parse_float=_read_float,
        )
    except FrameError:
        raise
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(":")[0] or type(error).__name__
        raise FrameError(f"a message is not JSON in UTF-8: {reason}", code=PARSE_ERROR) from error


def _build(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    pairs = list(pairs)
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = _find_twice(name for name, _ in pairs)
        raise FrameError(f"a message has the key {twice!r:.100} twice; readers disagree about it")
    return found


def _find_twice(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise FrameError(f"a message has the number {text:.40}, which is too large")
    return value


def _refuse_constant(name: str) -> None:
    raise FrameError(f"a message has {name}, which is not JSON", code=PARSE_ERROR)


def _check_one_of_batch(value: Any) -> Frame:
    if not isinstance(value, dict):
        raise FrameError("a batch may have JSON objects only")
    raw = json.dumps(value, separators=(",", ":")).encode("ascii")
    return _check(raw, value)


def _check(raw: bytes, message: dict[str, Any]) -> Frame:
    id = _read_id(message)
    check_spelling(message, _KEYS, id)
    method = message.get("method")
    if "method" in message and not isinstance(method, str):
        raise FrameError("the method of a message is a text", id=id)
    if isinstance(method, str):
        _check_method(method, id)
    if "method" in message and ("result" in message or "error" in message):
        raise FrameError("a message is a request or a response, not both", id=id)
    if "method" not in message and ("result" in message) == ("error" in message):
        raise FrameError("a response has a result or an error", id=id)
    if "params" in message and not isinstance(message["params"], dict | list):
        raise FrameError("the params of a message are an object or a list", id=id)
    return Frame(_unbreak(raw, message), message)


def _check_method(method: str, id: Any) -> None:
    """FrameError for one that some readers would take for a method of the protocol."""
    if not _METHOD.fullmatch(method):
        reason = f"the method {method!r:.100} is not written in plain letters and single slashes"
        raise FrameError(reason, id=id)
    meant = _FOLDED.get(fold_name(method), method)
    if method not in METHODS and meant != method:
        reason = f"the method {method!r:.100} is unknown, and some readers take it for {meant!r}"
        raise FrameError(reason, id=id)


def _read_id(message: dict[str, Any]) -> Any:
    id = message.get("id")
    is_fit = isinstance(id, str | int) and not isinstance(id, bool)
    is_lost = id is None and "error" in message  # nobody knows what it was an answer to
    if "id" in message and not is_fit and not is_lost:
        raise FrameError(f"the id of a message is a text or a whole number, not {id!r:.60}")
    if isinstance(id, str) and len(id) > _LONGEST_ID:
        raise FrameError(f"the id of a message has {len(id):,} characters; {_LONGEST_ID:,} will do")
    return id


def check_spelling(found: Mapping[str, Any], known: Iterable[str], id: Any = None) -> None:
    """FrameError for a key that readers which ignore case would take for one that counts."""
    known = set(known)
    folded = {one.casefold() for one in known}
    for name in found:
        if name not in known and name.casefold() in folded:
            raise FrameError(
                f"a message has the key {name!r:.100}, which some readers take for another", id=id
            )


def _unbreak(raw: bytes, message: dict[str, Any]) -> bytes:
    """The same on one line for every reader."""
    if b"\n" in raw or _BREAKS.search(raw):
        return json.dumps(message, separators=(",", ":")).encode("ascii")
    return raw
