"""Patches: the files that they name, with any number of leading folders left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from amplifier_hooks.guards.bash.git_call import read_git
from amplifier_hooks.guards.bash.unnamed.lookup import NOTHING, Lookup, Search, Write, is_regular

_READ_LIMIT = 8 * 1024 * 1024
_NAMES = re.compile(
    rb"^(?:\+\+\+ |--- |\*\*\* |rename to |copy to |Index: )([^\t\r\n]+)|^diff --git (.+)$",
    re.MULTILINE,
)


def find_patched(search: Search) -> Lookup:
    """`patch -p1 < x`, `git apply x`, `git am x`."""
    call = read_git(search.command)
    is_git = call is not None and call.subcommand in {"apply", "am"}
    if not is_git and search.command.name not in {"patch", "gpatch"}:
        return NOTHING
    words = [
        *search.command.arguments,
        *search.list_inputs(),
        *search.list_values(("-i", "--input")),
    ]
    texts = [_read(path) for path in search.find_all(words) if is_regular(path)]
    given = search.command.stdin
    if given is not None and given.value:
        texts.append(given.value.encode("utf-8", "replace"))
    folders = [search.base, *search.find_all(search.list_values(("-d", "--directory")))]
    names = {name for text in texts for name in _list_names(text)}
    return search.collect(Write(folder / name) for folder in folders for name in names)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_READ_LIMIT)
    except OSError:
        return b""


def _list_names(text: bytes) -> Iterator[str]:
    for plain, both in _NAMES.findall(text):
        for name in [plain] if plain else both.split(b" "):
            parts = name.decode("utf-8", "replace").strip().strip('"').replace("\0", "").split("/")
            first = 1 if parts[0] in {"a", "b"} else 0
            yield from ("/".join(parts[at:]) for at in range(first, len(parts)))
