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
            yield {**record, "body": _fill_in(record["body"], store)}
    finally:
        store.close()


def _fill_in(value: Any, store: ValueStore) -> Any:
    if isinstance(value, dict) and isinstance(commitment := value.get("$commitment"), str):
        kept = store.get(commitment)
        return json.loads(kept.value) if kept and kept.is_genuine() else {**value, "redacted": True}
    if isinstance(value, dict):
        return {key: _fill_in(entry, store) for key, entry in value.items()}
    if isinstance(value, list):
        return [_fill_in(entry, store) for entry in value]
    return value
