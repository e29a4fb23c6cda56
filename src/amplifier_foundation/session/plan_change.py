"""What hooks changed in a mount plan, made again in a newer version of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MISSING: Any = object()


def changed_again(base: Any, changed: Any, newer: Any) -> Any:
    """`newer` with what made `changed` of `base`: mappings by key, lists of modules by entry.

    Where both differ from `base`, the change holds, as it would have at the start; but what is
    gone from `newer` stays gone.
    """
    if changed == base or (newer is _MISSING and base is not _MISSING):
        return newer
    if all(isinstance(one, Mapping) for one in (base, changed, newer)):
        return _by_key(base, changed, newer)
    entries = [_entries(one) for one in (base, changed, newer)]
    if None not in entries:
        return list(_by_key(*entries).values())
    return changed


def _by_key(base: Any, changed: Any, newer: Any) -> dict[Any, Any]:
    merged = {
        key: changed_again(*(one.get(key, _MISSING) for one in (base, changed, newer)))
        for key in {**newer, **changed}
    }
    return {key: value for key, value in merged.items() if value is not _MISSING}


def _entries(value: Any) -> dict[str, Any] | None:
    """A list of modules by what tells them apart; None if it is something else."""
    if not isinstance(value, list | tuple):
        return None
    named: dict[str, Any] = {}
    for entry in value:
        full = {"module": entry} if isinstance(entry, str) else entry
        name = isinstance(full, Mapping) and (full.get("name") or full.get("module"))
        if not name or name in named:
            return None
        named[str(name)] = entry
    return named
