"""What stood at the sealed places of a folder before the commands that run now, kept on disk.

Two programs that work in one folder share it, so that neither takes for granted what a command
of the other has just changed. And when one is killed while its command runs, the next one finds
what was there before.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.machine.user import find_data_home
from amplifier_hooks.sandbox.seal.copy import ABSENT, Copy, Tree

_OPEN, _CLOSED = b"1", b"0"


class SealJournal:
    """The journal of one folder. All methods are called by one thread at a time."""

    def __init__(self, root: Path, home: Path | None = None) -> None:
        folder = _find_folder() if home is None else home
        name = _name_root(root)
        self._content = folder / f"{name}.json"
        self._lock = _open_lock(folder / f"{name}.lock")
        self._known: tuple[Tree, Copy, tuple[int, ...]] | None = None

    def begin(self) -> bool:
        """Join those who have commands running; whether there are no others."""
        alone = self._try_lock()
        if not alone:
            fcntl.flock(self._lock, fcntl.LOCK_SH)
        return alone

    def share(self) -> None:
        """After `begin` and `store`: let others join."""
        os.pwrite(self._lock, _OPEN, 0)
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def end(self) -> None:
        """Leave; the last one closes the journal."""
        if self._try_lock():
            os.pwrite(self._lock, _CLOSED, 0)
        fcntl.flock(self._lock, fcntl.LOCK_UN)

    def was_left_open(self) -> bool:
        """Whether the one who was last alone here died while a command ran."""
        return os.pread(self._lock, 1, 0) == _OPEN

    def load(self) -> tuple[Tree, Copy]:
        """What was stored last, by whomever; nothing if that cannot be read."""
        stamp = self._get_stamp()
        if self._known is None or self._known[2] != stamp:
            self._known = (*self._read(), stamp)
        return self._known[0], self._known[1]

    def store(self, tree: Tree, copy: Copy) -> None:
        """Keep this, unless it is what is there already."""
        if self.load() == (tree, copy):
            self._known = (tree, copy, self._get_stamp())
            return
        text = json.dumps({"tree": tree, "copy": _to_plain(copy)})
        replace_file(self._content, text.encode(), mode=0o600, sync=False)
        self._known = (tree, copy, self._get_stamp())

    def _read(self) -> tuple[Tree, Copy]:
        try:
            given = json.loads(self._content.read_bytes())
            return given["tree"], _from_plain(given["copy"])
        except (OSError, ValueError, KeyError, TypeError):
            return {}, ABSENT

    def _get_stamp(self) -> tuple[int, ...]:
        try:
            info = self._content.stat()
        except FileNotFoundError:
            return ()
        return info.st_ino, info.st_mtime_ns, info.st_size

    def _try_lock(self) -> bool:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _find_folder() -> Path:
    return find_data_home() / "amplifier" / "seals"


def _open_lock(path: Path) -> int:
    while True:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileNotFoundError):  # somebody has just removed an empty folder
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def forget_journal(root: Path) -> None:
    """Remove the journal of a folder that is gone for good, and what is empty without it."""
    folder = _find_folder()
    for path in folder.glob(f"{_name_root(root)}.*"):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        folder.rmdir()
        folder.parent.rmdir()


def _name_root(root: Path) -> str:
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:32]


def open_journal(root: Path) -> SealJournal | None:
    """The journal of a folder; None where our data cannot be written."""
    try:
        return SealJournal(root)
    except OSError:
        return None


def _to_plain(copy: Copy) -> dict[str, Any]:
    return dict(_iterate_fields(copy))


def _iterate_fields(copy: Copy) -> Iterator[tuple[str, Any]]:
    yield "kind", copy.kind
    yield "mode", copy.mode
    yield "owner", copy.owner
    yield "links", copy.links
    yield "data", base64.b64encode(copy.data).decode()
    yield "entries", {name: _to_plain(entry) for name, entry in copy.entries.items()}


def _from_plain(given: dict[str, Any]) -> Copy:
    return Copy(
        kind=given["kind"],
        mode=given["mode"],
        owner=(given["owner"][0], given["owner"][1]),
        links=given["links"],
        data=base64.b64decode(given["data"]),
        entries={name: _from_plain(entry) for name, entry in given["entries"].items()},
    )
