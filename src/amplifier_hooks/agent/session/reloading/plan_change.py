"""Repeating what hooks changed in a mount plan, on a newer version of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import read_entry

_MISSING: Any = object()


def repeat_change(base: Any, changed: Any, newer: Any) -> Any:
    """Make the change from `base` to `changed` in `newer`, by key and by entry of a module list.

    Where `newer` differs from `base` too, the change wins, as it would have at the start; but what
    `newer` does not have any more stays away.
    """
    if changed == base or (newer is _MISSING and base is not _MISSING):
        return newer
    if all(isinstance(one, Mapping) for one in (base, changed, newer)):
        return _repeat_by_key(base, changed, newer)
    entries = [_index_by_name(one) for one in (base, changed, newer)]
    if None not in entries:
        return list(_repeat_by_key(*entries).values())
    return changed


def _repeat_by_key(base: Any, changed: Any, newer: Any) -> dict[Any, Any]:
    merged = {
        key: repeat_change(*(one.get(key, _MISSING) for one in (base, changed, newer)))
        for key in {**newer, **changed}
    }
    return {key: value for key, value in merged.items() if value is not _MISSING}


def _index_by_name(value: Any) -> dict[str, Any] | None:
    """The entries of a module list by name; None if it is no such list, or a name is ambiguous."""
    if not isinstance(value, list | tuple):
        return None
    named: dict[str, Any] = {}
    for one in value:
        try:
            entry = read_entry("modules", one)
        except ModuleLoadError:
            return None
        name = entry.name or entry.instance_id or entry.module
        if name in named:
            return None
        named[name] = one
    return named
