"""Codex's config.toml: taking out what was written there about our hooks, and nothing else."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from typing import Any

# A line that begins a table or a list of tables, with what may stand behind it.
_HEADER = re.compile(r"^[ \t]*\[\[?[^\n]*\]\]?[ \t]*(?:#[^\n]*)?$", re.MULTILINE)


def list_state_keys(text: str) -> list[str]:
    """The hooks about which Codex has written something down; none if the file is broken."""
    return list(_get_state(text))


def remove_states(text: str, keys: Collection[str], *, keep_section: bool) -> str:
    """The text without the tables of these hooks; as it is, if that cannot be done safely.

    The empty section around them goes as well, unless it was there before.
    """
    wanted = {key: value for key, value in _get_state(text).items() if key not in keys}
    changed = text
    for key in keys:
        changed = _remove_table(changed, ("hooks", "state", key))
    if not wanted and not keep_section:
        changed = _remove_table(changed, ("hooks", "state"))
    return changed if _is_same_but(text, changed, wanted) else text


def _get_state(text: str) -> dict[str, Any]:
    try:
        state = tomllib.loads(text).get("hooks", {}).get("state", {})
    except (tomllib.TOMLDecodeError, AttributeError):
        return {}
    return state if isinstance(state, dict) else {}


def _remove_table(text: str, path: tuple[str, ...]) -> str:
    """Take out the table with this name, from its header to the next one."""
    headers = list(_HEADER.finditer(text))
    for number, header in reversed(list(enumerate(headers))):
        if _read_header(header.group()) != path:
            continue
        is_last = number == len(headers) - 1
        end = len(text) if is_last else headers[number + 1].start()
        before = text[: header.start()]
        if is_last and before.endswith("\n\n"):
            before = before[:-1]  # the empty line that stood before it
        return before + text[end:]
    return text


def _read_header(line: str) -> tuple[str, ...] | None:
    """The names in a header, as TOML reads them; None if this is not one."""
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return None
    names = []
    while isinstance(value, dict) and len(value) == 1:
        name, value = next(iter(value.items()))
        names.append(name)
    return tuple(names)


def _is_same_but(old: str, new: str, state: dict[str, Any]) -> bool:
    """Whether TOML reads the same in both, apart from what is known about hooks."""
    try:
        before, after = tomllib.loads(old), tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        return False
    found = after.get("hooks", {}).get("state", {})
    for one in (before, after):
        hooks = one.get("hooks")
        if isinstance(hooks, dict):
            hooks.pop("state", None)
            if not hooks:
                one.pop("hooks")
    return bool(found == state and before == after)
