"""Files that a command would write without naming them, found by looking, never by running it.

Copies of folders, members of archives, what a patch names, what git takes out of a commit or its
index. Everything looked at may be hostile: it is read with limits, and nothing in it is run.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from amplifier_hooks.guards.bash.commands import Command, find_values
from amplifier_hooks.guards.bash.file_lookup import (
    NOTHING,
    Lookup,
    Search,
    Wanted,
    Write,
    is_regular,
    list_below,
)
from amplifier_hooks.guards.bash.git import find_git_writes, read_git
from amplifier_hooks.guards.bash.words import Word, is_remote, split_names

_MOST_BYTES = 512 * 1024 * 1024
_MOST_IN_MEMORY = 16 * 1024 * 1024
_MOST_MEMBERS = 100_000
_TARS = split_names("tar gtar bsdtar")
_SEVEN = split_names("7z 7za 7zr 7zz")
_ALWAYS_EXTRACT = split_names("atool aunpack bsdunzip dtrx unar unp")
_CPIO = (b"070701", b"070702")
_EXTRACT_BY_OPTION: dict[str, frozenset[str]] = {
    **dict.fromkeys(_TARS, frozenset({"-x", "--extract", "--get"})),
    **dict.fromkeys(("bsdcpio", "cpio"), frozenset({"-i", "--extract"})),
    "ditto": frozenset({"-x"}),
    "pax": frozenset({"-r"}),
}
_EXTRACT_BY_WORD: dict[str, frozenset[str]] = {
    **dict.fromkeys(_SEVEN, frozenset({"x", "e"})),
    "cmake": frozenset({"tar"}),
    "ouch": frozenset({"d", "decompress"}),
    "patool": frozenset({"extract"}),
}
_TARGET_OPTIONS = (("-C", "--directory"), ("-d", "--extract-dir"), ("-o", "--output-dir"))
_ARCHIVE_OPTIONS = (("-f", "--file"),)
_ARCHIVE_ERRORS = (
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
    values = search.list_values(*_ARCHIVE_OPTIONS)
    words = [*command.arguments, *values, *search.list_inputs(), *_list_piped(search)]
    folders = [search.base, *_list_folders(search)]
    strip = _read_strip(search)
    found = NOTHING
    for path in dict.fromkeys(search.find_all(words)):
        if not is_regular(path):
            continue
        writes: list[Write] = []
        try:
            for name, is_link in _list_members(path, search.deadline):
                inner = _strip_folders(name, strip)
                if inner and (is_link or search.wanted(inner) or search.wanted(name)):
                    writes += [Write(folder / inner, is_link) for folder in folders]
                    writes += _flatten(search, folders, inner)
        except TooMuch:
            why = f"{path.name} has too much in it to be looked at"
            found = found.join(Lookup(doubts=frozenset({why})))
        found = found.join(search.collect(writes))
    return found


def _list_piped(search: Search) -> Iterator[Word]:
    """`zcat x.tgz | tar x`: the archive is among what the commands of the pipe name."""
    if search.command.piped_from:
        for other in search.script:
            if other.name in search.command.piped_from:
                yield from other.arguments
                yield from (one.target for one in other.redirects if one.operator == "<")


def _extracts(search: Search) -> bool:
    command = search.command
    name = command.name or ""
    flags = command.flags
    first = (command.arguments[0].value if command.arguments else None) or ""
    if name in _EXTRACT_BY_OPTION:
        return not flags.isdisjoint(_EXTRACT_BY_OPTION[name])
    if name in _ALWAYS_EXTRACT:
        return True
    if name == "unzip":
        return flags.isdisjoint({"-l", "-t", "-p", "-Z", "-v", "-z"})
    if name == "jar":
        return first.lstrip("-").startswith("x") or not flags.isdisjoint({"-x", "--extract"})
    if name in _EXTRACT_BY_WORD:
        return not _EXTRACT_BY_WORD[name].isdisjoint(word.value for word in command.arguments)
    if name.startswith(("python", "pypy")):
        words = {word.value for word in command.words}
        module = not words.isdisjoint({"tarfile", "zipfile", "-mtarfile", "-mzipfile"})
        return module and not flags.isdisjoint({"-e", "--extract"})
    return False


def _list_folders(search: Search) -> list[Path]:
    """Where it may extract to: what options name, and folders among its words."""
    named = search.find_all(search.list_values(*_TARGET_OPTIONS))
    words: list[Word] = list(search.command.arguments)
    last = search.find_all(words[-1:]) if len(words) > 1 else []
    return [path for path in (*named, *last) if not path.is_file()]


def _read_strip(search: Search) -> int:
    values = search.list_values(("--", "--strip-components"), ("--", "--strip-path"))
    number = next((word.value for word in values if word.value and word.value.isdigit()), "0")
    return int(number)


def _strip_folders(name: str, strip: int) -> str:
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
        elif magic in _CPIO:
            yield from _list_cpio(path)
        else:
            yield from _list_tar(path, magic, deadline)
    except (
        _ARCHIVE_ERRORS
    ):  # what cannot be read here was not written for tar or zip, or is cut off
        return


def _list_zip(path: Path) -> Iterator[tuple[str, bool]]:
    if path.stat().st_size > _MOST_BYTES:
        raise TooMuch
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            yield info.filename, stat.S_ISLNK(info.external_attr >> 16)


def _list_cpio(path: Path) -> Iterator[tuple[str, bool]]:
    """In the form that `cpio -H newc` and packages have: numbers of eight hexadecimal digits."""
    with path.open("rb") as file:
        for _ in range(_MOST_MEMBERS):
            head = file.read(110)
            mode, size, length = (int(head[at : at + 8], 16) for at in (14, 54, 94))
            name = file.read(length)[:-1].decode("utf-8", "replace")
            if head[:6] not in _CPIO or name == "TRAILER!!!":
                return
            yield name, stat.S_ISLNK(mode)
            start = -(-file.tell() // 4) * 4
            file.seek(-(-(start + size) // 4) * 4)
    raise TooMuch


def _list_tar(path: Path, magic: bytes, deadline: float) -> Iterator[tuple[str, bool]]:
    limited = _Limited(_open_archive(path, magic), deadline)
    with limited, tarfile.open(fileobj=limited, mode="r|") as archive:
        for count, member in enumerate(archive):
            if count > _MOST_MEMBERS:
                raise TooMuch
            yield member.name, member.issym()


def _open_archive(path: Path, magic: bytes) -> io.BufferedIOBase:
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


_COPIERS = split_names("cp gcp mv gmv ln gln install ginstall rsync scp")
_INTO = ("-t", "--target-directory")
_DOWNLOADERS: dict[str, tuple[tuple[str, str], ...]] = {
    "curl": (("--", "--output-dir"),),
    "wget": (("-P", "--directory-prefix"),),
    "aria2c": (("-d", "--dir"),),
}


def find_copied(search: Search) -> Lookup:
    """`cp -r from/. to`: all that is in the folder, under the name that it has there."""
    command = search.command
    call = read_git(command)
    if command.name not in _COPIERS and (call is None or call.subcommand != "mv"):
        return NOTHING
    words = command.operands if call is None else call.own.operands
    into = search.list_values(_INTO)
    targets, sources = (into, words) if into else (words[-1:], words[:-1])
    if command.name in {"rsync", "scp"}:
        targets = [one for one in targets if not is_remote(one)]
    writes = (
        write
        for target in search.find_all(targets)
        for source in sources
        for path in search.find_paths(source)
        for write in _list_copies(path, target, source)
    )
    return search.collect(writes)


def _list_copies(source: Path, target: Path, written: Word) -> Iterator[Write]:
    is_link = source.is_symlink()
    yield Write(target, is_link)
    yield Write(target / source.name, is_link)
    if not Path(written.value or "").is_absolute():  # with --parents or -R
        yield Write(target / (written.value or ""), is_link)
    if source.is_dir():
        for below, linked in list_below(source):
            yield Write(target / below, linked)
            yield Write(target / source.name / below, linked)


def find_downloaded(search: Search) -> Lookup:
    """`curl -O` and `wget` name a file after the address."""
    options = _DOWNLOADERS.get(search.command.name or "")
    if options is None:
        return NOTHING
    folders = search.find_all(search.list_values(*options)) or [search.base]
    names = list(_list_download_names(search.command.arguments))
    return search.collect(Write(folder / name) for folder in folders for name in names)


def _list_download_names(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        try:
            path = urlsplit(word.value or "").path
        except ValueError:
            continue
        name = unquote(path).rstrip("/").rpartition("/")[2].replace("\0", "")
        if name and "://" in (word.value or ""):
            yield name


_READ_LIMIT = 8 * 1024 * 1024
_PATCHED_NAMES = re.compile(
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
    texts = [_read_patch(path) for path in search.find_all(words) if is_regular(path)]
    given = search.command.stdin
    if given is not None and given.value:
        texts.append(given.value.encode("utf-8", "replace"))
    folders = [search.base, *search.find_all(search.list_values(("-d", "--directory")))]
    names = {name for text in texts for name in _list_patched_names(text)}
    return search.collect(Write(folder / name) for folder in folders for name in names)


def _read_patch(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_READ_LIMIT)
    except OSError:
        return b""


def _list_patched_names(text: bytes) -> Iterator[str]:
    for plain, both in _PATCHED_NAMES.findall(text):
        for name in [plain] if plain else both.split(b" "):
            parts = name.decode("utf-8", "replace").strip().strip('"').replace("\0", "").split("/")
            first = 1 if parts[0] in {"a", "b"} else 0
            yield from ("/".join(parts[at:]) for at in range(first, len(parts)))


_SCRIPTED = split_names(
    "sqlite3 psql mysql mariadb duckdb ed red ex vi vim nvim view emacs awk gawk mawk nawk sed "
    "gsed perl ruby node nodejs deno bun php lua tclsh osascript julia gdb lldb expect m4 gnuplot "
    "octave rscript r guile racket sbcl clojure scala swift raku elixir erl ocaml pwsh groovy gp "
    "bc redis-cli mongosh clickhouse-client cqlsh influx"
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


_LOADED = re.compile(r"--(?:env-?file|dotenv|from-env-file)[\w-]*=[^\s\"'`(]+$")
"""`node --env-file=.env`, which only reads it."""


def _list_parts(command: Command, *, renames: bool) -> Iterator[str]:
    words: Sequence[Word] = command.words
    if command.name in _ARCHIVERS:
        words = [word for one in _ARCHIVERS_RENAME for word in find_values(words, *one)]
    texts = [word.value for word in words if word.value and not _LOADED.match(word.value)]
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


_SECONDS = 4.0
_FINDERS: tuple[Callable[[Search], Lookup], ...] = (
    find_copied,
    find_downloaded,
    find_extracted,
    find_patched,
    find_git_writes,
    find_quoted,
)


def look_up_writes(
    commands: Sequence[Command],
    bases: Sequence[Path],
    home: Path,
    wanted: Wanted,
    script: Sequence[Command] = (),
) -> Lookup:
    """What commands would write, in each of the folders that they may run in.

    `wanted` tells from a path whether a file can be of interest at all. `script` are all commands
    of the script that these are part of.
    """
    found = NOTHING
    search = Search(
        Command(None), Path(), home, wanted, time.monotonic() + _SECONDS, script or commands
    )
    for command in commands:
        for base in bases:
            here = replace(search, command=command, base=base)
            for find in _FINDERS:
                found = found.join(find(here))
    return found
