"""Names inside the words of programs that have a language of their own: `sqlite3 x '.output y'`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.options import find_values
from amplifier_hooks.guards.bash.unnamed.lookup import NOTHING, Lookup, Search, Write
from amplifier_hooks.guards.bash.word import Word, split_names

_SCRIPTED = split_names(
    "sqlite3 psql mysql mariadb duckdb ed red ex vi vim nvim view emacs awk gawk mawk nawk sed "
    "gsed perl ruby node nodejs deno bun php lua tclsh osascript julia gdb lldb expect m4"
)
_ARCHIVERS = split_names("tar gtar bsdtar pax")
_ARCHIVERS_RENAME = (("-s", "--transform"), ("--", "--xform"))
_RENAMING = _ARCHIVERS | split_names("rename prename perl-rename file-rename mmv mcp mln")
_MOST_NAMES = 500
_BETWEEN = re.compile(r"""[\s"'`(),;=|<>{}]+""")


def find_quoted(search: Search) -> Lookup:
    """Files whose names are part of a word. A part of a name is enough where files are renamed."""
    command = search.command
    name = command.name or ""
    renames = name in _RENAMING
    if not renames and name not in _SCRIPTED and not name.startswith(("python", "pypy")):
        return NOTHING
    found: set[Write] = set()
    for part in _list_parts(command, renames=renames):
        path = search.home / part[2:] if part.startswith("~/") else search.base / part
        if search.wanted(part) and _is_name(part, path):
            found.add(Write(Path(os.path.normpath(path))))
        if renames and "/" in part:
            above = Path(os.path.normpath(path)).parents
            inside = (one for one in above if search.base in one.parents)
            found |= {Write(one, is_link=True) for one in inside}
    return Lookup(frozenset(found))


def _list_parts(command: Command, *, renames: bool) -> Iterator[str]:
    words: Sequence[Word] = command.words
    if command.name in _ARCHIVERS:
        words = [word for one in _ARCHIVERS_RENAME for word in find_values(words, *one)]
    texts = [word.value for word in words if word.value]
    if command.stdin is not None and command.stdin.value:
        texts.append(command.stdin.value)
    left = _MOST_NAMES
    for text in texts:
        # `s/a/.claude\/settings/`: a name behind any sign
        plain = text.replace("\\", "") if renames else text
        for part in _BETWEEN.split(plain):
            for one in dict.fromkeys([part, part[part.find("/.") + 1 :]] if renames else [part]):
                left -= 1
                if left < 0:
                    return
                # A whole word is a name like any other, which need not be written to.
                if one and "\0" not in one and (renames or one != text):
                    yield one


def _is_name(part: str, path: Path) -> bool:
    """`process.env` in a program is no file, unless there is one."""
    return "/" in part or part.startswith(".") or os.path.lexists(path)
