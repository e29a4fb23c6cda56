"""A guard for every user of a machine: who may put it up, and what all of them share."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from amplifier_hooks.coding_agents.client.launch import NAME
from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.coding_agents.installing.line import make_guest_command
from amplifier_hooks.coding_agents.installing.record import Records
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError
from amplifier_hooks.coding_agents.known.agent import LABEL
from amplifier_hooks.machine.files import SnapshotError, read_regular, replace_file

_NAMES = frozenset({"PATH", "LANG", "TZ"})
_BEGINNINGS = ("LC_", "SSL_CERT_")
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def find_folder() -> Path:
    """Where the machine keeps how to start the resident process, and what was there before us."""
    return places.ETC / "amplifier" / "guests"


def open_system_records() -> Records:
    """Of the settings of the machine; everybody may read what was written."""
    return Records(find_folder() / "backups", mode=0o644)


@contextlib.contextmanager
def act_for_all(agent: str) -> Iterator[None]:
    """Write what everybody can read; SettingsError unless this is root, with programs of root."""
    if os.geteuid() != 0:
        raise SettingsError(
            "The settings of the whole machine belong to root; nothing was changed. Use: "
            f"sudo {sys.argv[0]} guard {agent} --system"
        )
    check_programs()
    old = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(old)


def check_programs() -> None:
    """SettingsError unless only root can change what every user would run, and all can read it."""
    command = make_guest_command(places.ETC)
    package = Path(__file__).parents[2]
    files = (command.python, Path(sys.executable), command.client, package, Path(sys.prefix))
    for file in files:
        why = _find_weakness(file)
        if why is not None:
            raise SettingsError(
                f"{why}, and every user of this machine would run it. Install amplifier as root "
                "where others can read it, such as in /opt/amplifier; nothing was changed"
            )


def _find_weakness(file: Path) -> str | None:
    """Why a file is not safe to be run by everybody: it, a folder above it, or what it leads to."""
    for path in dict.fromkeys((file, Path(os.path.realpath(file)))):
        for one in (path, *path.parents):
            facts = one.stat() if one != path else one.lstat()
            if facts.st_uid != 0:
                return f"{one} belongs to the user with the id {facts.st_uid}"
            if stat.S_ISLNK(facts.st_mode):
                continue
            # In a folder such as /tmp, nobody can replace what belongs to root.
            if facts.st_mode & _OTHERS_MAY_WRITE and not facts.st_mode & stat.S_ISVTX:
                return f"{one} can be written by others than root"
            needed = stat.S_IXOTH if stat.S_ISDIR(facts.st_mode) else stat.S_IROTH
            if not facts.st_mode & needed:
                return f"{one} cannot be read by others than root"
    return None


def read_label() -> str:
    """The name of our hooks on this machine; empty if nobody has chosen one."""
    try:
        data = json.loads(read_regular(find_folder() / NAME))
    except (OSError, ValueError, SnapshotError):
        return ""
    label = data.get("label") if isinstance(data, dict) else None
    return label if isinstance(label, str) else ""


def write_system_launch(env: Mapping[str, str]) -> str:
    """Say how to start the resident process of any user: their home comes from the machine.

    Returns the name of our hooks, which stays what it was.
    """
    label = read_label() or f"{LABEL}-{secrets.token_hex(8)}"
    kept = {
        name: value for name, value in env.items() if name in _NAMES or name.startswith(_BEGINNINGS)
    }
    words = [sys.executable, "-P", "-m", "amplifier_hooks.coding_agents"]
    data = {"argv": words, "env": kept, "label": label}
    text = json.dumps(data, indent=2, sort_keys=True) + "\n"
    path = find_folder() / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.encode(), mode=0o644)
    return label


def clear_system(records: Records) -> None:
    """Remove what no agent's settings need any more."""
    if any(records.list()):
        return
    folder = find_folder()
    (folder / NAME).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # other data may be there
        folder.rmdir()
        folder.parent.rmdir()
