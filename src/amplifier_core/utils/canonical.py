"""The canonical form of a value, and its digest.

Approvals are bound to digests: what a person read is what runs. So any value has one, also those
that JSON cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from amplifier_core.utils.describe import safe_repr


def digest(value: Any) -> str:
    """SHA-256 over a canonical form of any value. Equal values agree; it never raises."""
    found: str = _load()[1](canonical_bytes(value)).hexdigest()
    return found


def canonical_bytes(value: Any) -> bytes:
    """One byte string per value: keys sorted, odd values by their type."""
    try:
        text = _load()[0](value)
    except Exception:  # noqa: BLE001 - mixed keys, cycles, great depth, classes that raise
        import json

        text = json.dumps(_flatten(value), ensure_ascii=True)
    return text.encode("ascii")


@cache
def _load() -> tuple[Callable[[Any], str], Callable[[bytes], Any]]:
    """The encoder and SHA-256, loaded when they are first needed."""
    import hashlib
    from json import JSONEncoder, encoder

    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # another Python
        slow = JSONEncoder(sort_keys=True, separators=(",", ":"), default=_encode_other)
        return slow.encode, hashlib.sha256
    quote = encoder.encode_basestring_ascii

    def encode(value: Any) -> str:
        """What `json.dumps` does, in half the time; the dict is for what it is inside of."""
        if type(value) is str:
            return quote(value)
        return "".join(make({}, _encode_other, quote, None, ":", ",", True, False, True)(value, 0))

    return encode, hashlib.sha256


def _encode_other(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"__bytes__": bytes(value).hex()}
    if isinstance(value, set | frozenset):
        return {"__set__": sorted(canonical_bytes(item).decode() for item in value)}
    return {"__object__": type(value).__qualname__, "repr": safe_repr(value)}


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
        return str(sorted(map(safe_repr, value)))
    return safe_repr(value)
