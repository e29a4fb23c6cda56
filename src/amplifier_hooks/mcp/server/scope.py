"""Whose sessions are shown: those of one folder, or all of this person."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


class TooWide(ValueError):
    """A folder that holds nearly everything, without a word that this is meant."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What belongs to a folder and to what lies below it; without a folder, everything."""

    folder: Path | None

    def covers(self, place: str) -> bool:
        """Whether a session that works there is shown; one that works nowhere known is not."""
        if self.folder is None:
            return True
        if not place or "\0" in place:
            return False
        return Path(os.path.realpath(place)).is_relative_to(self.folder)

    def __str__(self) -> str:
        return "all folders of this person" if self.folder is None else f"{self.folder} and below"


def choose_scope(folder: Path, *, everything: bool) -> Scope:
    """The scope of a server in a folder; TooWide if that holds the home of this person."""
    if everything:
        return Scope(None)
    real, home = Path(os.path.realpath(folder)), Path(os.path.realpath(Path.home()))
    if home.is_relative_to(real):
        raise TooWide(
            f"{real} holds every project of yours, and an agent that asks here would see the "
            "sessions of all. Start the server in a project, name one with --folder, or say --all"
        )
    return Scope(real)
