"""Hook files of other agents into handlers."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events.foreign_names import find_named
from amplifier_core.events.names import KNOWN, find_meant
from amplifier_core.utils.suggest import find_slip
from amplifier_hooks.coding_agents.dialects import DIALECTS, Dialect
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.config import NAME
from amplifier_hooks.coding_agents.shell_hooks.entry import (
    Position,
    UnsupportedEntry,
    get_list,
    read_entry,
)

_COPILOT_KEYS = frozenset({"bash", "powershell", "timeoutSec", "exec"})
_FOLDERS = {
    ".cursor": "cursor",
    ".github": "copilot",
    ".copilot": "copilot",
    ".gemini": "gemini",
    ".codex": "codex",
    ".claude": "claude",
}
# Codex has no event that Claude has not, so names alone never speak for it.
_KNOWN_BY_EVENTS = ("claude", "gemini", "cursor", "copilot")


Read = Callable[[Path], bytes]


@dataclass(frozen=True, slots=True)
class Settings:
    """What one source asks for, and what of it cannot be had."""

    handlers: tuple[Handler, ...] = ()
    notices: tuple[str, ...] = ()


def read_settings_file(path: Path, dialect: str, read: Read = Path.read_bytes) -> Settings:
    """One file, JSON or TOML; `read` gets its bytes."""
    return read_settings(_parse_file(path, read), dialect, str(path))


def _parse_file(path: Path, read: Read) -> Any:
    try:
        text = read(path).decode("utf-8-sig")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModuleLoadError(f"{NAME}: cannot read settings {str(path)!r}: {reason}") from error
    except json.JSONDecodeError as error:
        message = f"{NAME}: {path}:{error.lineno}: not valid JSON: {error.msg}"
        raise ModuleLoadError(message) from error
    except (ValueError, RecursionError) as error:
        raise ModuleLoadError(f"{NAME}: {path}: not valid: {error}") from error


def read_settings(content: Any, dialect: str, where: str) -> Settings:
    """Settings that were parsed already; `auto` looks at names and shape."""
    if not isinstance(content, Mapping):
        raise ModuleLoadError(f"{NAME}: {where}: must be an object with 'hooks'")
    _refuse_slip(content, where)
    hooks = content.get("hooks", {})
    if not isinstance(hooks, Mapping):
        raise ModuleLoadError(f"{NAME}: {where}: 'hooks' must be an object, event by event")
    for switch in ("disableAllHooks", "allowManagedHooksOnly"):
        if content.get(switch) is True:
            return Settings(notices=(f"{where}: {switch!r} is set, so none of its hooks runs",))
    name = detect_dialect(hooks, where) if dialect == "auto" else dialect
    return _read_events(hooks, DIALECTS[name], where, content)


def detect_dialect(hooks: Mapping[str, Any], where: str) -> str:
    """The dialect that fits best: by folder, by keys of entries, by names of events."""
    parts = Path(where).parts
    by_folder = next((name for part, name in _FOLDERS.items() if part in parts), None)
    if by_folder is not None:
        return by_folder
    if Path(where).suffix == ".toml":
        return "codex"
    entries = (entry for listed in hooks.values() for entry in get_list(listed))
    if any(isinstance(entry, Mapping) and _COPILOT_KEYS & set(entry) for entry in entries):
        return "copilot"
    return max(_KNOWN_BY_EVENTS, key=lambda name: _count_known(DIALECTS[name], hooks))


def _count_known(dialect: Dialect, hooks: Mapping[str, Any]) -> int:
    return sum(dialect.find_form(native) is not None for native in hooks)


def _read_events(
    hooks: Mapping[str, Any], dialect: Dialect, where: str, content: Mapping[str, Any]
) -> Settings:
    handlers: list[Handler] = []
    notices: list[str] = []
    for native, listed in hooks.items():
        form = _find_form(native, hooks, dialect, where)
        if form is None and not isinstance(listed, list):
            continue  # switches such as Gemini's "enabled" live beside the events
        if form is None:
            notices.append(
                f"{where}: event {native!r} has no counterpart here; its hooks never run"
            )
            continue
        if not isinstance(listed, list):
            raise ModuleLoadError(f"{NAME}: {where}: {native} must be a list, got {listed!r}")
        for position, entry, matcher in _list_entries(listed, form, native, where):
            try:
                handlers.append(read_entry(position, entry, matcher, content))
            except UnsupportedEntry as reason:
                notices.append(str(reason))
    return Settings(tuple(handlers), tuple(notices))


def _refuse_slip(content: Mapping[str, Any], where: str) -> None:
    """A file without hooks has none; one in which they stand under another name is a mistake."""
    slips = [one for one in content if "hooks" not in content and find_slip(str(one), ["hooks"])]
    for name in slips:
        raise ModuleLoadError(f"{NAME}: {where}: unknown key {name!r}; did you mean 'hooks'?")


def _find_form(
    native: str, hooks: Mapping[str, Any], dialect: Dialect, where: str
) -> Dialect | None:
    """What an event belongs to; None if it is one of the agent's that we do not have.

    A misspelt event would never run its hooks, which may be guards.
    """
    form = dialect.find_form(native)
    if form is None:
        meant = _find_meant(native, dialect)
        if meant is not None and meant not in hooks:
            message = f"{NAME}: {where}: unknown event {native!r}; did you mean {meant!r}?"
            raise ModuleLoadError(message)
    return form


def _find_meant(native: str, dialect: Dialect) -> str | None:
    """The event of this agent that a name misspells, or that another agent or we call so."""
    known = {one.lower(): one for one in dialect.list_events()}
    if (slip := known.get(find_slip(native, known) or "")) or native in dialect.events:
        return slip
    ours = native if native in KNOWN else find_named(native)
    if ours is None and not native.isalpha():  # no event of theirs that is newer than our table
        ours = find_meant(native)
    rows = dialect.events.items()
    return next((one for one, row in rows if any(o.event == ours for o in row.occasions)), None)


def _list_entries(
    listed: list[Any], dialect: Dialect, native: str, where: str
) -> Iterator[tuple[Position, Any, Any]]:
    """Every entry of an event, alone or in a group, with its position and its matcher."""
    file_lane = where if dialect.in_order else None
    for number, entry in enumerate(listed):
        position = Position(f"{where}: {native}[{number}]", dialect, native, file_lane)
        if not isinstance(entry, Mapping) or "hooks" not in entry:
            yield position, entry, entry.get("matcher") if isinstance(entry, Mapping) else None
            continue
        group_lane = position.where if entry.get("sequential") is True else None
        if not isinstance(entry["hooks"], list):
            raise position.make_error(f"'hooks' must be a list, got {entry['hooks']!r}")
        for at, inner in enumerate(entry["hooks"]):
            spot = f"{position.where}.hooks[{at}]"
            inner_position = Position(spot, dialect, native, file_lane or group_lane)
            yield inner_position, inner, entry.get("matcher")
