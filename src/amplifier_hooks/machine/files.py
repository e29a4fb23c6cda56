"""Writing files as a whole: a reader finds the old content or the new, never a part."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

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
