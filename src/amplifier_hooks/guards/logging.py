"""hooks-logging: write every event as one line of JSON.

Listens to  every event that `events` names and `exclude` does not
Answers     continue
Configure   path, events, exclude, level, levels, max_bytes, backups, max_line_bytes, priority
"""

from __future__ import annotations

import asyncio
import datetime
import logging
import os
import re
import string
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_core.utils import describe_error, timestamp
from amplifier_hooks.machine.background import BackgroundTasks
from amplifier_hooks.machine.text import encode_json
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import (
    get_session_id,
    get_working_dir,
    matches_any,
    subscribe,
)

NAME = "hooks-logging"
STDERR = "stderr"
LevelName = Literal["debug", "info", "warning", "error"]
SYNONYMS = {"session_log_template": "path"}
"""What modules of the ecosystem call these options."""

_PLACEHOLDERS = ("session_id", "project", "date", "pid")


class Config(BaseModel):
    """The options of hooks-logging."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = ".amplifier/logs/{session_id}.jsonl"
    events: tuple[str, ...] = ("*",)
    exclude: tuple[str, ...] = ()
    level: LevelName = "debug"
    levels: dict[str, LevelName] = Field(default_factory=dict)
    max_bytes: int = Field(10_000_000, ge=1000)
    backups: int = Field(5, ge=0, le=100)
    max_line_bytes: int = Field(65_536, ge=500)
    flush_seconds: float = Field(0.5, gt=0, le=60)
    max_waiting: int = Field(10_000, ge=1)
    priority: int = -900

    @field_validator("path")
    @classmethod
    def _check_path(cls, value: str) -> str:
        if not value.strip() or "\0" in value:
            raise ValueError(f"must be a file name or {STDERR!r}")
        try:
            names = [name for _, name, _, _ in string.Formatter().parse(value) if name is not None]
        except ValueError as wrong:
            raise ValueError(f"is not a pattern: {wrong}") from None
        if unknown := sorted(set(names) - set(_PLACEHOLDERS)):
            raise ValueError(
                f"unknown placeholder {', '.join(unknown)}; have {', '.join(sorted(_PLACEHOLDERS))}"
            )
        return value


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


# Sessions of one process may share a file; a rotation during another's write would lose it.
_writing = threading.Lock()


class RotatingFile:
    """Opened for each batch, so that a rotation by another session leaves no stale handle."""

    def __init__(self, path: Path, max_bytes: int, backups: int) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._backups = backups

    def append(self, lines: list[bytes]) -> None:
        """Write whole lines. Blocks; OSError when the disk says no."""
        with _writing:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            size = self._measure()
            batch: list[bytes] = []
            for line in lines:
                if size and size + len(line) > self._max_bytes:
                    self._write(batch)
                    self._rotate()
                    batch = []
                    size = 0
                batch.append(line)
                size += len(line)
            self._write(batch)

    def _measure(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def _write(self, batch: list[bytes]) -> None:
        if not batch:
            return
        # Events hold prompts and file contents: nobody else's business.
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(b"".join(batch))

    def _rotate(self) -> None:
        """`log` becomes `log.1`, `log.1` becomes `log.2`; the oldest goes."""
        if not self.path.exists():
            return
        for number in range(self._backups - 1, 0, -1):
            older = self._name_backup(number)
            if older.exists():
                older.replace(self._name_backup(number + 1))
        if self._backups:
            self.path.replace(self._name_backup(1))
        else:
            self.path.unlink()

    def _name_backup(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


logger = logging.getLogger(__name__)
_FLUSH_LIMIT = 5.0


def build_path(pattern: str, session: str, base: str, today: datetime.date) -> Path:
    """The file of a session; nothing in a session's id can lead out of the directory."""
    safe = re.sub(r"[^\w.-]", "_", session)[:100].lstrip(".") or "unknown"
    name = pattern.format(
        session_id=safe, project=Path(base).resolve().name, date=today.isoformat(), pid=os.getpid()
    )
    return Path(base) / Path(name).expanduser()


