"""A text file on disk: read within limits, replaced in one step."""

from __future__ import annotations

import os
import re
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path

from amplifier_core.utils.text import find_closest
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.roots import Place, open_file, open_parent, require_regular
from amplifier_hooks.machine.files import replace_file

_LINES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new text, how often the passage was replaced, and where first (line, from 1)."""

    text: str
    count: int
    line: int


def replace_passage(text: str, old: str, new: str, *, replace_all: bool) -> Replaced:
    """Replace the one occurrence of `old`, or all of them when that is asked for."""
    if not old:
        raise Refused("old_string is empty; to create a file or replace all of it, use Write")
    if old == new:
        raise Refused("old_string and new_string are the same; nothing would change")
    old, new = _adapt_line_ends(text, old, new)
    count = text.count(old)
    if count == 0:
        raise Refused(f"old_string was not found{_hint_at_whitespace(text, old)}")
    if count > 1 and not replace_all:
        raise Refused(
            f"old_string was found {count} times (lines {_list_lines(text, old)}); add surrounding "
            "lines until it is unique, or set replace_all"
        )
    return Replaced(text.replace(old, new), count, _find_line(text, text.index(old)))


def _find_line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _adapt_line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    """The agent writes line feeds; a file with carriage returns keeps them."""
    if "\r\n" not in text or "\r" in old:
        return old, new
    # Some line feeds may be bare: those that are left when the pairs are taken out.
    if "\n" in old and old in text.replace("\r\n", "\r"):
        return old, new
    return old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")


def _list_lines(text: str, old: str) -> str:
    found: list[str] = []
    position = text.find(old)
    while position >= 0 and len(found) < _LINES_SHOWN:
        found.append(str(_find_line(text, position)))
        position = text.find(old, position + len(old))
    return ", ".join(found) + (", …" if position >= 0 else "")


def _hint_at_whitespace(text: str, old: str) -> str:
    """Where the words stand, if only the space between them differs."""
    words = old.split()
    if not words:
        return "; it is only white space"
    loose = re.search(r"\s+".join(map(re.escape, words)), text)
    if loose is None:
        return "; read the file again and copy the passage exactly, without line numbers"
    return f"; line {_find_line(text, loose.start())} has the same words with other white space"


_SNIFF = 8192
_guard = threading.Lock()
_locks: weakref.WeakValueDictionary[str, threading.Lock] = weakref.WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file as they were at one moment; `complete` when there are no more."""

    data: bytes
    info: os.stat_result

    @property
    def complete(self) -> bool:
        """Whether this is all of the file."""
        return len(self.data) == self.info.st_size

    @property
    def version(self) -> tuple[int, int, int]:
        """What changes when the file does."""
        return self.info.st_ino, self.info.st_mtime_ns, self.info.st_size


def get_lock(place: Place) -> threading.Lock:
    """One lock for each file of this process, so that parallel edits lose nothing."""
    with _guard:
        return _locks.setdefault(str(place.path), threading.Lock())


def load(place: Place, limit: int) -> Content:
    """The first `limit` bytes of a text file."""
    try:
        with open_parent(place) as (parent, name):
            descriptor = open_file(name, parent, place.asked, place)
    except FileNotFoundError as missing:
        raise Refused(f"No file {place.asked!r}{_suggest_name(place)}") from missing
    with os.fdopen(descriptor, "rb") as file:
        content = Content(file.read(limit), os.fstat(descriptor))
    _refuse_binary(place, content)
    return content


def load_whole(place: Place, limit: int) -> Content:
    """A file small enough to be changed as a whole."""
    content = load(place, limit)
    if not content.complete:
        raise Refused(
            f"{place.asked!r} has {content.info.st_size:,} bytes, over the limit of {limit:,}; "
            "change it with Bash (sed, a script)"
        )
    return content


def decode(place: Place, content: Content) -> str:
    """The text, only if writing it back would change nothing else."""
    try:
        return content.data.decode()
    except UnicodeDecodeError as wrong:
        raise Refused(f"{place.asked!r} is not UTF-8 ({wrong}); editing would damage it") from wrong


def encode(place: Place, text: str) -> bytes:
    """The bytes to write."""
    try:
        return text.encode()
    except UnicodeEncodeError as wrong:
        raise Refused(f"The text for {place.asked!r} cannot be UTF-8: {wrong}") from wrong


def replace(place: Place, data: bytes, seen: Content | None = None) -> bool:
    """Put `data` in the file's place in one step, keeping its mode; whether the file is new.

    With `seen`, only if the file is still the one that was read.
    """
    with open_parent(place, create=True) as (parent, name):
        old = _inspect(place, name, parent)
        if seen is not None and (old is None or Content(b"", old).version != seen.version):
            raise Refused(f"{place.asked!r} changed while it was being edited; read it again")
        mode = None if old is None else old.st_mode & 0o7777
        owner = None if old is None else (old.st_uid, old.st_gid)
        replace_file(name, data, mode=mode, owner=owner, dir_fd=parent)
    return old is None


def _inspect(place: Place, name: str, parent: int) -> os.stat_result | None:
    """What stands there, if anything does; a refusal if it must not be replaced."""
    try:
        info = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    require_regular(info, place.asked)
    place.check(info)
    if not info.st_mode & 0o222:
        raise Refused(f"{place.asked!r} is read-only; change its mode first if that is meant")
    return info


def _refuse_binary(place: Place, content: Content) -> None:
    if b"\0" in content.data[:_SNIFF]:
        raise Refused(
            f"{place.asked!r} is a binary file of {content.info.st_size:,} bytes, not text; "
            "look at it with Bash (file, xxd) if need be"
        )


def _suggest_name(place: Place) -> str:
    """A hint at a name in the same directory that is nearly the same."""
    directory: Path = place.path.parent
    try:
        names = [entry.name for entry in directory.iterdir()]
    except OSError:
        return f"; the directory {str(directory)!r} cannot be listed or does not exist"
    near = find_closest(place.path.name, names)
    return f"; did you mean {str(directory / near)!r}?" if near else ""
