"""Hook files of other agents into handlers."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.event_names import KNOWN, find_meant, find_named
from amplifier_core.utils.text import find_slip
from amplifier_hooks.coding_agents.dialects import DIALECTS, Dialect
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.config import NAME
from amplifier_hooks.coding_agents.shell_hooks.runner import explain_refusal
from amplifier_hooks.machine.http import ensure_available

_UNSUPPORTED = {
    "mcp_tool": "it would call a tool of an MCP server that this session does not own",
    "prompt": "it asks a model; use the module hooks-rules or a command instead",
    "agent": "it starts an agent; use the Delegate tool or a command instead",
}
_SUPPORTED = ("command", "http")
_FAIL_CLOSED = {"onfailure": "onFailure", "failclosed": "failClosed"}
_LOOP_LIMIT = 8


class UnsupportedEntry(Exception):
    """An entry that is right, but cannot be run here; the message says why."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where an entry stands: which event of which dialect, and how to name it in a message."""

    where: str
    dialect: Dialect
    native: str
    lane: str | None = None  # entries of one lane run in order

    def make_error(self, sentence: str) -> ModuleLoadError:
        """What is raised about an entry that is wrong."""
        return ModuleLoadError(f"{NAME}: {self.where}: {sentence}")


def read_entry(
    position: Position, entry: Any, matcher: Any = None, settings: Mapping[str, Any] | None = None
) -> Handler:
    """The handler of an entry; `settings` are the switches of the file around it."""
    if not isinstance(entry, Mapping):
        raise ModuleLoadError(f"{NAME}: {position.where} must be an object, got {entry!r}")
    kind = _read_kind(position, entry)
    if matcher is not None and not isinstance(matcher, str):
        raise position.make_error(f"'matcher' must be a text, got {matcher!r}")
    if kind == "http":
        target = _read_request(position, entry, settings or {})
    else:
        target = _read_command(position, entry)
    return Handler(
        dialect=position.dialect.name,
        native=position.native,
        where=position.where,
        matcher=matcher,
        timeout=_read_timeout(position, entry),
        lane=position.lane,
        **target,
        **_read_switches(position, entry),
    )


def _read_kind(position: Position, entry: Mapping[str, Any]) -> str:
    kind = str(entry.get("type") or "command")
    if kind in _UNSUPPORTED:
        raise UnsupportedEntry(
            f"{position.where}: a hook of type {kind!r} is not supported: {_UNSUPPORTED[kind]}"
        )
    if kind not in _SUPPORTED:
        raise position.make_error(
            f"unknown type {kind!r}; have {', '.join([*_SUPPORTED, *_UNSUPPORTED])}"
        )
    return kind


def _read_switches(position: Position, entry: Mapping[str, Any]) -> dict[str, Any]:
    limit = entry.get("loop_limit")
    return {
        "condition": str(entry["if"]) if entry.get("if") else None,
        "fail_closed": _read_fail_closed(position, entry),
        "background": entry.get("async") is True or entry.get("asyncRewake") is True,
        "once": entry.get("once") is True,
        "loop_limit": limit if isinstance(limit, int) and limit >= 0 else _LOOP_LIMIT,
    }


def _read_fail_closed(position: Position, entry: Mapping[str, Any]) -> bool:
    """Whether a failure of the hook blocks; what looks like that wish must be it."""
    for name in entry:
        meant = find_slip(str(name), _FAIL_CLOSED)
        if meant is not None and name not in _FAIL_CLOSED.values():
            raise position.make_error(
                f"unknown key {name!r}; did you mean {_FAIL_CLOSED[meant]!r}?"
            )
    wish = entry.get("onFailure")
    closed = entry.get("failClosed", False)
    if not isinstance(closed, bool):
        raise position.make_error(f"'failClosed' must be true or false, got {closed!r}")
    if wish is not None and wish != "block" and find_slip(str(wish), ["block"]):
        raise position.make_error(f"'onFailure': unknown value {wish!r}; did you mean 'block'?")
    return closed or wish == "block"


def _read_timeout(position: Position, entry: Mapping[str, Any]) -> float:
    written = entry.get("timeout", entry.get("timeoutSec"))
    if written is None:
        return position.dialect.get_timeout(position.native)
    if isinstance(written, bool) or not isinstance(written, (int, float)):
        raise position.make_error(f"'timeout' must be a number, got {written!r}")
    seconds = written * (1.0 if "timeoutSec" in entry else position.dialect.unit)
    if not (math.isfinite(seconds) and seconds > 0):
        raise position.make_error(f"'timeout' must be positive, got {written!r}")
    return seconds


def _read_command(position: Position, entry: Mapping[str, Any]) -> dict[str, Any]:
    command = entry.get("bash") or entry.get("command") or entry.get("exec")
    if not command and entry.get("powershell"):
        raise UnsupportedEntry(
            f"{position.where}: written for PowerShell only; it does not run here"
        )
    if not isinstance(command, str) or not command.strip():
        raise position.make_error("'command' is missing or empty")
    cwd = entry.get("cwd")
    if cwd is not None and not isinstance(cwd, str):
        raise position.make_error(f"'cwd' must be a text, got {cwd!r}")
    return {
        "command": command,
        "args": _read_arguments(position, command, entry),
        "cwd": cwd,
        "env": _read_environment(position, entry.get("env")),
    }


def _read_arguments(
    position: Position, command: str, entry: Mapping[str, Any]
) -> tuple[str, ...] | None:
    """What to run without a shell, or None for a line of bash."""
    given = entry.get("args")
    if given is not None and not isinstance(given, list):
        raise position.make_error(f"'args' must be a list, got {given!r}")
    if given is not None or "exec" in entry:
        return (command, *(str(one) for one in get_list(given)))
    if entry.get("shell") == "powershell":
        return ("pwsh", "-NoProfile", "-Command", command)
    return None


def _read_environment(position: Position, given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise position.make_error(f"'env' must be an object, got {given!r}")
    return {str(name): os.path.expandvars(str(value)) for name, value in given.items()}


def _read_request(
    position: Position, entry: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    ensure_available(NAME)
    url = entry.get("url")
    if not isinstance(url, str):
        raise position.make_error("'url' is missing")
    reason = explain_refusal(url, settings.get("allowedHttpHookUrls"))
    if reason is not None:
        raise position.make_error(reason)
    allowed = {str(name) for name in get_list(entry.get("allowedEnvVars"))}
    general = settings.get("httpHookAllowedEnvVars")
    if isinstance(general, list):
        allowed &= {str(name) for name in general}
    headers = entry.get("headers")
    pairs = headers.items() if isinstance(headers, Mapping) else ()
    return {
        "url": url,
        "headers": {str(name): str(value) for name, value in pairs},
        "header_vars": frozenset(allowed),
    }


def get_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


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
