"""Saved sessions: one file each, replaced whole or not at all.

Where   $XDG_DATA_HOME/amplifier/sessions, by default ~/.local/share/amplifier/sessions
Format  first line: what a list shows; second line: the state; both JSON
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from amplifier_core.errors import SessionStateError
from amplifier_hooks.machine.files import replace_file
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.text.short_ids import shorten_id

FORMAT = 1
SUFFIX = ".session"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a list shows of a session; `damaged` says why it cannot be resumed."""

    id: str
    name: str = ""
    description: str = ""
    created: str = ""
    updated: str = ""
    turns: int = 0
    messages: int = 0
    tokens: int = 0
    working_dir: str = ""
    bundle: str = ""
    damaged: str = ""


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A session that can be resumed; `plan` is what its bundle held, if that was kept."""

    info: SessionInfo
    state: dict[str, Any]
    plan: dict[str, Any] = field(default_factory=dict)


def _format_now() -> str:
    """The current time as it is saved."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class SessionStore:
    """Saves, finds, lists and deletes sessions in one folder."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root if root is not None else find_data_home() / "amplifier" / "sessions"

    def save(
        self, info: SessionInfo, state: Mapping[str, Any], plan: Mapping[str, Any] | None = None
    ) -> SessionInfo:
        """Write a session atomically; one that was saved before keeps its time of creation."""
        path = self._get_path(info.id)
        created = info.created or (self._read_info(path).created if path.exists() else "")
        now = _format_now()
        kept = replace(info, created=created or now, updated=now, damaged="")
        head = {**_write_head(kept), "plan": dict(plan or {})}
        self._write(path, f"{_to_line(head)}\n{_to_line(dict(state))}\n")
        return kept

    def load(self, wanted: str) -> SavedSession:
        """A session by its id, the start of its id, or its name."""
        info = self.find(wanted)
        if info.damaged:
            raise SessionStateError(f"Session {info.id!r} cannot be resumed: {info.damaged}")
        try:
            first, _, second = self._get_path(info.id).read_text(encoding="utf-8").partition("\n")
            plan = json.loads(first).get("plan")
            state = json.loads(second)
        except (OSError, ValueError) as error:
            raise SessionStateError(f"Session {info.id!r} cannot be resumed: {error}") from error
        if not isinstance(state, dict):
            raise SessionStateError(
                f"Session {info.id!r} cannot be resumed: its state is not an object"
            )
        return SavedSession(info, state, plan if isinstance(plan, dict) else {})

    def find(self, wanted: str) -> SessionInfo:
        """The session with this id or name, or whose id begins like this; the newest of a name."""
        known = self.list()
        exact = (info for info in known if info.id == wanted)
        named = (info for info in known if info.name and info.name.lower() == wanted.lower())
        return next(chain(exact, named), None) or _find_by_beginning(wanted, known)

    def get(self, session_id: str) -> SessionInfo | None:
        """The session with exactly this id, if there is one."""
        path = self._get_path(session_id)
        return self._read_info(path) if path.exists() else None

    def list(self) -> list[SessionInfo]:
        """All sessions, the latest first; damaged ones say so."""
        infos = [self._read_info(path) for path in self._list_paths()]
        return sorted(infos, key=lambda info: (info.updated, info.id), reverse=True)

    def delete(self, wanted: str) -> SessionInfo:
        """Remove a session for good."""
        info = self.find(wanted)
        self._get_path(info.id).unlink(missing_ok=True)
        return info

    def _get_path(self, session_id: str) -> Path:
        if not _ID.fullmatch(session_id):
            raise SessionStateError(
                f"{session_id!r} is not a session id; use letters, digits, dots, dashes and "
                "underscores"
            )
        return self.root / f"{session_id}{SUFFIX}"

    def _list_paths(self) -> Iterator[Path]:
        try:
            return iter(sorted(self.root.glob(f"*{SUFFIX}")))
        except OSError as error:
            raise SessionStateError(f"Sessions cannot be listed: {error}") from error

    def _read_info(self, path: Path) -> SessionInfo:
        session_id = path.name.removesuffix(SUFFIX)
        try:
            with path.open(encoding="utf-8") as file:
                head = json.loads(file.readline())
            return _read_head(session_id, head)
        except (OSError, ValueError, TypeError, AttributeError) as error:
            return SessionInfo(session_id, updated=_read_modified(path), damaged=str(error))

    def _write(self, path: Path, text: str) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(path, text.encode("utf-8"), mode=0o600)
        except OSError as error:
            raise SessionStateError(f"The session cannot be saved: {error}") from error


def _find_by_beginning(wanted: str, known: list[SessionInfo]) -> SessionInfo:
    begun = [info for info in known if wanted and info.id.startswith(wanted)]
    if len(begun) > 1:
        ids = ", ".join(info.id for info in begun[:5])
        raise SessionStateError(f"Several sessions begin with {wanted!r}: {ids}")
    if not begun:
        names = ", ".join(_name_briefly(info, known) for info in known[:5])
        have = f"the latest are: {names}" if names else "none is saved yet"
        raise SessionStateError(f"No session {wanted!r}; {have}")
    return begun[0]


def _name_briefly(info: SessionInfo, known: list[SessionInfo]) -> str:
    """Names may be the same; the start of an id tells the sessions apart."""
    which = shorten_id(info.id, (one.id for one in known))
    return f"{which} ({info.name})" if info.name else which


def _to_line(value: Mapping[str, Any]) -> str:
    """One line of ASCII, so that nothing in a conversation can break the file."""
    try:
        return json.dumps(value, default=str)
    except (ValueError, RecursionError) as error:
        raise SessionStateError(f"The session cannot be saved: {error}") from error


def _write_head(info: SessionInfo) -> dict[str, Any]:
    written = {key: value for key, value in asdict(info).items() if key != "damaged"}
    return {"format": FORMAT, **written}


def _read_head(session_id: str, head: Mapping[str, Any]) -> SessionInfo:
    if head.get("format") != FORMAT:
        raise ValueError(f"its format is {head.get('format')!r}, this version reads {FORMAT}")
    known = {one.name for one in fields(SessionInfo)} - {"id", "damaged"}
    return SessionInfo(session_id, **{key: head[key] for key in known if key in head})


def _read_modified(path: Path) -> str:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
    except OSError:
        return ""
