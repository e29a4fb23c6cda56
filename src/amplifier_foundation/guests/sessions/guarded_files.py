"""The files by which agents are guarded: none of their tools may change them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from amplifier_foundation.machine.user import find_data_home


def list_installed(start: Path) -> Sequence[Path]:
    """The settings of all agents, and everything that we keep.

    An absolute path is itself, and everything below it if it ends in two stars; a relative one
    counts at any depth, so that an agent cannot prepare a folder for the next one either.
    """
    # Only the resident process needs what installing is made of.
    from amplifier_foundation.guests.installing.places import (
        find_root,
        list_guarded_files,
        list_guarded_names,
    )

    roots = dict.fromkeys((start, find_root(start)[0]))
    found = [path for root in roots for path in list_guarded_files(root)]
    kept = find_data_home() / "amplifier" / "**"
    return list(dict.fromkeys([*found, *_list_recorded(), *list_guarded_names(), kept]))


def _list_recorded() -> Iterator[Path]:
    """Settings of a person that are elsewhere, because a variable said so at the installation."""
    from amplifier_foundation.guests.installing.places import list_beside
    from amplifier_foundation.guests.installing.record import Records

    for record in Records().list():
        if record.scope == "user":
            yield from list_beside(record.agent, Path(record.path))
