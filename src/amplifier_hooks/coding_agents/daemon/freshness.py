"""Whether this process still is the one that is installed."""

from __future__ import annotations

import re
from pathlib import Path

from amplifier_hooks.coding_agents.client import client
from amplifier_hooks.coding_agents.client.launch import NAME

_VERSION_LINE = re.compile(r'^VERSION = "([^"]*)"$', re.MULTILINE)


class Freshness:
    """Compares what this process was started with to what is on the disk now."""

    def __init__(self, folder: Path, program: Path = Path(client.__file__)) -> None:
        self._launch = folder / NAME
        self._program = program
        self._seen = _get_mark(self._launch)
        self._started_with = _read(self._launch)

    def find_reason_to_restart(self, version: str) -> str:
        """Why a new process would serve a client of this version better; "" if it would not."""
        if self._has_other_launch():
            return f"{self._launch} has changed"
        if version != client.VERSION and self._read_installed() != client.VERSION:
            return f"version {self._read_installed()} is installed now"
        return ""

    def _has_other_launch(self) -> bool:
        """Whether it says something else; without the file nobody could start a new process."""
        mark = _get_mark(self._launch)
        if mark is None or mark == self._seen:
            return False
        if _read(self._launch) != self._started_with:
            return True
        self._seen = mark
        return False

    def _read_installed(self) -> str:
        found = _VERSION_LINE.search(_read(self._program).decode(errors="replace"))
        return found.group(1) if found else client.VERSION


def _get_mark(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_mtime_ns


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
