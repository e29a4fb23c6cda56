"""Files: read once as they were when first looked at, and written as a whole."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from amplifier_hooks.machine.locations import is_installed

MAX_FILE = 4_000_000
MAX_BYTES = 32_000_000
MAX_FILES = 2_000
MAX_NAMES = 100_000
_SKIPPED = frozenset({"__pycache__", "node_modules", "venv"})
_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class SnapshotError(OSError):
    """A file that cannot be part of a snapshot, or is none; the message says why."""


class Snapshot:
    """Bytes by path. Open, it reads what it does not have yet; sealed, it has what it has."""

    def __init__(self, kept: Mapping[Path, bytes] | None = None) -> None:
        self._kept: dict[Path, bytes] = dict(kept or {})
        self._size = sum(map(len, self._kept.values()))
        self._sealed = False
        self._governed: Path | None = None

    @property
    def files(self) -> Mapping[Path, bytes]:
        return self._kept

    def read(self, path: Path) -> bytes:
        """The bytes of a file, from the first reading."""
        path = normalize(path)
        if path not in self._kept:
            if self._sealed:
                raise SnapshotError(f"{path} was not there when a person allowed the rest")
            self._keep(path, read_regular(path))
        return self._kept[path]

    def _keep(self, path: Path, content: bytes) -> None:
        self._size += len(content)
        if len(self._kept) >= MAX_FILES or self._size > MAX_BYTES:
            limits = f"{MAX_FILES:,} files and {MAX_BYTES:,} bytes"
            raise SnapshotError(f"{path}: a bundle and what it runs may have {limits} together")
        self._kept[path] = content

    def read_tree(
        self, folder: Path, pattern: str = "*.py", wanted: Callable[[Path], bool] | None = None
    ) -> list[Path]:
        """Read the files of a folder and of those below it, without caches and hidden folders."""
        found = [normalize(path) for path in _list_tree(normalize(folder), pattern)]
        chosen = [path for path in found if wanted is None or wanted(path)]
        for path in chosen:
            self.read(path)
        return chosen

    def list_below(self, folder: Path) -> list[Path]:
        """What it has of a folder, or a file by itself; while it is open, what the disk has."""
        start = normalize(folder)
        if not self._sealed and start.is_dir():
            self.read_tree(start)
        elif not self._sealed and start.is_file():
            self.read(start)
        name, below = str(start), f"{start}/".replace("//", "/")
        # As texts: each module of a session asks several times, and parts of paths take long.
        return sorted(p for p in self._kept if str(p) == name or str(p).startswith(below))

    def seal(self) -> None:
        """Read nothing more."""
        self._sealed = True

    def govern(self, folder: Path | None) -> None:
        """Be the only way to what lies in a folder: nothing there is imported from the disk."""
        self._governed = folder

    @property
    def governed(self) -> Path | None:
        return self._governed

    def governs(self, path: Path) -> bool:
        """Whether a path may be used only as it is here."""
        return self._governed is not None and lies_in(path, self._governed)

    def copy(self) -> Snapshot:
        """Another snapshot with the same files, open."""
        return Snapshot(self._kept)

    def __contains__(self, path: Path) -> bool:
        return normalize(path) in self._kept


def normalize(path: Path) -> Path:
    """The absolute path without dots; symlinks stay, for what they led to is in the bytes."""
    return Path(os.path.normpath(path.expanduser().absolute()))


def lies_in(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, by its name or behind links, and is not installed there."""
    named = ((normalize(path), normalize(folder)), (path.resolve(), folder.resolve()))
    return any(one.is_relative_to(place) and not is_installed(one) for one, place in named)


def read_regular(path: Path) -> bytes:
    """The content of a regular file; never waits for a pipe, never reads a device."""
    descriptor = os.open(path, _READING)
    try:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(facts.st_mode):
            raise SnapshotError(f"{path} is not an ordinary file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(MAX_FILE + 1)
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)  # which the file object does not know
        raise
    finally:
        os.close(descriptor)
    if len(content) > MAX_FILE:
        size = max(facts.st_size, len(content))
        raise SnapshotError(f"{path} has {size:,} bytes; {MAX_FILE:,} at most")
    return content


def digest_files(files: Iterable[tuple[str, bytes]]) -> str:
    """One digest over names and contents."""
    # As JSON, in which no name can be taken for another line.
    rows = sorted((name, compute_digest(content)) for name, content in files)
    return compute_digest(json.dumps(rows).encode())


def compute_digest(content: bytes) -> str:
    """SHA-256, as hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _list_tree(folder: Path, pattern: str) -> list[Path]:
    found: list[Path] = []
    seen = 0
    for here, below, names in os.walk(folder):
        seen += len(below) + len(names)
        below[:] = sorted(n for n in below if n not in _SKIPPED and not n.startswith("."))
        found += [Path(here, name) for name in sorted(names) if Path(name).match(pattern)]
        if len(found) > MAX_FILES or seen > MAX_NAMES:
            limits = f"{MAX_FILES:,} files ({pattern}) or {MAX_NAMES:,} names"
            raise SnapshotError(f"{folder} has more than {limits}; name a smaller folder")
    return found


_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_file(
    path: str | Path,
    data: bytes,
    *,
    mode: int | None = None,
    owner: tuple[int, int] | None = None,
    sync: bool = True,
    dir_fd: int | None = None,
) -> None:
    """Put `data` in the file's place in one step; a failure leaves what was there.

    `mode` is exact; None means that of any new file. `owner` is a user and a group id, set if the
    process may. With `sync`, the content survives a power failure after the return. With `dir_fd`,
    the path is a name in that directory, even if the directory has been renamed.
    """
    path = Path(path)
    temporary = str(path.with_name(f".amplifier-{secrets.token_hex(8)}.tmp"))
    try:
        write_new_file(temporary, data, mode=mode, owner=owner, sync=sync, dir_fd=dir_fd)
        os.rename(temporary, path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=dir_fd)
        raise
    if sync:
        _sync_directory(path.parent, dir_fd)


def write_new_file(
    path: str | Path,
    data: bytes,
    *,
    mode: int | None = None,
    owner: tuple[int, int] | None = None,
    sync: bool = True,
    dir_fd: int | None = None,
) -> None:
    """Write a file that does not exist yet; FileExistsError if it does, even as a symlink."""
    # Private until it has its mode: nobody may read a secret in between.
    descriptor = os.open(path, _NEW_FILE, 0o666 if mode is None else 0o600, dir_fd=dir_fd)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        if owner is not None:
            with contextlib.suppress(PermissionError):  # only the superuser gives files away
                os.fchown(descriptor, *owner)
        if mode is not None:
            os.fchmod(descriptor, mode)
        file.flush()
        if sync:
            os.fsync(descriptor)


def _sync_directory(path: Path, dir_fd: int | None) -> None:
    """Make the new name durable, where the file system can."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)
