"""One entry of a hook file: what to run, as a handler."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.utils.suggest import find_slip
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.config import NAME
from amplifier_hooks.coding_agents.shell_hooks.http import explain_refusal
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
    wish, closed = entry.get("onFailure"), entry.get("failClosed", False)
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
