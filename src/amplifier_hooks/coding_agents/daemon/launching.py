"""Writing launch.json: which program is the resident process, and all of its environment."""

from __future__ import annotations

import json
import secrets
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from amplifier_hooks.coding_agents.client.launch import NAME
from amplifier_hooks.coding_agents.daemon.folder import prepare_folder
from amplifier_hooks.machine.files import replace_file

_NAMES = frozenset(("HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"))
_BEGINNINGS = ("LC_", "XDG_", "AMPLIFIER_", "SSL_CERT_")
# It may only shorten a single call.
_NOT_THESE = frozenset({"AMPLIFIER_GUEST_SECONDS"})


class Door(NamedTuple):
    """Where HTTP is served on this machine, and the word that opens it."""

    port: int
    token: str


def choose_door() -> Door:
    """A port that is free now, and a new token."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return Door(probe.getsockname()[1], secrets.token_urlsafe(32))


def write_launch(folder: Path, env: Mapping[str, str], *, door: Door | None = None) -> None:
    """Say how to start the resident process: with this installation and these variables.

    Of the environment only what it needs is kept. Without a `door` it serves no HTTP.
    """
    prepare_folder(folder)
    data: dict[str, object] = {
        "argv": [sys.executable, "-P", "-m", "amplifier_hooks.coding_agents", str(folder)],
        "env": select_environment(env),
    }
    if door is not None:
        data["http"] = door._asdict()
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
