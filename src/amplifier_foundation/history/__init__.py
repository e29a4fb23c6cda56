"""Recorded sessions: what trails tell of events, answers, decisions and calls, as values."""

from amplifier_foundation.history.header import Header, read_header
from amplifier_foundation.history.reading import read_history, read_items
from amplifier_foundation.history.recorded import (
    Item,
    Note,
    RecordedAnswer,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
)
from amplifier_foundation.history.selection import TrailNotFound, select_trails

__all__ = [
    "Header",
    "Item",
    "Note",
    "RecordedAnswer",
    "RecordedApproval",
    "RecordedCall",
    "RecordedEvent",
    "RecordedHook",
    "TrailNotFound",
    "read_header",
    "read_history",
    "read_items",
    "select_trails",
]
