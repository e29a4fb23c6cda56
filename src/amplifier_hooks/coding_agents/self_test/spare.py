"""A resident process that only the check uses: it may be killed, and nobody else notices."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.coding_agents.client.launch import NAME, read_launch
from amplifier_hooks.coding_agents.daemon.control import read_status, stop_resident
from amplifier_hooks.coding_agents.daemon.folder import choose_port

_IDLE = "60"
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Spare:
    """Where it is met."""

    folder: Path
    port: int

    def find_pid(self) -> int | None:
        """The process, if it runs."""
        status = read_status(self.folder)
        return None if status is None else int(status["pid"])


@contextlib.contextmanager
def prepare_spare(folder: Path) -> Iterator[Spare]:
    """A folder in which clients start the same program in the same environment."""
    launch = read_launch(os.fsencode(folder))
    near = None if len(tempfile.gettempdir()) < _LONGEST else "/tmp"
    place = Path(tempfile.mkdtemp(prefix="amplifier-check-", dir=near))
    try:
        data: dict[str, object] = {
            "argv": [*launch.argv[:-1], str(place)],
            "env": {**launch.env, "AMPLIFIER_GUEST_IDLE": _IDLE},
        }
        port = 0
        if launch.http is not None:
            port = choose_port().port
            data["http"] = {**launch.http, "port": port}
        path = place / NAME
        path.touch(mode=0o600)
        path.write_text(json.dumps(data))
        yield Spare(place, port)
    finally:
        with contextlib.suppress(OSError, ValueError, TimeoutError):
            stop_resident(place)
        shutil.rmtree(place, ignore_errors=True)
