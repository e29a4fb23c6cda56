"""The folder of the guests: one per user, and nobody else can enter it."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from amplifier_hooks.coding_agents.client import client
from amplifier_hooks.coding_agents.client.launch import NAME
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.machine.locations import find_data_home

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


_NAMES = frozenset(("HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"))
_BEGINNINGS = ("LC_", "XDG_", "AMPLIFIER_", "SSL_CERT_")
# It may only shorten a single call.
_NOT_THESE = frozenset({"AMPLIFIER_GUEST_SECONDS"})


class HttpPort(NamedTuple):
    """Where HTTP is served on this machine, and the word that opens it."""

    port: int
    token: str


def choose_port() -> HttpPort:
    """A port that is free now, and a new token."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return HttpPort(probe.getsockname()[1], secrets.token_urlsafe(32))


def write_launch(folder: Path, env: Mapping[str, str], *, http: HttpPort | None = None) -> None:
    """Say how to start the resident process: with this installation and these variables.

    Of the environment only what it needs is kept. Without a `http` it serves no HTTP.
    """
    prepare_folder(folder)
    data: dict[str, object] = {
        "argv": [sys.executable, "-P", "-m", "amplifier_hooks.coding_agents", str(folder)],
        "env": select_environment(env),
    }
    if http is not None:
        data["http"] = http._asdict()
    text = json.dumps(data, indent=2, sort_keys=True) + "\n"
    path = folder / NAME
    replace_file(path, text.encode(), mode=0o600)


def select_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that the resident process gets."""
    return {
        name: value
        for name, value in env.items()
        if (name in _NAMES or name.startswith(_BEGINNINGS)) and name not in _NOT_THESE
    }
