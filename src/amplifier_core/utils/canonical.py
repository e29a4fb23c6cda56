"""The canonical form of a value, and its digest.

Approvals are bound to digests: what a person read is what runs. So any value has one, also those
that JSON cannot hold.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from amplifier_core.utils.text import safe_repr

_MAX_DIGITS = sys.int_info.default_max_str_digits
_LARGEST = 10**_MAX_DIGITS


def digest(value: Any) -> str:
    """SHA-256 over a canonical form of any value. Equal values agree; it never raises."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def canonical_bytes(value: Any) -> bytes:
    """One byte string per value: keys sorted, odd values by their type.

    It depends on the value alone: not on the Python, its limits, or how deep the stack is.
    """
    try:
        text = _encoder.encode(value)
    except Exception:  # noqa: BLE001 - mixed keys, cycles, great depth, classes that raise
        return _encode_slowly(value)
    if len(text) > _MAX_DIGITS and sys.get_int_max_str_digits() != _MAX_DIGITS:
        return _encode_slowly(value)
    return text.encode("ascii")


def _encode_slowly(value: Any) -> bytes:
    try:
        return "".join(_write(value)).encode("ascii")
    except Exception:  # noqa: BLE001 - what JSON cannot hold
        return json.dumps(_flatten(value), ensure_ascii=True).encode("ascii")


def _encode_other(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"__bytes__": bytes(value).hex()}
    if isinstance(value, set | frozenset):
        return {"__set__": sorted(canonical_bytes(item).decode() for item in value)}
    return {"__object__": type(value).__qualname__, "repr": _describe(value)}


_encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_encode_other)


class _Text(NamedTuple):
    """Something to write as it is; `ends` is the container that ends with it."""

    text: str
    ends: int | None = None


def _write(value: Any) -> Iterator[str]:
    """What the encoder writes, without recursion, so that no depth is too great for it."""
    pending: list[Any] = [value]
    entered: set[int] = set()
    while pending:
        item = pending.pop()
        if isinstance(item, _Text):
            yield item.text
            entered.discard(item.ends or 0)
        elif isinstance(item, dict | list | tuple):
            if id(item) in entered:
                raise ValueError("it contains itself")
            entered.add(id(item))
            pending += reversed(list(_list_pieces(item)))
        elif isinstance(item, str | int | float | None):
            yield _write_leaf(item)
        else:
            pending.append(_encode_other(item))


def _list_pieces(item: Any) -> Iterator[Any]:
    """The parts of a container, and what stands between them."""
    if not isinstance(item, dict):
        yield _Text("[")
        for index, part in enumerate(item):
            yield from (_Text(","), part) if index else (part,)
        yield _Text("]", id(item))
        return
    yield _Text("{")
    for index, (key, part) in enumerate(sorted(item.items())):
        name = key if isinstance(key, str) else _write_leaf(key)
        yield _Text(f"{',' if index else ''}{_encoder.encode(name)}:")
        yield part
    yield _Text("}", id(item))


def _write_leaf(value: Any) -> str:
    if not isinstance(value, str | int | float | None):
        raise TypeError("such a key is not one of JSON")
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= _LARGEST:
            raise ValueError("it has too many digits")
        return f"{Decimal(int(value)):f}"  # no lower limit of digits holds for it
    return _encoder.encode(value)


def _flatten(value: Any) -> list[str]:
    """A walk over containers that numbers each one and notes each step once."""
    steps: list[str] = []
    numbers: dict[int, int] = {}
    pending: list[tuple[str, Any]] = [("$", value)]
    while pending:
        place, item = pending.pop()
        if not isinstance(item, dict | list | tuple):
            steps.append(f"{place}={type(item).__name__}:{_describe_leaf(item)}")
        elif id(item) in numbers:
            steps.append(f"{place}=#{numbers[id(item)]}")
        else:
            number = numbers[id(item)] = len(numbers)
            entries = _sort_entries(item)
            steps.append(f"{place}=#{number}:{type(item).__name__}:{len(entries)}")
            pending.extend((f"#{number}/{key}", entry) for key, entry in entries)
    return steps


def _sort_entries(item: Any) -> list[tuple[str, Any]]:
    if not isinstance(item, dict):
        base = list if isinstance(item, list) else tuple
        return [(str(index), entry) for index, entry in enumerate(base.__iter__(item))]
    return sorted(
        ((f"{type(key).__name__}:{_describe_leaf(key)}", entry) for key, entry in dict.items(item)),
        key=lambda pair: pair[0],
    )


def _describe_leaf(value: Any) -> str:
    if isinstance(value, int):
        return hex(value)  # a repr of more than 4,300 digits is refused
    if isinstance(value, set | frozenset):
        return str(sorted(map(_describe, value)))
    return _describe(value)


def _describe(value: Any) -> str:
    """Its repr in ASCII: which characters can be printed depends on the Python."""
    return safe_repr(value).encode("ascii", "backslashreplace").decode("ascii")
