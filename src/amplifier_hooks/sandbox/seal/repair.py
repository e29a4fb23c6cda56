"""Putting back what stood at a sealed place, through descriptors and without following a link."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from pathlib import Path

from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.sandbox.seal.copy import (
    ABSENT,
    Copy,
    Parts,
    SealError,
    is_changed,
)
from amplifier_hooks.sandbox.seal.reading import take_place

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def put_back(folder: int, before: Copy, parts: Parts) -> None:
    """Make one place below an open folder what it was; OSError if that cannot be."""
    with contextlib.ExitStack() as stack:
        for part in parts[:-1]:
            before = before.entries.get(part, ABSENT)
            below = _enter(folder, part, make=before.kind == "way")
            if below is None:
                return
            stack.callback(os.close, below)
            folder = below
        _put(folder, parts[-1], before.entries.get(parts[-1], ABSENT))


def make_writable(folder: int) -> None:
    """Undo a mode that would keep the owner from putting things back."""
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    if mode & 0o700 != 0o700:
        os.fchmod(folder, mode | 0o700)


def _enter(folder: int, name: str, *, make: bool) -> int | None:
    """A descriptor of a folder on the way; None if there is none and none is wanted."""
    try:
        below = _open_folder(folder, name)
    except FileNotFoundError:
        if not make:
            return None
        os.mkdir(name, dir_fd=folder)
        below = os.open(name, _FOLDER, dir_fd=folder)
    make_writable(below)
    return below


def _open_folder(folder: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except PermissionError:  # closed to its owner
        handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            # A descriptor of this kind has no fchmod.
            Path(f"/proc/self/fd/{handle}").chmod(0o700)
        finally:
            os.close(handle)
        return os.open(name, _FOLDER, dir_fd=folder)


def _put(folder: int, name: str, copy: Copy) -> None:
    if copy.kind in ("large", "other"):
        raise SealError(errno.EIO, f"{name!r} is too large or too odd to be put back")
    if copy.kind in ("folder", "way"):
        _put_folder(folder, name, copy)
    elif copy.kind == "file":
        if _is_folder(folder, name):
            _remove(folder, name)
        replace_file(name, copy.data, mode=copy.mode, owner=copy.owner, sync=False, dir_fd=folder)
    else:
        _remove(folder, name)
        if copy.kind == "link":
            os.symlink(os.fsdecode(copy.data), name, dir_fd=folder)


def _put_folder(folder: int, name: str, copy: Copy) -> None:
    inner = _open_or_make(folder, name)
    try:
        if copy.kind == "folder":
            make_writable(inner)
            with os.scandir(inner) as entries:
                extra = {entry.name for entry in entries} - copy.entries.keys()
            for one in extra:
                _remove(inner, one)
        for one, entry in copy.entries.items():
            if is_changed(entry, take_place(inner, one)):
                _put(inner, one, entry)
        if copy.kind == "folder":
            _dress(inner, copy)
    finally:
        os.close(inner)


def _open_or_make(folder: int, name: str) -> int:
    try:
        return _open_folder(folder, name)
    except OSError:  # gone, or a link or a file now
        _remove(folder, name)
        os.mkdir(name, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)


def _dress(folder: int, copy: Copy) -> None:
    with contextlib.suppress(PermissionError):  # only the superuser gives folders away
        os.fchown(folder, *copy.owner)
    os.fchmod(folder, copy.mode)


def _is_folder(folder: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _remove(folder: int, name: str) -> None:
    """Take away whatever has a name: at once, however much there is to delete."""
    aside = f".amplifier-removed-{secrets.token_hex(8)}"
    try:
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        return
    if _is_folder(folder, aside):
        shutil.rmtree(aside, ignore_errors=True, dir_fd=folder)
    else:
        os.unlink(aside, dir_fd=folder)
