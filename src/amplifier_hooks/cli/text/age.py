"""How long ago something was."""

from __future__ import annotations

from datetime import UTC, datetime


def format_age(when: str, now: datetime | None = None) -> str:
    """How long ago a saved time is, in one word or two."""
    try:
        passed = (now or datetime.now(UTC)) - datetime.fromisoformat(when)
    except ValueError:
        return "?"
    seconds = int(passed.total_seconds())
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word} ago"
    return "just now"
