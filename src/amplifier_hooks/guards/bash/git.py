"""Git: what a command asks of it, reading a hostile repository, and the files it would write."""

from __future__ import annotations

import hashlib
import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from amplifier_hooks.guards.bash.commands import Command
from amplifier_hooks.guards.bash.file_lookup import NOTHING, Lookup, Search, Wanted, Write
from amplifier_hooks.guards.bash.words import Word, split_names

_VALUED = split_names(
    "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source"
)


@dataclass(frozen=True, slots=True)
class GitCall:
    """The subcommand with its own words, and the folders that `-C` names, in their order."""

    subcommand: str
    own: Command
    folders: tuple[Word, ...] = ()
    elsewhere: bool = False
    """Whether it is about a repository or a working tree that options name."""

    def has(self, *flags: str) -> bool:
        """Whether one of these options is among those of the subcommand."""
        return not self.own.flags.isdisjoint(flags)


def read_git(command: Command) -> GitCall | None:
    """What git is asked to do; None if it is another program, or only running it would tell."""
    if command.name != "git":
        return None
    words = list(command.words)
    folders: list[Word] = []
    elsewhere = False
    while words and words[0].is_flag:
        flag = words.pop(0).value or ""
        elsewhere = elsewhere or flag.startswith(("--git-dir", "--work-tree"))
        if flag in _VALUED and words:
            value = words.pop(0)
            folders += [value] if flag == "-C" else []
    if not words or words[0].value is None:
        return None
    own = Command(words[0].value, tuple(words[1:]))
    return GitCall(words[0].value, own, tuple(folders), elsewhere)


Tree = dict[str, tuple[str, str]]
"""Files by their path from the top, each with its mode and the name of its content."""

_MOST_BYTES = 128 * 1024 * 1024
_MOST_CONTENT = 16 * 1024 * 1024
_OFF = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "protocol.allow=never")
_FOLLOWING = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
_INDEX = ":"


class GitReader:
    """A repository as git itself reads it."""

    def __init__(self, program: str, folder: Path, deadline: float) -> None:
        self._program = program
        self._deadline = deadline
        self._revisions: dict[str, str] = {}
        self.folder = folder
        self.top = folder
        self.late = False
        """Whether something is not known because the time was over."""

    def open(self) -> bool:
        """Whether there is a repository with a working tree."""
        top = self._run("rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape")
        self.top = Path(top.rstrip("\n") or self.folder)
        return bool(top)

    def find_revision(self, name: str) -> str:
        """The commit or tree that a name means, also on a remote; else an empty text."""
        if name not in self._revisions:
            self._revisions[name] = self._find_revision(name)
        return self._revisions[name]

    def _find_revision(self, name: str) -> str:
        if not name or name.startswith("-") or "\0" in name:
            return ""
        return self.find_commit(name) or self.find_commit(f"refs/remotes/origin/{name}")

    def find_commit(self, name: str) -> str:
        """What exactly this name means."""
        found = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        return found.decode("ascii", "replace").strip()

    def find_fork(self, commit: str) -> str:
        """The commit that HEAD and another one have in common."""
        return self._run("merge-base", "HEAD", commit).decode("ascii", "replace").split("\n")[0]

    def read_tree(self, source: str, wanted: Wanted) -> Tree:
        """The files of a commit, a tree or the index that are of interest."""
        if source == _INDEX:
            listed = self._run("ls-files", "--stage", "-z", "--full-name", cwd=self.top)
        else:
            listed = self._run("ls-tree", "-r", "-z", "--full-tree", source)
        return {path: facts for path, facts in _list_entries(listed) if wanted(path)}

    def _run(self, *words: str, cwd: Path | None = None) -> bytes:
        """What git prints; nothing if it fails, takes too long, or prints too much."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            self.late = True
            return b""
        settings = [part for one in _OFF for part in ("-c", one)]
        command = [self._program, "--no-pager", *settings, *words]
        try:
            with subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=cwd or self.folder,
                env=_build_environment(),
            ) as process:
                printed = _read_until(process, self._deadline)
        except (OSError, ValueError, subprocess.SubprocessError):
            self.late = True
            return b""
        if printed is None:
            self.late = True
            return b""
        return printed if process.returncode == 0 else b""


def _read_until(process: subprocess.Popen[bytes], deadline: float) -> bytes | None:
    """All that it prints; None if that is too much, or takes too long, and it was ended."""
    output = process.stdout
    assert output is not None
    parts: list[bytes] = []
    left = _MOST_BYTES
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while left > 0 and selector.select(max(deadline - time.monotonic(), 0.0)):
            part = os.read(output.fileno(), 1 << 16)
            if not part:
                process.wait(max(deadline - time.monotonic(), 1.0))
                return b"".join(parts)
            parts.append(part)
            left -= len(part)
    process.kill()
    return None


def open_repository(folder: Path, deadline: float) -> GitReader | None:
    """The repository around a folder, if there is one and there is a git to read it with."""
    if not any(os.path.lexists(one / ".git") for one in (folder, *folder.parents)):
        return None
    program = shutil.which("git")
    if program is None or Path(os.path.realpath(program)).is_relative_to(folder):
        return None  # a program of the project is not started
    reader = GitReader(os.path.abspath(program), folder, deadline)  # noqa: PTH100
    return reader if reader.open() or reader.late else None


def compute_blob(path: Path, like: str) -> str:
    """What git would call the content of a file, in the form of another such name."""
    try:
        if path.is_symlink():
            content = os.fsencode(path.readlink())
        elif not path.is_file() or path.stat().st_size > _MOST_CONTENT:
            return "" if not path.exists() else "?"
        else:
            content = path.read_bytes()
    except (OSError, ValueError):
        return ""
    digest = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return digest(b"blob %d\0" % len(content) + content).hexdigest()


def _list_entries(listed: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    for line in listed.split(b"\0"):
        facts, tab, path = line.partition(b"\t")
        parts = facts.decode("ascii", "replace").split(" ")
        if tab and len(parts) == 3:
            # ls-tree: mode, type, object; ls-files: mode, object, stage
            blob = parts[2] if parts[1] in {"blob", "commit", "tree"} else parts[1]
            yield path.decode("utf-8", "surrogateescape"), (parts[0], blob)


def _build_environment() -> dict[str, str]:
    """Ours, without what would point git elsewhere or make it trace, ask or fetch."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return {**kept, **_FOLLOWING, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


