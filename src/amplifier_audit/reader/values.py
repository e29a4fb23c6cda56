"""Puts values from the side store back in the places of their commitments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from amplifier_audit.files.value_store import ValueStore
from amplifier_audit.format.record import Record


def reveal(records: Iterable[Record], path: Path | None) -> Iterator[Record]:
    """The records with values in the places of their commitments; redacted ones say so."""
    if path is None or not path.exists():
        yield from records
        return
    store = ValueStore(path)
    try:
        for record in records:
            yield _reveal_one(record, store)
    finally:
        store.close()


def _reveal_one(record: Record, store: ValueStore) -> Record:
    try:
        return {**record, "body": _fill_in(record["body"], store)}
    except RecursionError:
        # Nested deeper than any writer nests: a forged record is shown as it is.
        return record


def _fill_in(value: Any, store: ValueStore) -> Any:
    if isinstance(value, list):
        return [_fill_in(entry, store) for entry in value]
    if not isinstance(value, dict):
        return value
    if isinstance(commitment := value.get("$commitment"), str):
        return _look_up(commitment, value, store)
    return {key: _fill_in(entry, store) for key, entry in value.items()}


def _look_up(commitment: str, place: dict[str, Any], store: ValueStore) -> Any:
    stored = store.get(commitment)
    if stored is None or not stored.is_genuine():
        return {**place, "redacted": True}
    try:
        return json.loads(stored.value)
    except ValueError:
        return {**place, "redacted": True}
