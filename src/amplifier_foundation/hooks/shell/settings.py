"""Hook files of other agents into handlers."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_foundation.hooks.shell.dialects import DIALECTS, Dialect
from amplifier_foundation.hooks.shell.dialects.copilot import is_claude_form
from amplifier_foundation.hooks.shell.handler import Handler
from amplifier_foundation.machine.http import ensure_available

NAME = "hooks-shell"
_REASONS = {
    "mcp_tool": "it would call a tool of an MCP server that this session does not own",
    "prompt": "it asks a model; use the module hooks-rules or a command instead",
    "agent": "it starts an agent; use the Delegate tool or a command instead",
}
_COPILOT_KEYS = frozenset({"bash", "powershell", "timeoutSec", "exec"})
_PATH_HINTS = {".cursor": "cursor", ".github": "copilot", ".copilot": "copilot"}
_PATH_HINTS |= {".gemini": "gemini", ".codex": "codex", ".claude": "claude"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What one source asks for, and what of it cannot be had."""

    handlers: tuple[Handler, ...] = ()
    notices: tuple[str, ...] = ()


def read_settings_file(path: Path, dialect: str) -> Settings:
    """One file, JSON or TOML."""
    return read_settings(_parsed(path), dialect, str(path))


def _parsed(path: Path) -> Any:
    try:
        text = path.read_text("utf-8-sig")
        return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text or "{}")
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModuleLoadError(f"{NAME}: cannot read settings {str(path)!r}: {reason}") from error
    except json.JSONDecodeError as error:
        message = f"{NAME}: {path}:{error.lineno}: not valid JSON: {error.msg}"
        raise ModuleLoadError(message) from error
    except ValueError as error:
        raise ModuleLoadError(f"{NAME}: {path}: not valid: {error}") from error


def read_settings(content: Any, dialect: str, where: str) -> Settings:
    """Settings that were parsed already; `auto` looks at names and shape."""
    if not isinstance(content, Mapping):
        raise ModuleLoadError(f"{NAME}: {where}: must be an object with 'hooks'")
    hooks = content.get("hooks", {})
    if not isinstance(hooks, Mapping):
        raise ModuleLoadError(f"{NAME}: {where}: 'hooks' must be an object, event by event")
    for switch in ("disableAllHooks", "allowManagedHooksOnly"):
        if content.get(switch) is True:
            return Settings(notices=(f"{where}: {switch!r} is set, so none of its hooks runs",))
    name = detect(hooks, content, where) if dialect == "auto" else dialect
    return _Reader(DIALECTS[name], where, content).read(hooks)


def detect(hooks: Mapping[str, Any], content: Mapping[str, Any], where: str) -> str:
    """The dialect that fits best: by folder, by keys of handlers, by names of events."""
    parts = Path(where).parts
    hinted = next((name for part, name in _PATH_HINTS.items() if part in parts), None)
    if hinted is not None:
        return hinted
    if where.endswith(".toml"):
        return "codex"
    entries = [entry for listed in hooks.values() for entry in _as_list(listed)]
    if any(_COPILOT_KEYS & set(entry) for entry in entries if isinstance(entry, Mapping)):
        return "copilot"
    candidates = ("claude", "gemini", "cursor", "copilot")
    return max(candidates, key=lambda name: len(set(hooks) & set(DIALECTS[name].events)))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


