"""Whether one glob covers another: everything that the narrow one matches, the wide one does.

A yes is certain; a no may also mean that it cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

_WILDCARD = re.compile(r"[*?\[]")
_ANY_TEXT, _ANY_LETTER = "\ue000", "\ue001"
"""They stand for the wildcards of the narrow glob, where only wildcards of the wide one fit."""


def is_literal(glob: str) -> bool:
    """Whether a glob is just a name."""
    return not _WILDCARD.search(glob)


def covers_name(wide: str, narrow: str) -> bool:
    """For globs of names, as `fnmatch` reads them."""
    if wide in (narrow, "*"):
        return True
    if is_literal(narrow):
        return fnmatchcase(narrow, wide)
    if "[" in wide or "[" in narrow or ("?" in wide and "*" in narrow):
        return False
    return fnmatchcase(narrow.replace("*", _ANY_TEXT).replace("?", _ANY_LETTER), wide)


def covers_names(
    wide: Iterable[str], narrow: Iterable[str], covers: Callable[[str, str], bool] = covers_name
) -> bool:
    """For lists of globs, of which one must fit."""
    return all(any(covers(one, other) for one in wide) for other in narrow)


def covers_path(wide: str, narrow: str) -> bool:
    """For globs of paths, as `policy.paths.match_glob` reads them."""
    if wide in (narrow, "**"):
        return True
    # The rest is for globs that count at any depth: others may begin with a link.
    if any(_is_intricate(glob) for glob in (wide, narrow)):
        return False
    return _covers_parts(_split(wide), _split(narrow))


def _is_intricate(glob: str) -> bool:
    return glob.startswith(("/", "~")) or not glob.isascii() or any(sign in glob for sign in "[{}")


def _split(glob: str) -> tuple[str, ...]:
    parts = (part.lower() for part in glob.split("/") if part not in {"", "."})
    return ("**", *parts, *(("**",) if glob.endswith("/") else ()))


@lru_cache(maxsize=4096)  # with several `**`, the same rest is come across many times
def _covers_parts(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """`**` of the narrow glob stands for any number of names, which only `**` covers."""
    if not wide:
        return not narrow
    if wide[0] == "**":
        rest = wide[1:]
        return any(_covers_parts(rest, narrow[at:]) for at in range(len(narrow) + 1))
    if not narrow or narrow[0] == "**":
        return False
    return covers_name(wide[0], narrow[0]) and _covers_parts(wide[1:], narrow[1:])


def can_match_path(glob: str) -> bool:
    """Whether any path fits: those that are compared have no `..` in them."""
    parts = glob.split("/")
    if ".." not in parts or "{" in glob:
        return True
    if not glob.startswith(("/", "~/")):
        return False
    # The beginning of an absolute glob is looked up on the disk, up to the first wildcard.
    wild = next((at for at, part in enumerate(parts) if not is_literal(part)), len(parts))
    return ".." not in parts[wild:]
