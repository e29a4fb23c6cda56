"""list_sessions: the sessions of the scope that left a trail."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field

from amplifier_audit.errors import AuditError
from amplifier_audit.log_directory import open_log
from amplifier_core.errors import SessionStateError
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
from amplifier_hooks.mcp.server.presenter import DATA
from amplifier_hooks.mcp.server.search_trail import Cursor
from amplifier_hooks.mcp.server.tool import Arguments, Refused, Result
from amplifier_hooks.mcp.server.trails import OpenTrail, Trails

MOST_SESSIONS = 200


class SessionsArguments(Arguments):
    """How many."""

    limit: int = Field(20, ge=1, le=MOST_SESSIONS, description="How many at most.")
    cursor: str | None = Field(
        None, max_length=160, description="The next_cursor of the page before."
    )


class ListedSession(BaseModel):
    """One session."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    folder: str
    bundle: str
    updated: str = Field(description="When its trail was last written to, in UTC.")
    turns: int | None
    records: int | None = Field(description="How many records its trail has.")


class SessionsResult(Result):
    """A page of sessions, the newest first."""

    sessions: list[ListedSession]
    next_cursor: str | None = Field(description="For the page behind this one; null at the end.")
    note: str


@dataclass(frozen=True, slots=True)
class SessionList:
    """Lists the sessions of a scope."""

    trails: Trails

    async def run(self, arguments: SessionsArguments) -> SessionsResult:
        """The newest first."""
        return await asyncio.to_thread(self._list, arguments)

    def _list(self, arguments: SessionsArguments) -> SessionsResult:
        found = self.trails.list()
        start = _find_start(found, arguments.cursor) if arguments.cursor else 0
        page = found[start : start + arguments.limit]
        end = start + len(page)
        more = str(Cursor(page[-1].id, 0)) if page and end < len(found) else None
        count = f"{len(page)} of {len(found)} sessions, the newest first."
        return SessionsResult(
            summary=count if page else "No sessions.",
            sessions=[_describe(one) for one in page],
            next_cursor=more,
            note=DATA,
        )


def _find_start(found: list[OpenTrail], cursor: str) -> int:
    last = Cursor.read(cursor).session
    at = next((number for number, one in enumerate(found) if one.id == last), None)
    if at is None:
        raise Refused("cursor: its session is not here (any more); begin again without one")
    return at + 1


def _describe(trail: OpenTrail) -> ListedSession:
    saved, origin = _find_saved(trail.id), trail.origin
    return ListedSession(
        id=trail.id,
        name=saved.name[:200] if saved else "",
        folder=origin.folder if origin else "",
        bundle=origin.bundle[:200] if origin else "",
        updated=datetime.fromtimestamp(trail.trail.updated, UTC).isoformat(timespec="seconds"),
        turns=saved.turns if saved else None,
        records=_count_records(trail),
    )


def _find_saved(session: str) -> SessionInfo | None:
    try:
        saved = SessionStore().get(session)
    except SessionStateError:
        return None
    return saved if saved is not None and not saved.damaged else None


def _count_records(trail: OpenTrail) -> int | None:
    try:
        state = open_log(trail.path).state
    except (AuditError, OSError):
        return None
    return state.head.size if state else None
