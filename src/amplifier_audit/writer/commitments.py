"""Takes what people and models wrote out of a body and leaves commitments in its place."""

from __future__ import annotations

import json
import os
from typing import Any

from amplifier_audit.files.value_store import StoredValue, make_commitment
from amplifier_audit.format.encoding import encode
from amplifier_audit.format.limits import Limits

SALT_BYTES = 16
VALUE_LIMITS = Limits(text=1 << 20, members=10_000, depth=32, nodes=50_000)
SENSITIVE = frozenset(
    {
        "arguments",
        "comment",
        "content",
        "context_injection",
        "data",
        "edited_input",
        "input",
        "message",
        "output",
        "printed",
        "prompt",
        "response",
        "result",
        "text",
        "tool_input",
        "tool_result",
        "user_message",
    }
)
"""The members of a body that hold what people and models wrote, at any depth."""


def commit_to(value: Any) -> StoredValue:
    """A fresh commitment to a value."""
    encoded = encode(value, VALUE_LIMITS)
    salt = os.urandom(SALT_BYTES)
    media_type = "text/plain" if isinstance(value, str) else "application/json"
    return StoredValue(make_commitment(salt, encoded), salt, media_type, encoded)


def replace_sensitive(body: Any) -> tuple[Any, list[StoredValue]]:
    """The body with each sensitive member replaced by its commitment, and the values themselves.

    It is encoded first, so that what is walked here is finite and harmless.
    """
    kept: list[StoredValue] = []
    return _replace(json.loads(encode(body, VALUE_LIMITS)), kept), kept


def _replace(value: Any, kept: list[StoredValue]) -> Any:
    if isinstance(value, dict):
        return {
            key: _commit(entry, kept)
            if key in SENSITIVE and entry not in (None, "")
            else _replace(entry, kept)
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [_replace(entry, kept) for entry in value]
    return value


def _commit(value: Any, kept: list[StoredValue]) -> dict[str, Any]:
    row = commit_to(value)
    kept.append(row)
    return {
        "$commitment": row.commitment,
        "media_type": row.media_type,
        "length": len(row.value),
    }