@dataclass
class _Reader:
    """Reads one source in one dialect."""

    dialect: Dialect
    where: str
    content: Mapping[str, Any]
    notices: list[str] = field(default_factory=list)

    def read(self, hooks: Mapping[str, Any]) -> Settings:
        found: list[Handler] = []
        for native, listed in hooks.items():
            if not isinstance(listed, list):
                continue  # switches such as Gemini's "enabled" live beside the events
            if native not in self.dialect.events:
                self.notices.append(
                    f"{self.where}: event {native!r} has no counterpart here; its hooks never run"
                )
                continue
            found.extend(self._event(native, listed))
        return Settings(tuple(found), tuple(self.notices))

    def _event(self, native: str, listed: list[Any]) -> Iterator[Handler]:
        for at, entry in enumerate(listed):
            place = f"{self.where}: {native}[{at}]"
            if not isinstance(entry, Mapping):
                raise ModuleLoadError(f"{NAME}: {place} must be an object, got {entry!r}")
            if "hooks" not in entry:
                yield from self._handler(native, entry, entry.get("matcher"), place, None)
                continue
            lane = place if entry.get("sequential") is True else None
            for number, inner in enumerate(_as_list(entry["hooks"])):
                spot = f"{place}.hooks[{number}]"
                yield from self._handler(native, inner, entry.get("matcher"), spot, lane)

    def _handler(
        self, native: str, entry: Any, matcher: Any, place: str, lane: str | None
    ) -> Iterator[Handler]:
        if not isinstance(entry, Mapping):
            raise ModuleLoadError(f"{NAME}: {place} must be an object, got {entry!r}")
        kind = str(entry.get("type") or "command")
        if kind in _REASONS:
            sentence = f"{place}: a hook of type {kind!r} is not supported: {_REASONS[kind]}"
            self.notices.append(sentence)
            return
        if kind not in ("command", "http"):
            known = ["command", "http", *_REASONS]
            raise ModuleLoadError(f"{NAME}: {place}: unknown type {kind!r}; have {known}")
        if matcher is not None and not isinstance(matcher, str):
            raise ModuleLoadError(f"{NAME}: {place}: 'matcher' must be a text, got {matcher!r}")
        what = self._http(entry, place) if kind == "http" else self._command(entry, place)
        if what is not None:
            lane = self.where if self.dialect.in_order else lane
            yield self._made(native, entry, matcher, place, lane, what)

    def _made(
        self,
        native: str,
        entry: Mapping[str, Any],
        matcher: str | None,
        place: str,
        lane: str | None,
        what: Mapping[str, Any],
    ) -> Handler:
        form = self.dialect.name
        if form == "copilot" and is_claude_form(native):
            form = "copilot-claude-form"
        limit = entry.get("loop_limit")
        return Handler(
            dialect=form,
            native=native,
            where=place,
            matcher=matcher,
            condition=str(entry["if"]) if entry.get("if") else None,
            timeout=self._timeout(native, entry, place),
            fail_closed=entry.get("onFailure") == "block" or entry.get("failClosed") is True,
            background=entry.get("async") is True or entry.get("asyncRewake") is True,
            once=entry.get("once") is True,
            lane=lane,
            loop_limit=limit if isinstance(limit, int) and limit >= 0 else 8,
            **what,
        )

    def _timeout(self, native: str, entry: Mapping[str, Any], place: str) -> float:
        written = entry.get("timeout", entry.get("timeoutSec"))
        if written is None:
            return self.dialect.timeout(native)
        if isinstance(written, bool) or not isinstance(written, (int, float)):
            raise ModuleLoadError(f"{NAME}: {place}: 'timeout' must be a number, got {written!r}")
        seconds = written * (1.0 if "timeoutSec" in entry else self.dialect.unit)
        if not (math.isfinite(seconds) and seconds > 0):
            raise ModuleLoadError(f"{NAME}: {place}: 'timeout' must be positive, got {written!r}")
        return seconds

    def _command(self, entry: Mapping[str, Any], place: str) -> dict[str, Any] | None:
        command = entry.get("bash") or entry.get("command") or entry.get("exec")
        if not command and entry.get("powershell"):
            self.notices.append(f"{place}: written for PowerShell only; it does not run here")
            return None
        if not isinstance(command, str) or not command.strip():
            raise ModuleLoadError(f"{NAME}: {place}: 'command' is missing or empty")
        args = entry.get("args")
        direct: tuple[str, ...] | None = None
        if args is not None or "exec" in entry:
            direct = (command, *(str(arg) for arg in _as_list(args)))
        elif entry.get("shell") == "powershell":
            direct = ("pwsh", "-NoProfile", "-Command", command)
        cwd, env = entry.get("cwd"), entry.get("env")
        return {
            "command": command,
            "args": direct,
            "cwd": cwd if isinstance(cwd, str) else None,
            "env": {str(k): os.path.expandvars(str(v)) for k, v in env.items()}
            if isinstance(env, Mapping)
            else {},
        }

    def _http(self, entry: Mapping[str, Any], place: str) -> dict[str, Any] | None:
        from amplifier_foundation.hooks.shell.http import explain_refusal

        ensure_available(NAME)
        url = entry.get("url")
        if not isinstance(url, str):
            raise ModuleLoadError(f"{NAME}: {place}: 'url' is missing")
        reason = explain_refusal(url, self.content.get("allowedHttpHookUrls"))
        if reason is not None:
            raise ModuleLoadError(f"{NAME}: {place}: {reason}")
        allowed = {str(name) for name in _as_list(entry.get("allowedEnvVars"))}
        general = self.content.get("httpHookAllowedEnvVars")
        if isinstance(general, list):
            allowed &= {str(name) for name in general}
        headers = entry.get("headers")
        pairs = headers.items() if isinstance(headers, Mapping) else ()
        return {
            "url": url,
            "headers": {str(name): str(value) for name, value in pairs},
            "header_vars": frozenset(allowed),
        }
