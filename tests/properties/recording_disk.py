"""A disk that notes, over the life of a log, what reaches which file in which order."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from amplifier_audit.checkpoint import Note

CHANGES = ("BEGIN", "COMMIT", "INSERT", "DELETE", "PRAGMA synchronous")


class Step(NamedTuple):
    """One thing that happened: to a file, by its name below the log, or to somebody."""

    kind: str
    name: str = ""
    content: Any = None


class RecordingDisk:
    """Stands between a log and the system calls; use it inside a running loop.

    Before each step of another thread the loop has a few turns, so that whoever was released too
    early is seen before the step that should have come first. `claims` tells how many records the
    log says are durable.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[Step] = []
        self.claims: Callable[[], int] = lambda: 0
        self._root = root
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.current_thread()
        self._names: dict[int, str] = {}
        self._real_open, self._real_connect = os.open, sqlite3.connect
        monkeypatch.setattr(os, "open", self._open)
        for call, kind in (("write", "write"), ("pwrite", "save"), ("fsync", "sync")):
            monkeypatch.setattr(os, call, self._watch_descriptor(kind, getattr(os, call)))
        for call, kind in (("replace", "rename"), ("unlink", "remove")):
            monkeypatch.setattr(os, call, self._watch_path(kind, getattr(os, call)))
        monkeypatch.setattr(sqlite3, "connect", self._connect)

    def note(self, kind: str, name: str = "", content: Any = None) -> None:
        """Note a step; what the log claims by now stands before it."""
        self._settle()
        self.steps.append(Step(kind, name, content))

    def note_anchor(self, note: Note) -> None:
        """An anchor of the log."""
        self.steps.append(Step("anchored", content=note.checkpoint.size))

    def _settle(self) -> None:
        if threading.current_thread() is not self._loop_thread:
            asyncio.run_coroutine_threadsafe(_take_turns(), self._loop).result(20)
        claimed = self.claims()
        known = [step.content for step in self.steps if step.kind == "claimed"]
        if claimed and claimed not in known[-1:]:
            self.steps.append(Step("claimed", content=claimed))

    def _find_name(self, path: Any) -> str | None:
        try:
            return str(Path(path).relative_to(self._root))
        except (TypeError, ValueError):
            return None

    def _open(self, path: Any, flags: int, *args: Any, **more: Any) -> int:
        name = self._find_name(path)
        if name is not None and flags & os.O_CREAT and not Path(path).exists():
            self.note("create", name)
        descriptor = self._real_open(path, flags, *args, **more)
        self._names.pop(descriptor, None)
        if name is not None:
            self._names[descriptor] = name
        return descriptor

    def _watch_descriptor(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(descriptor: int, *args: Any) -> Any:
            name = self._names.get(descriptor)
            if name is not None:
                self.note(kind, name, bytes(args[0]) if args else None)
            return real(descriptor, *args)

        return call

    def _watch_path(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **more: Any) -> Any:
            name = self._find_name(path)
            if name is not None and Path(path).exists():
                self.note(kind, name, self._find_name(args[0]) if args else None)
            return real(path, *args, **more)

        return call

    def _connect(self, *args: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = self._real_connect(*args, **more)
        connection.set_trace_callback(self._trace)
        return connection

    def _trace(self, statement: str) -> None:
        if statement.startswith(CHANGES):
            self.note("sql", content=statement)


async def _take_turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)
