"""hooks-backup: copy a file before an editing tool changes it.

Listens to  tool:pre
Answers     continue, always; with a message when a copy could not be made
Configure   directory, roots, tools, max_count, max_bytes, max_age_days, max_file_bytes, timeout
"""

from __future__ import annotations

import asyncio
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
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.errors import AmplifierError
from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_hooks.guards.policy.paths import is_within, resolve
from amplifier_hooks.guards.policy.protected_places import list_places
from amplifier_hooks.guards.policy.tool_calls import (
    EDITING_TOOLS,
    TOOLS,
    find_path,
    format_path,
    is_reading,
    list_paths,
)
from amplifier_hooks.machine.files import replace_file, write_new_file
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.machine.text import to_one_line
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import get_session_id, get_working_dir, subscribe

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


NAME = "hooks-backup"
DIRECTORY = ".amplifier/backups"
"""Where copies went by default when they still lay within an agent's reach."""

SYNONYMS = {"backup_dir": "directory"}
"""What modules of the ecosystem call these options."""


class Config(BaseModel):
    """The options of hooks-backup."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    directory: str | None = None
    roots: list[str] | None = None
    tools: list[str] | None = None
    """By default those of ours that change files, and all others that may change what they name."""
    max_count: int = Field(500, ge=1)
    max_bytes: int = Field(200_000_000, ge=1)
    max_age_days: float = Field(30.0, gt=0)
    max_file_bytes: int = Field(10_000_000, ge=1)
    timeout: float = Field(10.0, gt=0)
    priority: int = 950  # behind the guards and the hooks that change the call

    @property
    def limits(self) -> Limits:
        return Limits(self.max_count, self.max_bytes, self.max_age_days)


class BackupHook:
    """Copies what is about to be overwritten."""

    def __init__(self, coordinator: Host, config: Config) -> None:
        self._coordinator = coordinator
        self._config = config

    async def on_tool_pre(self, event: str, data: dict[str, Any]) -> HookResult:
        for path in self._list_targets(data):
            try:
                async with asyncio.timeout(self._config.timeout):
                    await asyncio.to_thread(self._copy, path, data)
            except TimeoutError:
                return self._warn(path, f"it took longer than {self._config.timeout:g} seconds")
            except (BackupError, OSError, ValueError) as failure:
                return self._warn(path, str(failure))
        return HookResult(action="continue")

    def _get_base(self) -> Path:
        return Path(get_working_dir(self._coordinator)).resolve()

    def _list_targets(self, data: dict[str, Any]) -> list[Path]:
        """The real paths of the files, as the tool will find them."""
        tool = data.get("tool_name")
        given = data.get("tool_input")
        known = self._config.tools
        if tool in (EDITING_TOOLS if known is None else known):
            return [one for one in [self._resolve(find_path(given))] if one is not None]
        if known is not None or tool in TOOLS or is_reading(str(tool)):
            return []
        # Nobody has described this tool: what it may change is copied if there is something.
        with suppress(ValueError):
            found = dict.fromkeys(self._resolve(one) for one in list_paths(given))
            return [one for one in found if one and one.is_file() and self._is_inside(one)]
        return []

    def _resolve(self, path: str | None) -> Path | None:
        try:
            return None if path is None else resolve(path, self._get_base())
        except ValueError:
            return None  # the tool refuses it too

    def _is_inside(self, path: Path) -> bool:
        return is_within(path, self._list_roots())

    def _list_roots(self) -> list[Path]:
        return [resolve(root, self._get_base()) for root in self._config.roots or ["."]]

    def _copy(self, path: Path, data: dict[str, Any]) -> None:
        if not self._is_inside(path):
            raise BackupError(f"it is outside {', '.join(map(str, self._list_roots()))}")
        directory = self._get_directory()
        saved = save(
            directory,
            path,
            tool=str(data["tool_name"]),
            session_id=get_session_id(self._coordinator, data),
            max_file_bytes=min(self._config.max_file_bytes, self._config.max_bytes),
        )
        if saved is not None:
            prune(directory, self._config.limits)

    def _get_directory(self) -> Path:
        """Where copies go; a relative directory that a link leads elsewhere is not used."""
        base = self._get_base()
        configured = self._config.directory
        if configured is None:
            return locate_store(base)
        directory = resolve(configured, base)
        if not Path(configured).is_absolute() and not is_within(directory, [base]):
            raise BackupError(f"{configured!r} leads out of the working directory")
        return directory

    def _warn(self, path: Path, reason: str) -> HookResult:
        shown = to_one_line(format_path(path, str(self._get_base())), 200)
        return HookResult(
            action="continue",
            user_message=f"No backup of {shown} was made: {to_one_line(reason, 300)}",
            user_message_level="warning",
        )


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen."""
    settings = await parse_known(coordinator, Config, config, NAME, SYNONYMS)
    hook = BackupHook(coordinator, settings)
    return subscribe(coordinator, NAME, settings.priority, [(TOOL_PRE, hook.on_tool_pre)])
