"""Copies of nested values for logs: long texts cut, secrets masked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

SENSITIVE_KEYS = frozenset(
    {
        "access_key",
        "access_token",
        "api-key",
        "api_key",
        "apikey",
        "auth_token",
        "authorization",
        "bearer_token",
        "client_secret",
        "cookie",
        "credential",
        "credentials",
        "id_token",
        "passphrase",
        "passwd",
        "password",
        "private_key",
        "proxy-authorization",
        "refresh_token",
        "secret",
        "secret_key",
        "session_token",
        "set-cookie",
        "token",
        "x-api-key",
    }
)
"""Keys whose values never belong in a log, in lower case."""

REDACTED = "[REDACTED]"
TOO_DEEP = "[nested too deep]"

Change = Callable[[Any, Any], Any]
"""Takes a key, or None, and its value; returns that very value to leave it as it is."""


def truncate_values(obj: Any, max_length: int = 180) -> Any:
    """A copy in which every longer text ends with how much of it is missing."""

    def cut(_key: Any, value: Any) -> Any:
        if not isinstance(value, str) or len(value) <= max_length:
            return value
        return f"{value[:max_length]}... (truncated {len(value) - max_length} chars)"

    return _rebuild(obj, cut)


def redact_secrets(obj: Any, sensitive_keys: Iterable[str] = SENSITIVE_KEYS) -> Any:
    """A copy in which the values of these keys, in any case, are masked."""
    masked = {key.lower() for key in sensitive_keys}

    def mask(key: Any, value: Any) -> Any:
        if isinstance(key, str) and key.lower() in masked:
            return REDACTED
        return value

    return _rebuild(obj, mask)


def _rebuild(value: Any, change: Change) -> Any:
    try:
        return _rebuild_part(None, value, change)
    except RecursionError:  # a cycle or great depth: what cannot be searched is not shown
        return TOO_DEEP


def _rebuild_part(key: Any, value: Any, change: Change) -> Any:
    changed = change(key, value)
    if changed is not value:
        return changed
    if isinstance(value, Mapping):
        return {name: _rebuild_part(name, part, change) for name, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [_rebuild_part(None, part, change) for part in value]
        if isinstance(value, list):
            return parts
        return tuple(parts)
    return value
