"""Merging one bundle over another."""

from __future__ import annotations

from dataclasses import replace

from amplifier_core.mount_plan import EXAMPLES, LISTS
from amplifier_hooks.agent.bundles.locks import refuse_changes, refuse_entry
from amplifier_hooks.yaml_files.node import Node


def identify(entry: Node) -> str | None:
    """What an entry of a module list is known by: its name, else its module id."""
    return entry.text("name") or entry.text("instance_id") or entry.text("module")


def overlay(below: Node, above: Node) -> Node:
    """Merge the upper bundle over the lower one; module lists are merged entry by entry."""
    refuse_changes(below, above)
    merged = merge(_drop_replaced(below, above), above)
    for key in LISTS:
        lower, upper = below.mapping().get(key), above.mapping().get(key)
        if lower is not None and upper is not None:
            entries = _merge_entries(lower, upper)
            if key == "providers":
                entries = _put_named_first(entries, upper)
            merged = merged.with_key(key, entries)
    return merged


def merge(below: Node, above: Node) -> Node:
    """Merge mappings key by key; of anything else, the upper value wins."""
    if not isinstance(below.value, dict) or not isinstance(above.value, dict):
        return above
    merged = dict(below.value)
    for name, node in above.value.items():
        merged[name] = merge(merged[name], node) if name in merged else node
    return replace(above, value=merged)


def _drop_replaced(below: Node, above: Node) -> Node:
    """Another loop or context starts from its own settings, not from those of the old one."""
    lower, upper = below.mapping().get("session"), above.mapping().get("session")
    if lower is None or upper is None:
        return below
    gone = [key for key in EXAMPLES if _is_other(lower, upper, key)]
    return below.with_key("session", lower.without(*gone))


def _is_other(lower: Node, upper: Node, key: str) -> bool:
    old, new = lower.mapping().get(key), upper.mapping().get(key)
    return old is not None and new is not None and old.text("module") != new.text("module")


def _merge_entries(below: Node, above: Node) -> Node:
    entries = {identify(entry): entry for entry in below.items()}
    for entry in above.items():
        name = identify(entry)
        known = entries.get(name)
        if known is not None:
            refuse_entry(name or "", known, entry)
            # Whoever names a module again wants it, unless the new entry says otherwise.
            entry = merge(known.without("enabled"), entry)
        entries[name] = entry
    return replace(above, value=tuple(entries.values()))


def _put_named_first(merged: Node, above: Node) -> Node:
    """The first provider is asked, so what a bundle names itself comes before what it includes."""
    named = [identify(entry) for entry in above.items()]
    rank = {name: place for place, name in enumerate(named)}
    ordered = sorted(merged.items(), key=lambda entry: rank.get(identify(entry), len(rank)))
    return replace(merged, value=tuple(ordered))
