"""Codex's requirements.toml as text: our lines in it, beside those of others.

Every line of ours ends in our mark, so that taking them out needs nothing but the text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from amplifier_hooks.coding_agents.installing.line import MARK

_TABLE = r"(?m)^[ \t]*\[[ \t]*{name}[ \t]*\][ \t]*(?:#[^\n]*)?$"


def list_entries(text: str, is_ours: Callable[[Any], bool]) -> dict[str, list[Any]]:
    """The groups that hold handlers of ours, by event; ValueError if the text is no TOML."""
    hooks = tomllib.loads(text).get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("'hooks' must be a table")  # noqa: TRY004 - of the file, not of the code
    found = {event: _select_ours(groups, is_ours) for event, groups in hooks.items()}
    return {event: groups for event, groups in found.items() if groups}


def add_lines(
    text: str, entries: Mapping[str, Any], switches: Mapping[tuple[str, ...], Any]
) -> str:
    """The text with our entries and switches; ValueError where that is not possible."""
    old = tomllib.loads(text)
    new = text if not text or text.endswith("\n") else text + "\n"
    for path, value in switches.items():
        new = _add_switch(new, old, path, value)
    for event, group in entries.items():
        handlers = _write(group["hooks"])
        new += _end(f"[[hooks.{event}]]") + _end(f"hooks = {handlers}")
    _check(old, tomllib.loads(new), entries, switches)
    return new


def remove_lines(text: str, is_ours: Callable[[Any], bool]) -> str:
    """The text without our lines; ValueError if something of ours would be left."""
    tomllib.loads(text)
    kept = [one for one in text.splitlines(keepends=True) if not one.rstrip().endswith(MARK)]
    new = "".join(kept)
    if list_entries(new, is_ours):
        raise ValueError("entries of ours were rewritten by somebody; remove them by hand")
    return new


def _add_switch(text: str, old: dict[str, Any], path: tuple[str, ...], value: Any) -> str:
    table = old
    key = path[-1]
    for name in path[:-1]:
        table = table.get(name, {})
    if key in table:
        if table[key] != value:
            raise ValueError(f"'{'.'.join(path)}' must be {_write(value)}")
        return text
    line = _end(f"{key} = {_write(value)}")
    if len(path) == 1:  # before every table
        return line + text
    name = ".".join(path[:-1])
    if path[0] not in old:
        return text + _end(f"[{name}]") + line
    found = re.search(_TABLE.format(name=re.escape(name)), text)
    if found is None:
        raise ValueError(f"'{name}' is not written as a table [{name}]; write it so")
    at = found.end() + 1
    return text[:at] + line + text[at:]


def _check(
    old: dict[str, Any],
    new: dict[str, Any],
    entries: Mapping[str, Any],
    switches: Mapping[tuple[str, ...], Any],
) -> None:
    """Whether TOML reads exactly what was there, and what we have added."""
    for event, group in entries.items():
        old.setdefault("hooks", {}).setdefault(event, []).append(group)
    for path, value in switches.items():
        table = old
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table[path[-1]] = value
    if old != new:
        raise ValueError("this cannot be written without changing the meaning of something else")


def _select_ours(groups: Any, is_ours: Callable[[Any], bool]) -> list[Any]:
    if not isinstance(groups, list):
        return []
    return [
        one for one in groups if isinstance(one, dict) and any(map(is_ours, one.get("hooks") or ()))
    ]


def _end(line: str) -> str:
    return f"{line} {MARK}\n"


def _write(value: Any) -> str:
    """A value as TOML: texts, numbers, and lists and tables of them in one line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{name} = {_write(one)}" for name, one in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_write, value))}]"
    return json.dumps(value, ensure_ascii=False)
