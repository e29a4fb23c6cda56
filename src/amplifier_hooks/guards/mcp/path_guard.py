"""Keeps servers away from what people and guards rely on, whatever their tools call a path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_core.utils.nested import iterate_texts
from amplifier_hooks.guards.policy.tool_calls import is_mcp_tool, is_reading
from amplifier_hooks.machine.locations import find_config_home, find_data_home

NAME = "mcp-walls"
_FIRST = -940
_LONGEST = 4_096
"""Characters in a path: systems take no longer ones."""
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%)(?=/|\Z)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_TAKING = re.compile(r"move|rename|delete|remove|unlink|trash|rmdir", re.IGNORECASE)


def register_path_guard(
    host: Host, folder: Path, guarded: Sequence[Path] = (), *, others: Sequence[Path] = ()
) -> None:
    """Deny calls that name our records or a guarded file, under any key.

    Only tools that read may name guarded files. A server in `folder`, or in one of the `others`,
    would find them from there.
    """
    ours = os.path.realpath(find_data_home() / "amplifier")
    guarded = [*guarded, find_config_home() / "amplifier" / "**"]
    whole = [path.parent if path.name == "**" else path for path in guarded if path.is_absolute()]
    real = list(dict.fromkeys(os.path.realpath(path) for path in whole))
    names = frozenset(path.name for path in whole)
    folders = tuple(dict.fromkeys((folder, *others)))

    def judge(event: str, data: dict[str, Any]) -> HookResult:
        tool = str(data.get("tool_name"))
        if not is_mcp_tool(tool):
            return HookResult()
        places = [ours] if is_reading(tool) else [ours, *real]
        takes = _TAKING.search(tool) is not None
        for path in _list_paths(data.get("tool_input"), folders, names):
            for place in places:
                if _is_below(path, place) or (takes and _is_below(place, path)):
                    reason = f"{place} is what guards and people rely on; tools of servers stay out"
                    return HookResult(action="deny", reason=reason)
        return HookResult()

    host.register_cleanup(host.hooks.register(TOOL_PRE, judge, _FIRST, NAME, on_error="deny"))


def _list_paths(given: Any, folders: Sequence[Path], names: frozenset[str]) -> Iterator[str]:
    """The real paths that texts of a call may name, as a server in these folders reads them."""
    for text in iterate_texts(given):
        if ("/" not in text and text not in names) or len(text) > _LONGEST:
            continue
        if "\n" in text or "\0" in text:
            continue
        plain = text.strip()
        if plain[:5].casefold() == "file:":
            plain = unquote(urlsplit(plain).path) or plain
        elif _SCHEME.match(plain):
            continue
        home = _HOME.match(plain)
        named = f"{Path.home()}{plain[home.end() :]}" if home else plain
        bases = folders[:1] if named.startswith("/") else folders
        yield from (os.path.realpath(base / named) for base in bases)


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")
