"""One event as one line: its level, and its JSON."""

from __future__ import annotations

from typing import Any

from amplifier_core.utils import timestamp
from amplifier_hooks.guards.logging.config import LevelName
from amplifier_hooks.machine.json_text import encode_json
from amplifier_hooks.modules.event_patterns import matches_any

RANKS: dict[str, int] = {"debug": 0, "info": 1, "warning": 2, "error": 3}

_LEVELS: dict[str, LevelName] = {
    "content_block:*": "debug",
    "thinking:*": "debug",
    "*:error": "error",
    "error:*": "error",
    "policy:violation": "warning",
    "approval:denied": "warning",
    "provider:retry": "warning",
}


def find_level(event: str, levels: dict[str, LevelName]) -> LevelName:
    """The level of an event: the user's patterns first, then ours, else info."""
    for table in (levels, _LEVELS):
        for pattern, level in table.items():
            if matches_any((pattern,), event):
                return level
    return "info"


def encode_line(event: str, level: str, session: str, data: Any, limit: int) -> bytes:
    """One line for one event. Never raises, whatever the data is made of."""
    when = data.get("timestamp") if isinstance(data, dict) else None
    head = {
        "timestamp": str(when or timestamp())[:40],
        "level": level,
        "event": event[:100],
        "session_id": session[:100],
    }
    line = encode_json({**head, "data": data})
    if len(line) > limit:
        # A third, because what is escaped already is escaped once more.
        start = line[: limit // 3].decode("ascii")
        line = encode_json({**head, "truncated_bytes": len(line), "start": start})
    return line + b"\n"
