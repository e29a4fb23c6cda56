"""Copies of event data: what a hook gets is never what the caller or the operation holds.

Containers and records (pydantic models, dataclasses) are copied, leaves are shared: a megabyte
string costs nothing, and an object of any other class keeps its identity, so what a hook does
inside such an object is not undone. Payloads made of plain containers have one copy that hooks
share and that is compared after each of them; what compares equal counts as unchanged. Everything
else (subclasses of containers, records, cycles, great depth) is copied for each hook, because a
comparison of it cannot be trusted or does not end.
"""

from __future__ import annotations

from typing import Any

from amplifier_core.utils.copying import NotPlain, copy_any, copy_dict


def copy_plain(data: dict[str, Any]) -> dict[str, Any] | None:
    """A copy that may be compared with its original, or None if there is no such copy."""
    try:
        return copy_dict(data)
    except (NotPlain, RecursionError):
        return None


def detach(data: dict[str, Any]) -> dict[str, Any]:
    """A private copy, by the fast way if there is one."""
    try:
        return copy_dict(data)
    except (NotPlain, RecursionError):
        odd: dict[str, Any] = copy_any(data)
        return odd
