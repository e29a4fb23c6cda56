"""Reading a repository that may be hostile, with git commands that only look at objects.

`rev-parse`, `merge-base`, `ls-tree` and `ls-files` start no hook, no file system monitor, no
filter and no text conversion. What could make them fetch a missing object is switched off.
"""

from __future__ import annotations

import hashlib
import os
import selectors
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from amplifier_hooks.guards.bash.unnamed.lookup import Wanted

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
