"""Restorations: which copies people have put back, and so what they have undone."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplifier_hooks.machine.files import replace_file

FILE = "restored.jsonl"
MOST = 1_000
_MOST_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Restoration:
    """A file that a person put back to what it was."""

    path: str
    since: str
    """When the copy was made: what was done to the file after this is undone."""
    time: str
    """When it was put back."""
    backup: str
    session_id: str

    @property
    def span(self) -> tuple[datetime, datetime]:
        """From when to when the file was changed to no avail."""
        return datetime.fromisoformat(self.since), datetime.fromisoformat(self.time)


def note_restoration(
    backup_dir: Path, path: str, backup: str, created: datetime, session_id: str
) -> None:
    """Remember beside the copies that one was put back; the oldest notes are forgotten."""
    now = datetime.now(UTC).isoformat()
    note = Restoration(path, created.isoformat(), now, backup, session_id)
    kept = [*list_restorations(backup_dir), note][-MOST:]
    lines = "".join(json.dumps(asdict(one)) + "\n" for one in kept)
    replace_file(backup_dir / FILE, lines.encode(), mode=0o600)


def list_restorations(backup_dir: Path) -> list[Restoration]:
    """What was put back, the oldest first; what cannot be read is left out."""
    try:
        with (backup_dir / FILE).open("rb") as file:
            lines = file.read(_MOST_BYTES).splitlines()
    except OSError:
        return []
    return [found for line in lines if (found := _read_line(line)) is not None]


def _read_line(line: bytes) -> Restoration | None:
    try:
        facts: Any = json.loads(line)
        note = Restoration(**facts)
        begin, end = note.span
    except (ValueError, TypeError, RecursionError):
        return None
    usable = all(isinstance(one, str) for one in facts.values())
    return note if usable and begin.tzinfo is not None and end.tzinfo is not None else None
