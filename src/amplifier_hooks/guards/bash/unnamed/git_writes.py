"""What git would take out of a commit, its index or its stash, and put into the working tree."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from amplifier_hooks.guards.bash.git_call import GitCall, read_git
from amplifier_hooks.guards.bash.unnamed.git_reader import (
    GitReader,
    Tree,
    compute_blob,
    open_repository,
)
from amplifier_hooks.guards.bash.unnamed.lookup import NOTHING, Lookup, Search, Write
from amplifier_hooks.guards.bash.word import Word, split_names

Since = Literal["", "HEAD", "fork", "parent"]
"""Compared with what a commit is brought in: nothing, HEAD, where both part, the commit before."""

_INDEX = ":"
_UPSTREAM = "@{upstream}"
_STASH = "refs/stash"
_FORCED = ("-f", "--force", "--discard-changes")
_MAKERS = split_names("commit-tree hash-object mktree write-tree update-ref fast-import unbundle")
_MOVERS = frozenset({"switch", "merge", "checkout", "rebase", "read-tree", "reset"})
_TAKE_PATHS = frozenset({"checkout", "restore", "checkout-index", "stash"})
_MOST_WORDS = 20
_LINK = "120000"
_NEVER_REVISIONS = frozenset({"pop", "apply", "push", "save", "add", "start"})


@dataclass(frozen=True, slots=True)
class _Way:
    """How a subcommand writes: from where if it names no revision, and compared with what."""

    default: str = ""
    since: Since = ""
    reverse: bool = False


_WAYS: Mapping[str, _Way] = {
    "checkout": _Way(_INDEX, "HEAD"),
    "switch": _Way("", "HEAD"),
    "restore": _Way(_INDEX),
    "checkout-index": _Way(_INDEX),
    "sparse-checkout": _Way(_INDEX),
    "read-tree": _Way("HEAD"),
    "reset": _Way("HEAD"),
    "merge": _Way(_UPSTREAM, "fork"),
    "pull": _Way(_UPSTREAM, "fork"),
    "rebase": _Way(_UPSTREAM, "fork"),
    "cherry-pick": _Way("", "parent"),
    "revert": _Way("", "parent", reverse=True),
    "stash": _Way(_STASH, "parent"),
    "worktree": _Way("HEAD"),
    "bisect": _Way("", "HEAD"),
}


def find_git_writes(search: Search) -> Lookup:
    """The files whose content would be another one, or that would be gone."""
    call = read_git(search.command)
    if call is None:
        return NOTHING
    if call.subcommand == "update-index":
        return search.collect(_list_index_entries(search, call))
    way = _WAYS.get(call.subcommand)
    if way is None or not _writes_files(call):
        return NOTHING
    folder = _find_folder(search, call)
    repository = None if folder is None else open_repository(folder, search.deadline)
    if repository is None:
        return NOTHING
    found = _Comparison(search, call, way, repository).look_up()
    if repository.late:
        return found.join(
            Lookup(doubts=frozenset({"git took too long to tell what it would write"}))
        )
    return found


def _writes_files(call: GitCall) -> bool:
    words = [word.value for word in call.own.operands]
    if call.subcommand == "reset":
        return call.has("--hard", "--merge", "--keep")
    if call.subcommand == "restore":
        return not call.has("-S", "--staged") or call.has("-W", "--worktree")
    if call.subcommand == "worktree":
        return words[:1] == ["add"]
    if call.subcommand == "stash":
        return words[:1] not in (["list"], ["show"], ["drop"], ["clear"], ["create"], ["store"])
    return True


def _list_index_entries(search: Search, call: GitCall) -> Iterator[Write]:
    """`--cacheinfo mode,object,path`: the index is what a later `git checkout` writes."""
    for word in call.own.words:
        for part in (word.value or "").split(",")[-1:]:
            yield from (Write(path) for path in search.find_paths(Word(part, part)) if part)


def _find_folder(search: Search, call: GitCall) -> Path | None:
    """Where git runs; None if options name another repository, which the words do not tell."""
    folder = search.base
    for word in call.folders:
        if word.value is None:
            return None
        folder = next(iter(search.find_paths(word)), folder) if word.tilde else folder / word.value
    return None if call.elsewhere or not folder.is_dir() else folder


class _Comparison:
    """What one git command brings into a working tree, against what is there."""

    def __init__(self, search: Search, call: GitCall, way: _Way, repository: GitReader) -> None:
        self._search = search
        self._call = call
        self._way = way
        self._repository = repository

    def look_up(self) -> Lookup:
        """What is written to files of interest, and what cannot be known of it."""
        words = self._list_words()
        revisions = [one for word in words for one in self._resolve(word.value or "")]
        paths = self._list_paths(words)
        if self._call.subcommand in {"checkout", "restore"} and not revisions and not paths:
            return NOTHING  # nothing is named that it could write
        sources = revisions or self._resolve(self._get_default())
        overwrites = self._overwrites(revisions, paths)
        writes = [
            write
            for source in sources
            for write in self._compare(source, self._narrow(paths), overwrites=overwrites)
        ]
        found = self._search.collect(self._place(writes, words))
        return Lookup(found.writes, self._find_doubts(words, revisions))

    def _list_words(self) -> list[Word]:
        """Those that may be revisions or paths, before the dashes that only paths follow."""
        own = [word for word in self._call.own.words if word.value not in _NEVER_REVISIONS]
        dashes = next((n for n, word in enumerate(own) if word.value == "--"), len(own))
        words = [word for word in own[:dashes] if word.value and not word.is_flag]
        words += self._search.list_values(("-s", "--source"))
        if self._call.subcommand == "pull":
            return _join_remote(words)
        return words[:_MOST_WORDS]

    def _list_paths(self, words: list[Word]) -> list[Word]:
        behind = [word.value for word in self._call.own.words]
        start = behind.index("--") + 1 if "--" in behind else len(behind)
        here = [word for word in words if not self._resolve(word.value or "")]
        there = [word for word in here if word.glob or os.path.lexists(self._locate(word))]
        magic = [word for word in here if (word.value or "").startswith(":")]
        return [*there, *magic, *self._call.own.words[start:]]

    def _locate(self, word: Word) -> Path:
        return self._repository.folder / (word.value or "").replace("\0", "")

    def _get_default(self) -> str:
        if self._call.subcommand == "stash" and not self._takes_stash():
            return "HEAD"  # what is stashed goes back to it
        return self._way.default

    def _takes_stash(self) -> bool:
        first = next((word.value for word in self._call.own.operands), None)
        return first in {"pop", "apply", "branch"}

    def _resolve(self, text: str) -> list[str]:
        """The commit or tree that a word means; the index is one of them."""
        if text == _INDEX:
            return [_INDEX]
        last = text.replace("...", "..").rpartition("..")[2]
        found = self._repository.find_revision(last)
        return [found] if found else []

    def _find_doubts(self, words: list[Word], revisions: list[str]) -> frozenset[str]:
        if self._call.subcommand == "pull" and not revisions:
            remote = next((w.value or "" for w in self._call.own.operands), "")
            unknown = "/" in remote or ":" in remote
            return frozenset({f"git brings files from {remote}, unseen"} if unknown else ())
        creates = self._call.has("-b", "-c", "-B", "-C", "--create", "--orphan")
        if revisions or creates or self._call.subcommand not in _MOVERS:
            return frozenset()
        named = any(not os.path.lexists(self._locate(word)) for word in words)
        calls = [call for call in map(read_git, self._search.script) if call is not None]
        if not named or not any(call.subcommand in _MAKERS for call in calls):
            return frozenset()
        return frozenset({"git writes files that the same command makes it know"})

    def _compare(
        self, source: str, narrowed: list[str] | None, *, overwrites: bool
    ) -> Iterator[Write]:
        before, after = self._read_both(source, overwrites=overwrites)
        for name in {*before, *after}:
            if before.get(name) == after.get(name) or not _is_named(name, narrowed):
                continue
            mode, blob = after.get(name, ("", ""))
            if blob != compute_blob(self._repository.top / name, blob):
                yield Write(Path(name), mode == _LINK)

    def _read_both(self, source: str, *, overwrites: bool) -> tuple[Tree, Tree]:
        """The files of interest before and after, as far as the command would change them."""
        read = self._read_tree
        after = read(source)
        if overwrites:
            removed = read("HEAD") if self._call.subcommand == "reset" else {}
            return dict.fromkeys({*removed, *after}, ("", "?")), after
        if self._call.subcommand == "stash":  # untracked files are a commit of their own
            after = {**after, **read(self._repository.find_revision(f"{source}^3"))}
        before = read(self._find_start(source))
        return (after, before) if self._way.reverse else (before, after)

    def _find_start(self, source: str) -> str:
        if self._way.since == "HEAD":
            return "HEAD"
        if self._way.since == "fork":
            return self._repository.find_fork(source)
        return self._repository.find_revision(f"{source}^1")

    def _overwrites(self, revisions: list[str], paths: list[Word]) -> bool:
        """Whether it takes files as they are, instead of moving on from HEAD."""
        if self._call.subcommand == "stash":
            return not self._takes_stash()
        if self._call.subcommand == "checkout" and (paths or not revisions):
            return True
        return self._way.since == "" or self._call.has(*_FORCED)

    def _read_tree(self, source: str) -> Tree:
        if not source:
            return {}
        return self._repository.read_tree(source, self._search.wanted)

    def _narrow(self, words: list[Word]) -> list[str] | None:
        """The paths that it is restricted to, relative to the top; None for no restriction."""
        if self._call.subcommand not in _TAKE_PATHS:
            return None
        found: list[str] = []
        for word in words:
            value = word.value or ":"
            if word.glob or value.startswith(":") or any(sign in value for sign in "*?["):
                return None
            path = os.path.normpath(self._locate(word))
            found.append(os.path.relpath(path, self._repository.top))
        return found or None

    def _place(self, writes: list[Write], words: list[Word]) -> Iterator[Write]:
        """`git worktree add` makes another folder; all others write where the files are."""
        folder = self._repository.top
        if self._call.subcommand == "worktree":
            named = [word for word in words if not self._resolve(word.value or "")]
            folder = self._locate(named[0]) if named else folder
        yield from (Write(folder / one.path, one.is_link) for one in writes)


def _is_named(name: str, narrowed: list[str] | None) -> bool:
    if narrowed is None:
        return True
    return any(one == "." or name == one or name.startswith(f"{one}/") for one in narrowed)


def _join_remote(words: list[Word]) -> list[Word]:
    """`git pull origin main` brings `origin/main`, as far as it is known here."""
    if len(words) < 2:
        return []
    remote, *branches = (word.value or "" for word in words)
    names = [f"{remote}/{branch.rpartition(':')[0] or branch}" for branch in branches]
    return [Word(name, name) for name in names]
