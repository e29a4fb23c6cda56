"""The folder of the guests: one per user, and nobody else can enter it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from amplifier_hooks.coding_agents.client import client
from amplifier_hooks.machine.user import find_data_home

SOCKET = "guest.sock"
LOG = "resident.log"
RUNNING_LOCK = "resident.lock"
_LONGEST_ADDRESS = 99  # the kernel takes 107 bytes; some file systems add to a path


def choose_folder(env: Mapping[str, str] | None = None) -> Path:
    """Where the guests of this user meet: with their data, if the socket's path is not too long."""
    env = os.environ if env is None else env
    name = f"amplifier-guests-{os.geteuid()}"
    choices = [find_data_home(env) / "amplifier" / "guests"]
    run = Path(f"/run/user/{os.geteuid()}")
    if run.is_dir():
        choices.append(run / "amplifier-guests")
    last = Path(env.get("TMPDIR") or tempfile.gettempdir()) / name
    return next((one for one in choices if _is_short(one)), last)


def prepare_folder(folder: Path) -> None:
    """Make the folder; PermissionError if something else is at its place."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    check_folder(folder)


def check_folder(folder: Path) -> None:
    """PermissionError unless the folder is there and nobody else can enter it."""
    client.check_folder(os.fsencode(folder))


def _is_short(folder: Path) -> bool:
    return len(os.fsencode(folder / SOCKET)) <= _LONGEST_ADDRESS
