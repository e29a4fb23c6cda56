"""What hooks changed in a mount plan, made again in a newer version of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mounting.plan import read_entry

_MISSING: Any = object()


def repeat_change(base: Any, changed: Any, newer: Any) -> Any:
    """`newer` with what made `changed` of `base`: mappings by key, lists of modules by entry.

    Where both differ from `base`, the change holds, as it would have at the start; but what is
    gone from `newer` stays gone.
    """
    if changed == base or (newer is _MISSING and base is not _MISSING):
        return newer
    if all(isinstance(one, Mapping) for one in (base, changed, newer)):
        return _repeat_by_key(base, changed, newer)
    entries = [_entries_by_name(one) for one in (base, changed, newer)]
    if None not in entries:
        return list(_repeat_by_key(*entries).values())
    return changed


def _repeat_by_key(base: Any, changed: Any, newer: Any) -> dict[Any, Any]:
    merged = {
        key: repeat_change(*(one.get(key, _MISSING) for one in (base, changed, newer)))
        for key in {**newer, **changed}
    }
    return {key: value for key, value in merged.items() if value is not _MISSING}


def _entries_by_name(value: Any) -> dict[str, Any] | None:
    """A list of modules by what tells them apart; None if it is something else."""
    if not isinstance(value, list | tuple):
        return None
    named: dict[str, Any] = {}
    for one in value:
        try:
            entry = read_entry("modules", one)
        except ModuleLoadError:
            return None
        name = entry.name or entry.module
        if name in named:
            return None
        named[name] = one
    return named
