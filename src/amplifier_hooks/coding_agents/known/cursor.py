"""Cursor, which also runs what is in the settings of Claude Code."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.coding_agents.known.agent import Entry, KnownAgent, Place, find_below_home


def _build_entry(entry: Entry) -> dict[str, Any]:
    closed = {"failClosed": True} if entry.gate else {}
    return {"command": entry.line, **entry.limit("timeout"), **closed}


AGENT = KnownAgent(
    "cursor",
    "Cursor",
    Place(
        find_below_home(".cursor"), ("hooks.json",), (".cursor/hooks.json",), ("cursor/hooks.json",)
    ),
    _build_entry,
    programs=("cursor-agent", "cursor"),
    grouped=False,
    versioned=True,
    also_reads=("claude",),
    looks_up=False,
)
