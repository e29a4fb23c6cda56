"""What files are, whatever they are called: device and number, hard links included."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

FileId = tuple[int, int]

_MOST_ENTRIES = 100_000


def get_identity(info: os.stat_result) -> FileId:
    """What no other file on the machine has while this one exists."""
    return info.st_dev, info.st_ino


class Identities:
    """Guarded places as they are on disk now. Files below them are looked at only when needed.

    A file has a second name only if its count of links says so; only then are the guarded
    folders searched for it. If those that `must_know` names are too large for that, it counts as
    found: better refused than let through unseen.
    """

    def __init__(self, places: Iterable[Path], *, must_know: Iterable[Path] = ()) -> None:
        self._places = tuple(places)
        self._must_know = frozenset(must_know)
        self._tops: dict[FileId, Path] | None = None
        self._files: dict[FileId, Path] | None = None
        self._unsure: Path | None = None

    def find(self, info: os.stat_result) -> Path | None:
        """The place that this is, or that holds another name of this file."""
        top = self._get_tops().get(get_identity(info))
        if top is not None or not stat.S_ISREG(info.st_mode) or info.st_nlink < 2:
            return top
        return self._get_files().get(get_identity(info), self._unsure)

    def _get_tops(self) -> dict[FileId, Path]:
        if self._tops is None:
            self._tops = dict(_identify_all(self._places))
        return self._tops

    def _get_files(self) -> dict[FileId, Path]:
        if self._files is None:
            self._files = {}
            for place in self._places:
                self._index(place, self._files)
        return self._files

    def _index(self, place: Path, files: dict[FileId, Path]) -> None:
        for count, identity in enumerate(_walk(place)):
            if count >= _MOST_ENTRIES:
                self._unsure = place if place in self._must_know else self._unsure
                return
            files[identity] = place


def _identify_all(places: Iterable[Path]) -> Iterator[tuple[FileId, Path]]:
    for place in places:
        try:
            yield get_identity(os.stat(place)), place  # noqa: PTH116
        except (OSError, ValueError):
            continue


def _walk(place: Path) -> Iterator[FileId]:
    """Every regular file below a place that has several names."""
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                info = os.lstat(f"{folder}/{name}")
            except OSError:
                continue
            if info.st_nlink > 1:
                yield get_identity(info)
