"""The programs of this installation: only what one of them starts counts as our gateway."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

_SCRIPTS = ("amplifier", "amplifier-hooks")


def find_python() -> Path:
    """The interpreter that runs now, under its usual name."""
    # Not resolved: the link in an environment is what finds the packages of that environment.
    running = Path(os.path.abspath(sys.executable))  # noqa: PTH100
    usual = running.with_name("python3")
    is_same = os.path.realpath(usual) == os.path.realpath(running)
    return usual if is_same else running


def is_our_python(command: str) -> bool:
    """Whether a command is an interpreter that finds the packages of this installation."""
    found = _find_program(command)
    if found is None:
        return False
    own = Path(sys.executable)
    folders = (os.path.realpath(one.parent) for one in (found, own))
    return len(set(folders)) == 1 and os.path.realpath(found) == os.path.realpath(own)


def is_our_script(command: str) -> bool:
    """Whether a command is the program of this installation, by either of its names."""
    found = _find_program(command)
    ours = {os.path.realpath(one) for one in _list_scripts() if one.is_file()}
    return found is not None and os.path.realpath(found) in ours


def _find_program(command: str) -> Path | None:
    """What a client starts, wherever it works; None if that depends on where it does."""
    if not command or not command.isprintable():
        return None
    if "/" not in command:
        return _search(command)
    path = Path(command)
    is_plain = path.is_absolute() and ".." not in path.parts
    return path if is_plain and _can_run(path) else None


def _can_run(path: Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113


def _search(name: str) -> Path | None:
    for one in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if not os.path.isabs(one):  # noqa: PTH117
            return None  # it means another folder in each project
        found = Path(one) / name
        if _can_run(found):
            return found
    return None


def _list_scripts() -> Iterator[Path]:
    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    user = sysconfig.get_preferred_scheme("user")
    if Path(__file__).is_relative_to(sysconfig.get_path("purelib", user)):  # else it is another's
        folders.append(Path(sysconfig.get_path("scripts", user)))
    for folder in folders:
        yield from (folder / name for name in _SCRIPTS)
