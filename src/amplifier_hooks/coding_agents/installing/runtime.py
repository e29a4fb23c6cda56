"""What an installation needs beside the agent's settings: the resident process and its folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from amplifier_hooks.coding_agents.client.launch import NAME, read_launch
from amplifier_hooks.coding_agents.daemon.control import stop_resident
from amplifier_hooks.coding_agents.daemon.folder import (
    LOG,
    RUNNING_LOCK,
    SOCKET,
    HttpPort,
    choose_folder,
    choose_port,
    write_launch,
)
from amplifier_hooks.coding_agents.installing.codex_trust import TRUST
from amplifier_hooks.coding_agents.installing.installation import Target, list_ours
from amplifier_hooks.coding_agents.installing.places import Scope
from amplifier_hooks.coding_agents.installing.record import Record, Records
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError
from amplifier_hooks.machine.locations import find_data_home

_START_LOCK = "start.lock"


@contextlib.contextmanager
def lock_runtime() -> Iterator[None]:
    """Keep others from installing or removing a guard at the same time.

    The lock is on a folder, so that no file of it is left behind.
    """
    folder = find_data_home() / "amplifier"
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def list_installed(records: Records) -> list[Record]:
    """The settings files that we are in; those of projects that are gone do not count."""
    return [one for one in records.list() if one.scope != TRUST and _is_there(one)]


def _is_there(record: Record) -> bool:
    scope: Scope = "project" if record.scope == "project" else "user"
    target = Target(record.agent, scope, Path(record.root))
    try:
        return str(target.path) != record.path or bool(list_ours(target))
    except SettingsError:
        return True  # nobody knows


def prepare_runtime(*, http: bool) -> tuple[Path, HttpPort | None]:
    """Say how to start the resident process; its folder, and where it speaks HTTP.

    It goes on to speak HTTP where another installation needs that.
    """
    folder = choose_folder()
    door = _find_door(folder)
    if http and door is None:
        door = choose_port()
    write_launch(folder, os.environ, http=door)
    return folder, door if http else None


def clear_runtime(records: Records) -> bool:
    """Remove what no installation needs any more; whether that was everything."""
    folder = choose_folder()
    left = list_installed(records)
    if not folder.is_dir():
        return not left
    if left:
        if _find_door(folder) is not None and not any(one.http for one in left):
            write_launch(folder, os.environ)
        return False
    # A client that is under way finds no socket, no launch file, and blocks.
    with contextlib.suppress(OSError, ValueError, TimeoutError):
        stop_resident(folder)
    for name in (NAME, SOCKET, _START_LOCK, RUNNING_LOCK, LOG, f"{LOG}.1"):
        (folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # other data may be there
        folder.rmdir()
        folder.parent.rmdir()
    return True


def _find_door(folder: Path) -> HttpPort | None:
    try:
        http = read_launch(os.fsencode(folder)).http
        return None if http is None else HttpPort(int(http["port"]), str(http["token"]))
    except (ValueError, KeyError, TypeError):
        return None
