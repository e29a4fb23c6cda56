"""The file that makes a session one of a check: without it, its id means nothing.

Where   FOLDER/checks/<nonce>, in the private folder of the guests
Format  the first line says how the check is done; then a line for each event that its hook heard
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import Any

from amplifier_hooks.agent.session.self_test import PREFIX

_FOLDER = "checks"
_ID = re.compile(rf"[a-z-]+-{PREFIX}([0-9a-f]{{16}})")
_STEP = 0.02


class Ticket:
    """One check under way, as both sides see it: who fires the events, and the hook."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def session_id(self) -> str:
        """What the agent would call its session."""
        return PREFIX + self._path.name

    @property
    def is_valid(self) -> bool:
        """Whether the check is still under way."""
        return self._path.exists()

    def report(self, case: str, **facts: Any) -> None:
        """Note that the hook was reached; a check that is over hears nothing."""
        line = json.dumps({"case": case, **facts}) + "\n"
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            try:
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)

    def list_reports(self, case: str) -> list[dict[str, Any]]:
        """What the hook has noted about one case."""
        return [one for one in self._read()[1:] if one.get("case") == case]

    def wait_for_report(self, case: str, seconds: float) -> bool:
        """Whether the hook is reached within that time."""
        limit = time.monotonic() + seconds
        while not self.list_reports(case):
            if time.monotonic() > limit:
                return False
            time.sleep(_STEP)
        return True

    def read_seconds(self) -> float:
        """How long the check waits for what does not come."""
        return float((self._read() or [{"seconds": 0}])[0]["seconds"])

    def remove(self) -> None:
        """The check is over."""
        self._path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._path.parent.rmdir()

    def _read(self) -> list[dict[str, Any]]:
        try:
            lines = self._path.read_text().splitlines(keepends=True)
        except OSError:
            return []
        return [json.loads(line) for line in lines if line.endswith("\n")]


def make_ticket(folder: Path, seconds: float) -> Ticket:
    """Begin a check. Where the folder is not as it must be, the ticket is not valid."""
    place = folder / _FOLDER
    path = place / secrets.token_hex(8)
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w") as file:  # noqa: PTH123 - a descriptor
            file.write(json.dumps({"seconds": seconds}) + "\n")
    return Ticket(path)


def find_ticket(folder: Path, session_id: str) -> Ticket | None:
    """The check that a session of ours belongs to; None for all that agents really have."""
    named = _ID.fullmatch(session_id)
    if named is None:
        return None
    path = folder / _FOLDER / named.group(1)
    try:
        facts = path.lstat()
    except OSError:
        return None
    private = stat.S_ISREG(facts.st_mode) and not facts.st_mode & 0o077
    return Ticket(path) if private and facts.st_uid == os.geteuid() else None
