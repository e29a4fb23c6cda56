"""One settings file on disk: read as text, and replaced as a whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from amplifier_core.errors import AmplifierError
from amplifier_hooks.machine.files import replace_file

_BOM = b"\xef\xbb\xbf"
_LARGEST = 8 * 1024 * 1024
_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class SettingsError(AmplifierError):
    """A settings file that cannot be read or written; nothing was changed."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file as it was when it was read. It need not exist, and may be a link to another."""

    path: Path
    """As the agent names it."""
    target: Path
    """Where the content is."""
    content: bytes | None
    mode: int | None

    @property
    def text(self) -> str:
        """What is in it, without the mark that some editors put first."""
        data = (self.content or b"").removeprefix(_BOM)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise SettingsError(
                f"{self.path}, line {line}: this is not UTF-8; save the file as UTF-8 first. "
                "Nothing was changed"
            ) from error

    def encode(self, text: str) -> bytes:
        """A new text, with the first mark if the file had one."""
        mark = _BOM if (self.content or b"").startswith(_BOM) else b""
        return mark + text.encode("utf-8")


def read_settings(path: Path) -> SettingsFile:
    """The file at a path, through links; SettingsError if something else is there."""
    target = Path(os.path.realpath(path))
    try:
        # Opened first, without waiting: somebody may put a pipe there after a look at it.
        descriptor = os.open(target, _READING)
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                raise SettingsError(f"{path} is not a regular file; nothing was changed")
            if facts.st_size > _LARGEST:
                raise SettingsError(f"{path} has {facts.st_size:,} bytes; nothing was changed")
            with open(descriptor, "rb", closefd=False) as opened:
                content = opened.read(_LARGEST)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return SettingsFile(path, target, None, None)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}") from error
    return SettingsFile(path, target, content, stat.S_IMODE(facts.st_mode))


def write_settings(file: SettingsFile, content: bytes, mode: int | None) -> None:
    """Put new content into a file that is still as it was read, and the folders it needs."""
    _check_unchanged(file)
    missing = list_missing_folders(file.target)
    try:
        file.target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file.target, content, mode=mode)
    except OSError as error:
        remove_folders(missing)
        raise SettingsError(
            f"{file.path} cannot be written: {error.strerror or error}; nothing was changed"
        ) from error


def delete_settings(file: SettingsFile) -> None:
    """Remove a file that is still as it was read."""
    _check_unchanged(file)
    try:
        file.target.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{file.path} cannot be removed: {error.strerror or error}") from error


def list_missing_folders(path: Path) -> list[Path]:
    """The folders that writing a file would have to make, the outer ones first."""
    return [one for one in reversed(path.parents) if not one.exists()]


def remove_folders(folders: Iterable[Path]) -> None:
    """Remove folders that we made, the inner ones first, as far as they are empty."""
    for folder in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        try:
            folder.rmdir()
        except OSError:
            return


def _check_unchanged(file: SettingsFile) -> None:
    if read_settings(file.path).content != file.content:
        raise SettingsError(f"{file.path} has just been changed by somebody else; try again")
