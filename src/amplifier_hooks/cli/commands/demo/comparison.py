"""What the demonstration's files hold, beside what became of them or what the agent saw."""

from __future__ import annotations

import re
from pathlib import Path

from amplifier_hooks.cli.commands.demo.story import BEFORE, PRODUCTION

Row = tuple[str, str]
"""What is shown, and its text."""

_KEY_LINE = re.compile(r"The bucket's key is [^\\\"\n]*")


def compare_files(folder: Path) -> tuple[Row, ...]:
    """The guarded file before and after, the notes on disk and as the agent read them."""
    notes = (folder / "project" / "notes.txt").read_text(encoding="utf-8")
    transcript = (folder / "transcript.json").read_text(encoding="utf-8")
    after = (folder / "project" / PRODUCTION).read_text(encoding="utf-8")
    return (
        (f"{PRODUCTION}, before", _get_first_line(BEFORE)),
        (f"{PRODUCTION}, after", _get_first_line(after)),
        ("notes.txt, on disk", _find_key_line(notes)),
        ("notes.txt, as the agent saw it", _find_key_line(transcript)),
    )


def _get_first_line(text: str) -> str:
    return text.split("\n", 1)[0]


def _find_key_line(text: str) -> str:
    found = _KEY_LINE.search(text)
    return found.group() if found else "(not read)"
