"""What was spent today, in a small file that the sessions of a directory share."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_hooks.machine.files import replace_file


@dataclass
class Spent:
    """Tokens and money."""

    tokens: int = 0
    money: float = 0.0

    def add(self, tokens: int, money: float) -> None:
        """Count one more call."""
        self.tokens += tokens
        self.money += money


class DayBook:
    """What was spent today by all sessions of this directory, in a small file."""

    def __init__(self, path: Path, get_today: Callable[[], str]) -> None:
        self._path = path
        self._get_today = get_today

    def read(self) -> Spent:
        """Today's sum. A missing file is an empty one, a broken one an error: fail closed."""
        try:
            entry = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Spent()
        except (OSError, ValueError) as failure:
            raise ValueError(f"{self._path}: {failure}; repair or delete the file") from None
        return self._read_entry(entry)

    def _read_entry(self, entry: Any) -> Spent:
        try:
            spent = Spent(int(entry["tokens"]), float(entry["money"]))
            return spent if entry["date"] == self._get_today() else Spent()
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{self._path} is not a cost file; repair or delete it") from None

    def add(self, tokens: int, money: float) -> None:
        """Add a call, under a lock that other processes respect."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with _FileLock(self._path.with_suffix(".lock")):
            spent = self.read()
            spent.add(tokens, money)
            entry = {
                "date": self._get_today(),
                "tokens": spent.tokens,
                "money": round(spent.money, 6),
            }
            replace_file(self._path, f"{json.dumps(entry)}\n".encode(), sync=False)


class _FileLock:
    """Held by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        self._file = self._path.open("a")
        with suppress(ImportError):  # Windows has none; there the last writer wins
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()
