"""Which trails are meant: by folder, by the start of an id, by a session's name, or all of here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from amplifier_audit.log_directory import AuditDirectory
from amplifier_hooks.agent.session.inspection.trails import (
    Trail,
    find_trail_origin,
    list_roots,
    list_trails,
)
from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.agent.session.self_test import is_self_test

_DEEPEST = 3
"""Folders below each other in which trails are found: PERSON/audit/TRAIL."""


class TrailNotFound(ValueError):
    """There is no such trail."""


def select_trails(
    names: Sequence[str] = (),
    *,
    folder: Path | None = None,
    everywhere: bool = False,
    self_tests: bool = False,
) -> list[Path]:
    """The trails that are named, or all of the sessions that worked in this folder, oldest first.

    A name is the directory of a log or of several, the start of a session's id, or its name. Trails
    of self-tests are among them if `self_tests`, or if they are named themselves.
    """
    if names:
        return list(dict.fromkeys(path for name in names for path in _find(name, self_tests)))
    found = [
        one
        for root in list_roots()
        for one in list_trails(root)
        if holds_log(one.path) and (self_tests or not is_self_test(one.path))
    ]
    found.sort(key=lambda trail: trail.updated)
    if everywhere:
        return [trail.path for trail in found]
    here = str((folder or Path.cwd()).absolute())
    return [
        one.path for one in found if (origin := find_trail_origin(one)) and origin.folder == here
    ]


def holds_log(path: Path) -> bool:
    """Whether a folder is the directory of a log."""
    directory = AuditDirectory(path)
    return bool(directory.list_segments() or directory.list_traces())


def _find(name: str, self_tests: bool) -> Iterable[Path]:
    path = Path(name)
    if path.is_file() or (path.is_dir() and holds_log(path)):
        return [path]
    if path.is_dir():
        if logs := list_logs_below(path):
            kept = [one.path for one in logs if self_tests or not is_self_test(one.path)]
            if kept:
                return kept
            raise TrailNotFound(f"There is no trail in {path} but those of self-tests")
        raise TrailNotFound(f"There is no trail in {path}")
    return [find_named_trail(name)]


def list_logs_below(folder: Path) -> list[Trail]:
    """The logs in a folder, oldest first, or in the folders below it: one for each person, say."""
    return sorted(_list_logs(folder, _DEEPEST), key=lambda trail: trail.updated)


def _list_logs(folder: Path, depth: int) -> Iterator[Trail]:
    for one in list_trails(folder):
        if holds_log(one.path):
            yield one
        elif depth > 1 and not one.path.is_symlink():
            yield from _list_logs(one.path, depth - 1)


def find_named_trail(name: str) -> Path:
    """The trail of a session, by the start of its id or by its name."""
    found = [one.path for root in list_roots() for one in list_trails(root)]
    exact = [path for path in found if path.name == name]
    begun = exact or [path for path in found if path.name.startswith(name)]
    named = begun or _find_by_session_name(name, found)
    if len(named) > 1:
        names = ", ".join(path.name for path in named[:5])
        raise TrailNotFound(f"Several trails begin with {name!r}: {names}")
    if not named:
        raise TrailNotFound(
            f"No trail {name!r}: name the directory of a log, the start of a session's id, or a "
            "session's name; amplifier audit list shows them"
        )
    return named[0]


def _find_by_session_name(name: str, found: Sequence[Path]) -> list[Path]:
    ids = [one.id for one in SessionStore().list() if one.name and one.name.lower() == name.lower()]
    return [path for path in found if path.name in ids][:1]
