"""Short words for ages, decisions and folders."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path


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


_WORDS = {
    "timeout": "nobody decided in time",
    "nobody": "there was nobody to ask",
    "error": "the question could not be asked",
    "invalid": "the answer was none of the options",
    "cache": "as decided before in this session",
    "handed_over": "another program asked its own person",
}


def explain_how(how: object) -> str:
    """Why the gate ended as it did; nothing if somebody decided."""
    return _WORDS.get(str(how), "")


def shorten_folder(folder: str) -> str:
    """The folder, with a tilde for the home that it lies in."""
    path, home = Path(folder), Path.home()
    if path == home:
        return "~"
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else folder
