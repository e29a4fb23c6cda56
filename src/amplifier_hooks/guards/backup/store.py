"""Copies of files: a directory for each, with the content and what is known of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_hooks.guards.backup.restorations import note_restoration
from amplifier_hooks.guards.policy.paths import is_within, resolve
from amplifier_hooks.guards.policy.protected_places import list_places
from amplifier_hooks.machine.files import replace_file, write_new_file
from amplifier_hooks.machine.user import find_data_home

CONTENT = "content"
FACTS = "backup.json"
_ID = re.compile(r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}")
_ID_TIME = "%Y%m%dT%H%M%S.%fZ"
_UNFINISHED = ".unfinished-"
_STALE = 3600.0  # seconds after which an unfinished copy is one of a process that died
_MOST_FACTS = 65_536
_lock = threading.Lock()


class BackupError(AmplifierError):
    """A copy cannot be made, found or put back."""


@dataclass(frozen=True, slots=True)
class Backup:
    """One copy of one file."""

    id: str
    path: str
    size: int
    sha256: str
    mode: int
    tool: str
    session_id: str

    @property
    def created(self) -> datetime:
        return _read_time(self.id)


@dataclass(frozen=True, slots=True)
class Limits:
    """How many copies are kept, how large all of them together, how old."""

    max_count: int = 500
    max_bytes: int = 200_000_000
    max_age_days: float = 30.0


def locate_store(base: Path) -> Path:
    """Where the copies of a project go: into our data, which no tool reads or writes."""
    digest = hashlib.sha256(os.fsencode(base.resolve())).hexdigest()[:16]
    return find_data_home() / "amplifier" / "backups" / digest


def list_backups(backup_dir: Path) -> list[Backup]:
    """All copies, the newest first; what cannot be read as one is left out."""
    try:
        entries = [entry for entry in backup_dir.iterdir() if _ID.fullmatch(entry.name)]
    except OSError:
        return []
    found = (_read_facts(entry) for entry in sorted(entries, reverse=True))
    return [backup for backup in found if backup is not None]


def find_backup(backup_dir: Path, backup_id: str) -> Backup:
    """The copy whose id begins so, if there is exactly one."""
    found = [backup for backup in list_backups(backup_dir) if backup.id.startswith(backup_id)]
    if not backup_id or not found:
        raise BackupError(f"No backup {backup_id!r} in {str(backup_dir)!r}")
    if len(found) > 1:
        raise BackupError(f"{len(found)} backups begin with {backup_id!r}; give more of the id")
    return found[0]


def save(
    backup_dir: Path, path: Path, *, tool: str, session_id: str, max_file_bytes: int
) -> Backup | None:
    """Copy a file; None if there is no such file. The same content is not copied twice in a row."""
    read = _read_file(path, max_file_bytes)
    if read is None:
        return None
    data, mode = read
    digest = hashlib.sha256(data).hexdigest()
    with _lock:
        last = next((one for one in list_backups(backup_dir) if one.path == str(path)), None)
        if last is not None and last.sha256 == digest:
            return last
        backup = Backup(_make_id(), str(path), len(data), digest, mode, tool, session_id)
        _write_backup(backup_dir, backup, data)
    return backup


def prune(backup_dir: Path, limits: Limits) -> list[Backup]:
    """Remove what is over the limits, the oldest first; what was removed."""
    with _lock:
        removed = find_surplus(list_backups(backup_dir), limits, datetime.now(UTC))
        for backup in removed:
            shutil.rmtree(backup_dir / backup.id, ignore_errors=True)
        _remove_unfinished(backup_dir)
    return removed


def find_surplus(backups: Sequence[Backup], limits: Limits, now: datetime) -> list[Backup]:
    """Which of the copies, newest first, are over the limits."""
    oldest = now - timedelta(days=limits.max_age_days)
    kept_bytes = 0
    for kept, backup in enumerate(backups):
        kept_bytes += backup.size
        full = kept >= limits.max_count or kept_bytes > limits.max_bytes
        if full or backup.created < oldest:
            return list(backups[kept:])
    return []


def restore(
    backup_dir: Path, backup_id: str, *, to: Path | None = None, within: Path | None = None
) -> Path:
    """Put a copy back and return where; what stands there now is copied first.

    The facts of a copy may lie where an agent writes. So the place that they name must be inside
    `within`, if that is given, and none that tools do not write; a place that a person names with
    `to` may be anywhere.
    """
    backup = find_backup(backup_dir, backup_id)
    data = _read_content(backup_dir, backup)
    target = resolve(to or backup.path, Path.cwd())
    if to is None and within is not None:
        _refuse_elsewhere(target, within)
    if target.is_dir():
        raise BackupError(f"{str(target)!r} is a directory; name a file")
    save(backup_dir, target, tool="restore", session_id="", max_file_bytes=_measure_file(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, data, mode=backup.mode & 0o777)
    if to is None:
        facts = (backup.path, backup.id, backup.created, backup.session_id)
        note_restoration(backup_dir, *facts)
    return target


def _refuse_elsewhere(target: Path, within: Path) -> None:
    if not is_within(target, [within]):
        raise BackupError(f"{str(target)!r} is outside {str(within)!r}; say where it shall go")
    refusal = list_places([within]).find_refusal(target, writing=True)
    if refusal is not None:
        raise BackupError(f"{str(target)!r} {refusal}; say where it shall go")


def _make_id() -> str:
    return f"{datetime.now(UTC).strftime(_ID_TIME)}-{secrets.token_hex(4)}"


def _read_facts(entry: Path) -> Backup | None:
    try:
        read = _read_file(entry / FACTS, _MOST_FACTS)
        return None if read is None else _parse_facts(json.loads(read[0]), entry.name)
    except (OSError, ValueError, TypeError, RecursionError, BackupError):
        return None


def _parse_facts(facts: dict[str, Any], name: str) -> Backup:
    """Strings where strings belong, and numbers; anything else is no backup."""
    backup = Backup(**{**facts, "id": name})
    texts = (backup.path, backup.sha256, backup.tool, backup.session_id)
    if not all(isinstance(text, str) for text in texts) or not backup.path:
        raise TypeError(f"{name} names no file")
    if type(backup.size) is not int or type(backup.mode) is not int or backup.size < 0:
        raise TypeError(f"{name} has no size or mode")
    _read_time(name)
    return backup


def _read_time(backup_id: str) -> datetime:
    return datetime.strptime(backup_id.partition("-")[0], _ID_TIME).replace(tzinfo=UTC)


def _read_file(path: Path, limit: int) -> tuple[bytes, int] | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise BackupError("it is not an ordinary file")
        if info.st_size > limit:
            raise BackupError(f"it has {info.st_size:,} bytes, over the limit of {limit:,}")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(limit), stat.S_IMODE(info.st_mode)
    finally:
        os.close(descriptor)


def _write_backup(backup_dir: Path, backup: Backup, data: bytes) -> None:
    """Under another name first, so that a copy is there as a whole or not at all."""
    backup_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    ignored = backup_dir / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n")
    unfinished = backup_dir / f"{_UNFINISHED}{backup.id}"
    unfinished.mkdir(mode=0o700)
    try:
        write_new_file(unfinished / CONTENT, data, mode=0o600)
        write_new_file(unfinished / FACTS, json.dumps(asdict(backup)).encode(), mode=0o600)
        unfinished.rename(backup_dir / backup.id)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _read_content(backup_dir: Path, backup: Backup) -> bytes:
    try:
        read = _read_file(backup_dir / backup.id / CONTENT, backup.size)
    except (OSError, BackupError) as failure:
        raise BackupError(
            f"The content of backup {backup.id!r} cannot be read: {failure}"
        ) from failure
    if read is None or hashlib.sha256(read[0]).hexdigest() != backup.sha256:
        raise BackupError(f"The content of backup {backup.id!r} is damaged; nothing was restored")
    return read[0]


def _measure_file(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _remove_unfinished(backup_dir: Path) -> None:
    for entry in backup_dir.glob(f"{_UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if time.time() - entry.stat().st_mtime > _STALE:
                shutil.rmtree(entry, ignore_errors=True)