Since = Literal["", "HEAD", "fork", "parent"]
"""Compared with what a commit is brought in: nothing, HEAD, where both part, the commit before."""

_UPSTREAM = "@{upstream}"
_STASH = "refs/stash"
_PREVIOUS = "@{-1}"
_FORCED = ("-f", "--force", "--discard-changes")
_MAKERS = split_names("commit-tree hash-object mktree write-tree update-ref fast-import unbundle")
_MOVERS = frozenset({"switch", "merge", "checkout", "rebase", "read-tree", "reset"})
_REFERRING = split_names("branch fetch read-tree reset symbolic-ref tag")
"""What makes a name, HEAD or the index mean something else for the commands behind it."""
_UNPACKING = split_names("bsdtar bsdunzip cpio gtar pax tar unzip")
_TAKE_PATHS = frozenset({"archive", "checkout", "restore", "checkout-index", "stash"})
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
    "archive": _Way("HEAD"),
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
    if call.subcommand == "archive" and not any(one.name in _UNPACKING for one in search.script):
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
    if call.subcommand == "sparse-checkout":
        return words[:1] != ["list"]
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
        referred = self._list_referred()
        named = revisions or paths or referred
        if self._call.subcommand in {"checkout", "restore"} and not named:
            return NOTHING  # nothing is named that it could write
        sources = revisions or self._resolve(self._get_default())
        sources = list(dict.fromkeys([*sources, *referred]))
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

    def _list_referred(self) -> list[str]:
        """`git fetch . x:new && git switch new`: what names may mean by then."""
        calls = [call for call in map(read_git, self._search.script) if call is not None]
        own = [call for call in calls if call.subcommand in _REFERRING and call != self._call]
        parts = [
            part.lstrip("+")
            for call in own
            for word in call.own.operands[:_MOST_WORDS]
            for part in (word.value or "").split(":")
        ]
        return [one for part in dict.fromkeys(parts) if part for one in self._resolve(part)]

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
        if text == "-":
            text = _PREVIOUS
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
        if self._call.subcommand == "sparse-checkout":
            before, after = after, {}  # which of them it leaves out, its patterns say
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
    if remote == ".":
        return words[1:]
    names = [f"{remote}/{branch.rpartition(':')[0] or branch}" for branch in branches]
    return [Word(name, name) for name in names]
