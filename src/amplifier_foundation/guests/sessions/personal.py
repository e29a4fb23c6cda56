"""What is for people only: deciding about an agent, trusting a bundle, guarding; and our records.

An agent whose guard this is has a shell of its own, in which our commands work as in any other.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_foundation.bash import Command, unwrap_command
from amplifier_foundation.machine.user import find_data_home
from amplifier_foundation.policy.editing_tools import PATH_KEYS

NAME = "guest-personal"
_FIRST = -950
_PROGRAM = "amplifier"
_PERSONAL = frozenset({"approvals", "guard", "login-code", "serve", "tokens", "trust"})
_PACKAGE = "amplifier_"
_RUNNERS = frozenset(
    {"conda", "hatch", "mise", "pdm", "pipx", "pixi", "poetry", "rye", "uv", "uvx"}
)


def deny_personal_acts(coordinator: SessionCoordinator, folder: Path) -> None:
    """Keep an agent that works in `folder` from what only people do."""

    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        given = data.get("tool_input") or {}
        command = given.get("command")
        found = find_personal_act(command) if isinstance(command, str) else None
        if found is not None:
            reason = f"{found!r} is for people: an agent does not decide about itself"
            return HookResult(action="deny", reason=reason)
        place = find_records(given, folder)
        if place is not None:
            reason = f"{place} is where records and keys of amplifier are kept; tools stay out"
            return HookResult(action="deny", reason=reason)
        return HookResult()

    remove = coordinator.hooks.register(TOOL_PRE, judge, _FIRST, NAME, on_error="deny")
    coordinator.register_cleanup(remove)


def find_personal_act(command: str) -> str | None:
    """The part of a command that only a person may run, if it has one."""
    found = (one for one in unwrap_command(command, NAME).commands if _is_personal(one))
    return next((one.text or str(one.program) for one in found), None)


def _is_personal(command: Command) -> bool:
    """Ours by its name, by its package, or behind a program that starts those of a project."""
    names = [Path(word.value).name for word in command.words if word.value]
    if "-m" in names and any(name.startswith(_PACKAGE) for name in names):
        return True
    if command.name in _RUNNERS and _PROGRAM in names:
        names = names[names.index(_PROGRAM) + 1 :]
    elif command.name != _PROGRAM:
        return False
    return next((name for name in names if not name.startswith("-")), None) in _PERSONAL


def find_records(given: dict[str, Any], folder: Path) -> str | None:
    """Our data folder, if a tool or a command is about it, however it is written."""
    records = find_data_home() / _PROGRAM
    command = given.get("command")
    if isinstance(command, str) and any(one in command for one in _list_spellings(records)):
        return str(records)
    paths = (given[key] for key in PATH_KEYS if isinstance(given.get(key), str))
    inside = any(_lies_in(folder / _expand(path), records) for path in paths)
    return str(records) if inside else None


def _list_spellings(records: Path) -> list[str]:
    """As an absolute path, and from the home folder, whatever that is called there."""
    home = Path.home()
    below = [f"/{records.relative_to(home)}"] if records.is_relative_to(home) else []
    return [str(records), *below]


def _expand(path: str) -> Path:
    return Path.home() / path[2:] if path.startswith("~/") else Path(path)


def _lies_in(path: Path, folder: Path) -> bool:
    real, wanted = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return real.is_relative_to(wanted)
