"""Recorded sessions: what trails tell of events, answers, decisions and calls, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_hooks.lazy_names import find_lazily

if TYPE_CHECKING:
    from amplifier_hooks.trails.reading import Header, read_header, read_history, read_items
    from amplifier_hooks.trails.recorded import (
        Item,
        Note,
        RecordedApproval,
        RecordedCall,
        RecordedEvent,
        RecordedHook,
    )

__all__ = [
    "Header",
    "Item",
    "Note",
    "RecordedApproval",
    "RecordedCall",
    "RecordedEvent",
    "RecordedHook",
    "read_header",
    "read_history",
    "read_items",
]

PUBLIC_MODULES = (
    "acting",
    "bodies",
    "filters",
    "gaps",
    "quiet",
    "reading",
    "recount",
)

if not TYPE_CHECKING:
    __getattr__ = find_lazily(
        __name__,
        {
            "reading": ("Header", "read_header", "read_history", "read_items"),
            "recorded": (
                "Item",
                "Note",
                "RecordedApproval",
                "RecordedCall",
                "RecordedEvent",
                "RecordedHook",
            ),
        },
    )
