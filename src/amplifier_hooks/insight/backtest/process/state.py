"""The state of a backtest: what was found in which trail, so that another run can go on."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from amplifier_hooks.insight.backtest.tally import Tally
from amplifier_hooks.machine.files import replace_file

VERSION = 1
_PAUSE = 1.0
"""Seconds between two writes."""


class StateFile:
    """Keeps the results of finished trails, as long as neither they nor the policy change."""

    def __init__(self, path: Path, digest: str, *, temporary: bool = False) -> None:
        self.path = path
        self._temporary = temporary
        self._digest = digest
        self._written = 0.0
        self._trails: dict[str, Any] = {}
        self.spent = ""
        """What the day's book of costs had after the last finished trail."""
        self._read()

    def _read(self) -> None:
        try:
            values = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return
        if not _is_state(values) or values["version"] != VERSION:
            return
        if values["digest"] == self._digest:
            self._trails, self.spent = values["trails"], values["spent"]

    def find(self, trail: Path) -> Tally | None:
        """What was found in a trail, if it has not changed since."""
        known = self._trails.get(str(trail))
        try:
            if known is None or known["stamp"] != stamp_trail(trail):
                return None
            return Tally.from_dict(known["tally"])
        except (KeyError, TypeError):  # somebody edited the file: look at the trail again
            return None

    def keep(self, trail: Path, tally: Tally, spent: str = "") -> None:
        """Keep what was found in a trail."""
        self._trails[str(trail)] = {"stamp": stamp_trail(trail), "tally": tally.to_dict()}
        self.spent = spent
        if time.monotonic() - self._written > _PAUSE:
            self.write()

    def write(self) -> None:
        """Write everything down, if there is anything."""
        if not self._trails:
            return
        values = {
            "version": VERSION,
            "digest": self._digest,
            "trails": self._trails,
            "spent": self.spent,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, json.dumps(values).encode(), mode=0o600, sync=False)
        self._written = time.monotonic()

    def finish(self) -> None:
        """All is done: nobody has to go on from a file that nobody named."""
        if self._temporary:
            self.path.unlink(missing_ok=True)


def holds_something_else(path: Path) -> bool:
    """Whether there is a file that no backtest has written: it must not be replaced."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return False
    try:
        return bool(content) and not _is_state(json.loads(content))
    except ValueError:
        return True


def _is_state(values: Any) -> bool:
    if not isinstance(values, dict) or values.keys() != {"version", "digest", "trails", "spent"}:
        return False
    return isinstance(values["trails"], dict) and isinstance(values["spent"], str)


def stamp_trail(trail: Path) -> list[list[Any]]:
    """The names, sizes and times of a trail's files: whether it is still the same."""
    files = sorted(trail.glob("*.jsonl")) if trail.is_dir() else [trail]
    stats = [(path.name, path.stat()) for path in files]
    return [[name, found.st_size, found.st_mtime_ns] for name, found in stats]