def write_stderr(lines: list[bytes]) -> None:
    """To the process's own stderr: the one that hooks see belongs to their transcript."""
    if sys.__stderr__ is not None:
        sys.__stderr__.write(b"".join(lines).decode("ascii"))
        sys.__stderr__.flush()


class EventLog:
    """Encodes at once, because data may change later, and writes in a thread, a batch at a time."""

    def __init__(self, coordinator: Host, config: Config) -> None:
        self._coordinator = coordinator
        self._config = config
        self._write: Callable[[list[bytes]], None] | None = None
        self._levels: dict[str, LevelName | None] = {}
        self._waiting: list[bytes] = []
        self._dropped = 0
        self._failing = False
        self._flushing = False
        self._closing = asyncio.Event()
        self._tasks = BackgroundTasks(NAME)

    async def on_event(self, event: str, data: dict[str, Any]) -> HookResult:
        level = self._get_level(event)
        if level is not None:
            session = get_session_id(self._coordinator, data)
            clean = self._coordinator.scrub(data)
            self._enqueue(encode_line(event, level, session, clean, self._config.max_line_bytes))
        return HookResult(action="continue")

    def _get_level(self, event: str) -> LevelName | None:
        """The level that an event is written at; None if it is not."""
        if event not in self._levels:
            if len(self._levels) > 1000:
                self._levels.clear()
            self._levels[event] = self._choose_level(event)
        return self._levels[event]

    def _choose_level(self, event: str) -> LevelName | None:
        config = self._config
        level = find_level(event, config.levels)
        wanted = matches_any(config.events, event) and not matches_any(config.exclude, event)
        return level if wanted and RANKS[level] >= RANKS[config.level] else None

    def _enqueue(self, line: bytes) -> None:
        if len(self._waiting) >= self._config.max_waiting:
            self._dropped += 1
            return
        self._waiting.append(line)
        if not self._flushing:
            self._flushing = self._tasks.start(self._flush_soon()) is not None

    async def _flush_soon(self) -> None:
        while self._waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._config.flush_seconds):
                    await self._closing.wait()
            await self._flush()
        self._flushing = False

    async def _flush(self) -> None:
        lines = self._waiting
        self._waiting = []
        dropped = self._dropped
        if not lines and not dropped:
            return
        try:
            await asyncio.to_thread(self._get_writer(), [*lines, *self._encode_gap(dropped)])
        except OSError as failure:
            self._warn_once(failure, len(lines))
        else:
            self._failing = False
            self._dropped -= dropped

    def _encode_gap(self, dropped: int) -> list[bytes]:
        """A log that has a gap says so."""
        if not dropped:
            return []
        session = get_session_id(self._coordinator, {})
        return [encode_line("log:dropped", "warning", session, {"dropped_lines": dropped}, 1000)]

    def _get_writer(self) -> Callable[[list[bytes]], None]:
        if self._write is None:
            self._write = write_stderr if self._config.path == STDERR else self._open_file().append
        return self._write

    def _open_file(self) -> RotatingFile:
        today = datetime.datetime.now(datetime.UTC).date()
        session = get_session_id(self._coordinator, {})
        path = build_path(self._config.path, session, get_working_dir(self._coordinator), today)
        return RotatingFile(path, self._config.max_bytes, self._config.backups)

    def _warn_once(self, failure: OSError, lost: int) -> None:
        """Once per outage: a full disk must not fill the terminal as well."""
        self._dropped += lost
        if not self._failing:
            self._failing = True
            logger.warning("%s cannot write: %s", NAME, describe_error(failure))

    async def close(self) -> None:
        """Write what is left, but wait for no disk for ever."""
        self._closing.set()
        await self._tasks.close(grace=_FLUSH_LIMIT)
        if self._waiting or self._dropped:
            logger.warning("%s lost its last lines: the disk did not take them", NAME)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Begin to listen; clean-up writes what is left."""
    settings = await parse_known(coordinator, Config, config, NAME, SYNONYMS)
    log = EventLog(coordinator, settings)
    remove = subscribe(coordinator, NAME, settings.priority, [("*", log.on_event)])

    async def cleanup() -> None:
        remove()
        await log.close()

    return cleanup
