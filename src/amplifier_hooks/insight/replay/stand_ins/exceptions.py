"""Exceptions that were recorded, made again from their names and sentences."""

from __future__ import annotations


def make_exception(name: str, message: str, base: type[Exception] = Exception) -> Exception:
    """One that reads like the recorded one; its class has only the name in common."""
    kind = type(name if name.isidentifier() else base.__name__, (base,), {})
    error: Exception = kind(message) if message and message != name else kind()
    return error
