"""Which version of an agent is installed, and what is known about that one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.coding_agents.dialects import DIALECTS

_SECONDS = 20.0
_NUMBERS = re.compile(r"(?<![\d.])(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Program:
    """An agent on this machine; the version is empty if it does not say which it is."""

    path: str
    version: str


def find_program(
    names: tuple[str, ...], folder: Path, env: Mapping[str, str] | None = None
) -> str | None:
    """The first of these programs on the PATH, without places in a folder that anybody may have
    filled: what is in a project must not be run because somebody asks about it."""
    env = os.environ if env is None else env
    inside = Path(os.path.realpath(folder))
    places = [
        one
        for one in env.get("PATH", os.defpath).split(os.pathsep)
        if Path(one).is_absolute() and not _lies_in(one, inside)
    ]
    found = (shutil.which(one, path=os.pathsep.join(places)) for one in names if places)
    return next((one for one in found if one is not None and not _lies_in(one, inside)), None)


def _lies_in(path: str, folder: Path) -> bool:
    # A home may be the folder of a project, and programs are installed in homes.
    if folder == Path(os.path.realpath(Path.home())):
        return False
    return Path(os.path.realpath(path)).is_relative_to(folder)


def ask_version(program: str) -> str:
    """What a program says about itself, such as 2.1.325; empty if it does not."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            cwd="/",  # where no project has settings
            start_new_session=True,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _NUMBERS.search(done.stdout)
    return ".".join(found.groups()) if found else ""


def is_older(version: str, other: str) -> bool:
    """Whether a version comes before another one."""
    return _read(version) < _read(other)


def explain_version(agent: str, title: str, version: str) -> str:
    """What is not known about a version; empty if it was tried, or one before it was."""
    tried = DIALECTS[agent].tried
    if not version:
        return (
            f"{title} does not say its version: only events that every version knows are "
            "installed, and nobody knows whether it obeys the guard as those that were tried"
        )
    if tried and is_older(tried, version):
        return (
            f"{title} {version} is newer than any that was tried with this guard ({tried}); "
            f"amplifier guard check {agent} shows whether the guard itself works"
        )
    return ""


def _read(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
