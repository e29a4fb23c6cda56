"""Copies and downloads: what keeps its own name in another folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from amplifier_hooks.guards.bash.git_call import read_git
from amplifier_hooks.guards.bash.unnamed.lookup import NOTHING, Lookup, Search, Write, list_below
from amplifier_hooks.guards.bash.word import Word, split_names

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
    names = list(_list_names(search.command.arguments))
    return search.collect(Write(folder / name) for folder in folders for name in names)


def _list_names(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        try:
            path = urlsplit(word.value or "").path
        except ValueError:
            continue
        name = unquote(path).rstrip("/").rpartition("/")[2].replace("\0", "")
        if name and "://" in (word.value or ""):
            yield name
