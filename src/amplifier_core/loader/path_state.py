"""The state of the path that packages are imported from: while it is the same, so is what is found.

Looking along the path takes milliseconds, and sessions start all the time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from typing import NamedTuple

SETTLED = 2_000_000_000
"""After so many nanoseconds, a change has another time than the one before on any disk."""

Stamp = tuple[int, int, int, int] | None
"""Which file or folder it is, its time and its size; None if there is nothing."""


class PathState(NamedTuple):
    """Who looks for packages, and the folders and files that they look at, as they were."""

    finders: tuple[object, ...]
    places: tuple[tuple[str, Stamp], ...]

    def is_settled(self) -> bool:
        """Whether any change from now on will make another state of it."""
        latest = max((stamp[2] for _, stamp in self.places if stamp is not None), default=0)
        return time.time_ns() - latest > SETTLED


def read_path_state(files: Iterable[str] = ()) -> PathState:
    """The state as it is now; what comes into a folder of the path, or goes, changes the folder.

    Name the `files` that are read beside, as those can be changed in their place.
    """
    places = [(folder, _read_stamp(folder or ".")) for folder in sys.path]
    places += [(file, _read_stamp(file)) for file in files]
    return PathState(tuple(sys.meta_path), tuple(places))


def _read_stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)  # noqa: PTH116 - no Path is made for each folder and session
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
