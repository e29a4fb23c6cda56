"""Writes the events of a session to a file or to stderr."""

from __future__ import annotations

import asyncio
import datetime
import logging
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult
from amplifier_core.utils import describe_error
from amplifier_hooks.guards.logging.config import NAME, STDERR, SYNONYMS, Config, LevelName
from amplifier_hooks.guards.logging.line import RANKS, encode_line, find_level
from amplifier_hooks.guards.logging.rotating_file import RotatingFile
from amplifier_hooks.machine.background import BackgroundTasks
from amplifier_hooks.modules.event_patterns import matches_any
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.subscription import get_session_id, get_working_dir, subscribe

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
        lines, self._waiting = self._waiting, []
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
