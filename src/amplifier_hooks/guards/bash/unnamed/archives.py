"""Archives: the names of their members, read by limits of size and time, never extracted."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from amplifier_hooks.guards.bash.unnamed.lookup import (
    NOTHING,
    Lookup,
    Search,
    Write,
    is_regular,
)
from amplifier_hooks.guards.bash.word import Word, split_names

_MOST_BYTES = 512 * 1024 * 1024
_MOST_IN_MEMORY = 16 * 1024 * 1024
_MOST_MEMBERS = 100_000
_TARS = split_names("tar gtar bsdtar")
_SEVEN = split_names("7z 7za 7zr 7zz")
_FOLDERS = (("-C", "--directory"), ("-d", "--extract-dir"), ("-o", "--output-dir"))
_FILES = (("-f", "--file"),)
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    RecursionError,
)


class TooMuch(Exception):
    """An archive is too large to be looked at to its end."""


def find_extracted(search: Search) -> Lookup:
    """`tar x`, `unzip`, `jar x`, `7z x`, `python -m tarfile -e`, each with what is in the file."""
    if not _extracts(search):
        return NOTHING
    command = search.command
    values = search.list_values(*_FILES)
    words = [*command.arguments, *values, *search.list_inputs()]
    folders = [search.base, *_list_folders(search)]
    strip = _read_strip(search)
    found = NOTHING
    for path in dict.fromkeys(search.find_all(words)):
        if not is_regular(path):
            continue
        writes: list[Write] = []
        try:
            for name, is_link in _list_members(path, search.deadline):
                inner = _shorten(name, strip)
                if inner and (is_link or search.wanted(inner) or search.wanted(name)):
                    writes += [Write(folder / inner, is_link) for folder in folders]
                    writes += _flatten(search, folders, inner)
        except TooMuch:
            why = f"{path.name} has too much in it to be looked at"
            found = found.join(Lookup(doubts=frozenset({why})))
        found = found.join(search.collect(writes))
    return found


def _extracts(search: Search) -> bool:
    command = search.command
    name, flags = command.name or "", command.flags
    first = (command.arguments[0].value if command.arguments else None) or ""
    if name in _TARS:
        return not flags.isdisjoint({"-x", "--extract", "--get"})
    if name == "unzip":
        return flags.isdisjoint({"-l", "-t", "-p", "-Z", "-v", "-z"})
    if name == "jar":
        return first.lstrip("-").startswith("x") or not flags.isdisjoint({"-x", "--extract"})
    if name in _SEVEN:
        return first in {"x", "e"}
    if name.startswith(("python", "pypy")):
        words = {word.value for word in command.words}
        module = not words.isdisjoint({"tarfile", "zipfile", "-mtarfile", "-mzipfile"})
        return module and not flags.isdisjoint({"-e", "--extract"})
    return False


def _list_folders(search: Search) -> list[Path]:
    """Where it may extract to: what options name, and folders among its words."""
    named = search.find_all(search.list_values(*_FOLDERS))
    words: list[Word] = list(search.command.arguments)
    last = search.find_all(words[-1:]) if len(words) > 1 else []
    return [path for path in (*named, *last) if not path.is_file()]


def _read_strip(search: Search) -> int:
    values = search.list_values(("--", "--strip-components"), ("--", "--strip-path"))
    number = next((word.value for word in values if word.value and word.value.isdigit()), "0")
    return int(number)


def _shorten(name: str, strip: int) -> str:
    parts = [part for part in name.replace("\0", "").split("/") if part not in {"", "."}]
    return "/".join(parts[strip:])


def _flatten(search: Search, folders: list[Path], name: str) -> Iterator[Write]:
    """`unzip -j` and `7z e` leave the folders out."""
    flat = search.command.name in _SEVEN or "-j" in search.command.flags
    if flat:
        yield from (Write(folder / name.rpartition("/")[2]) for folder in folders)


def _list_members(path: Path, deadline: float) -> Iterator[tuple[str, bool]]:
    """The names in an archive, and whether each is a link; of no archive, none."""
    try:
        with path.open("rb") as file:
            magic = file.read(6)
        if magic.startswith(b"PK"):
            yield from _list_zip(path)
        else:
            yield from _list_tar(path, magic, deadline)
    except _BROKEN:  # what cannot be read here was not written for tar or zip, or is cut off
        return


def _list_zip(path: Path) -> Iterator[tuple[str, bool]]:
    if path.stat().st_size > _MOST_BYTES:
        raise TooMuch
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            yield info.filename, stat.S_ISLNK(info.external_attr >> 16)


def _list_tar(path: Path, magic: bytes, deadline: float) -> Iterator[tuple[str, bool]]:
    limited = _Limited(_open(path, magic), deadline)
    with limited, tarfile.open(fileobj=limited, mode="r|") as archive:
        for count, member in enumerate(archive):
            if count > _MOST_MEMBERS:
                raise TooMuch
            yield member.name, member.issym()


def _open(path: Path, magic: bytes) -> io.BufferedIOBase:
    if magic.startswith(b"\x1f\x8b"):
        return gzip.open(path, "rb")
    if magic.startswith(b"BZh"):
        return bz2.open(path, "rb")
    if magic.startswith(b"\xfd7zXZ"):
        return lzma.open(path, "rb")
    return path.open("rb")


class _Limited(io.RawIOBase):
    """A file that ends the reading after so many bytes, or at the deadline."""

    def __init__(self, file: io.BufferedIOBase, deadline: float) -> None:
        super().__init__()
        self._file = file
        self._deadline = deadline
        self._left = _MOST_BYTES

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes."""
        self._left -= size
        if not 0 <= size <= _MOST_IN_MEMORY or self._left < 0:
            raise TooMuch
        if time.monotonic() > self._deadline:
            raise TooMuch
        return self._file.read(size)

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()
