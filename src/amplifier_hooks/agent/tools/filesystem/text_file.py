"""A text file on disk: read within limits, replaced in one step."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path

from amplifier_core.utils.suggest import find_closest
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.roots import Place, open_file, open_parent, require_regular
from amplifier_hooks.machine.files import replace_file

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
