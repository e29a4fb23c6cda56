"""What is too large for one request: cut to what fits, or sent in portions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LARGEST = 1024 * 1024
"""Bytes of JSON in one request; servers take twice as much."""
MOST = 1000
BODY = 256 * 1024
"""Bytes of a record's body; the store keeps no more of one."""


def fit_transcript(messages: Sequence[Any], largest: int = LARGEST) -> list[Any]:
    """The newest messages that fit; a first entry says how many were left out."""
    kept: list[Any] = []
    size = 0
    for message in reversed(messages):
        size += _measure(message)
        if size > largest:
            break
        kept.append(message)
    if len(kept) < len(messages):
        kept.append({"left_out": len(messages) - len(kept)})
    return kept[::-1]


def split_records(
    records: Sequence[Mapping[str, Any]], largest: int = LARGEST
) -> Iterator[list[Mapping[str, Any]]]:
    """The records in portions that fit, in their order."""
    portion: list[Mapping[str, Any]] = []
    size = 0
    for record in map(_shorten, records):
        length = _measure(record)
        if portion and (size + length > largest or len(portion) == MOST):
            yield portion
            portion, size = [], 0
        portion.append(record)
        size += length
    if portion:
        yield portion


def _shorten(record: Mapping[str, Any]) -> Mapping[str, Any]:
    length = _measure(record["body"])
    return record if length <= BODY else {**record, "body": {"left_out": f"{length} bytes"}}


def _measure(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"))) + 1
