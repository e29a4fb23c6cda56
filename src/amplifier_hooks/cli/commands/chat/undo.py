"""/undo: put back the files that the last turn overwrote, from the copies of hooks-backup."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from amplifier_core.session import AmplifierSession
from amplifier_hooks.guards.backup import CONTENT, NAME, Backup, list_backups, locate_store, restore
from amplifier_hooks.guards.policy.paths import resolve

MOST_DIFF_LINES = 40
_MOST_BYTES = 1_000_000

NO_BACKUPS = (
    "There are no copies to put back: this bundle has no hooks-backup. With `- hooks-backup` under "
    "`hooks:` in amplifier.yaml, files are copied before they are overwritten."
)


@dataclass(frozen=True, slots=True)
class Undo:
    """What can be put back of a turn, and what was new with it."""

    store: Path
    copies: tuple[Backup, ...]
    created: tuple[Path, ...]


def find_store(session: AmplifierSession) -> Path | None:
    """Where this session's copies are; None if it makes none."""
    for one in session.mounting.mounted:
        if one.id == NAME and one.error is None:
            given = one.entry.config.get("directory") or one.entry.config.get("backup_dir")
            return resolve(given, Path.cwd()) if given else locate_store(Path.cwd())
    return None


def find_undo(store: Path, first_edits: Mapping[Path, datetime]) -> Undo:
    """For each file the copy that was made before its first edit."""
    backups = list_backups(store)
    copies: list[Backup] = []
    created: list[Path] = []
    for path, edited in first_edits.items():
        older = (one for one in backups if one.path == str(path) and one.created <= edited)
        newest = next(older, None)
        if newest is None:
            created.append(path)
        else:
            copies.append(newest)
    return Undo(store, tuple(copies), tuple(created))


def describe_undo(undo: Undo) -> str:
    """What would change, file by file, as a diff."""
    lines: list[str] = []
    for copy in undo.copies:
        lines += [_name(Path(copy.path)), *_compare(undo.store, copy)]
    for path in undo.created:
        lines.append(f"{_name(path)} has no copy (it was new, or could not be copied) and stays")
    return "\n".join(lines)


def put_back(undo: Undo) -> list[str]:
    """Restore every copy; what is there now is copied first. Returns the names of the files."""
    return [
        _name(restore(undo.store, copy.id, within=Path.cwd().resolve())) for copy in undo.copies
    ]


def _name(path: Path) -> str:
    base = Path.cwd().resolve()
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)


def _compare(store: Path, copy: Backup) -> Iterable[str]:
    now, then = _read(Path(copy.path)), _read(store / copy.id / CONTENT)
    if now is None or then is None:
        return [f"  back to the {copy.size} bytes of {copy.created.astimezone():%H:%M:%S}"]
    if now == then:
        return ["  is as it was already"]
    found = list(difflib.unified_diff(now, then, lineterm="", n=1))[2:]
    shown = [f"  {line}" for line in found[:MOST_DIFF_LINES]]
    more = len(found) - MOST_DIFF_LINES
    return [*shown, f"  … {more} more lines"] if more > 0 else shown


def _read(path: Path) -> list[str] | None:
    """The lines of a text; None for what is none, or too long to compare."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
