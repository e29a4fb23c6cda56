"""The index says what a session does now, with its conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import (
    APPROVAL_GRANTED,
    APPROVAL_REQUIRED,
    EXECUTION_COMPLETE,
    EXECUTION_START,
    SESSION_END,
    SESSION_START,
)
from amplifier_hooks.approvals import session_index
from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.session_index import SessionIndex
from amplifier_hooks.approvals.stores.store import Store
from tests.support.links import CutLink
from tests.support.waiting import wait_until


class Followed:
    """A session whose events a test emits."""

    def __init__(self, store: Store, link: Any = None) -> None:
        self.store = store
        self.messages: list[dict[str, Any]] = []
        self.host = SessionCoordinator(session_id="s")
        entry = SessionEntry(id="s", machine="laptop", user="me", created=1.0)
        self.index = SessionIndex([link or store.as_link()], entry, self._read)
        self.index.attach(self.host)

    async def _read(self) -> list[dict[str, Any]]:
        return list(self.messages)

    async def emit(self, event: str, session: str = "s", **data: Any) -> None:
        await self.host.hooks.emit(event, {"session_id": session, **data})

    async def reaches(self, status: str, session: str = "s") -> SessionEntry:
        async def is_so() -> bool:
            entries = (await self.store.sessions.list())[0]
            return any((one.id, one.status) == (session, status) for one in entries)

        await wait_until(is_so)
        return await self.store.sessions.get(session)


async def test_the_state_of_a_session_follows_its_events(store: Store) -> None:
    """Idle, running, waiting for a person, running, idle, ended."""
    followed = Followed(store)
    steps = [
        (SESSION_START, "idle", {}),
        (EXECUTION_START, "running", {}),
        (APPROVAL_REQUIRED, "waiting", {}),
        (APPROVAL_GRANTED, "running", {}),
        (EXECUTION_COMPLETE, "idle", {"response": "done", "status": "success"}),
    ]
    for event, status, data in steps:
        await followed.emit(event, **data)
        entry = await followed.reaches(status)
    assert (entry.turns, entry.reply, entry.machine, entry.user) == (1, "done", "laptop", "me")
    await followed.emit(SESSION_END, reason="complete")
    await followed.index.close()
    assert (await store.sessions.get("s")).status == "ended"


@pytest.mark.parametrize("reason", ["error", "timeout"])
async def test_a_session_that_fails_says_so(store: Store, reason: str) -> None:
    """With the reason."""
    followed = Followed(store)
    await followed.emit(SESSION_END, reason=reason)
    await followed.index.close()
    entry = await store.sessions.get("s")
    assert (entry.status, entry.error) == ("failed", reason)


async def test_the_conversation_is_there_when_a_question_is_asked_and_after_a_turn(
    store: Store,
) -> None:
    """Masked as everything else that leaves the session."""
    followed = Followed(store)
    followed.host.register_scrubber(lambda text: text.replace("hunter2", "***"))
    followed.messages = [{"role": "user", "content": "it is hunter2"}]
    await followed.emit(APPROVAL_REQUIRED)
    await followed.reaches("waiting")
    assert await store.sessions.transcript("s") == [{"role": "user", "content": "it is ***"}]
    followed.messages.append({"role": "assistant", "content": "fine"})
    await followed.emit(EXECUTION_COMPLETE, response="hunter2", status="success")
    await followed.index.close()
    assert len(await store.sessions.transcript("s")) == 2
    assert (await store.sessions.get("s")).reply == "***"


async def test_a_sub_agent_has_an_entry_of_its_own_below_the_session(store: Store) -> None:
    """Its name is not the parent's."""
    followed = Followed(store)
    followed.host.session_state["name"] = "fix the parser"
    await followed.emit(EXECUTION_START)
    await followed.emit(EXECUTION_START, session="child")
    child = await followed.reaches("running", "child")
    assert (child.parent_id, child.machine, child.name) == ("s", "laptop", "")
    assert (await store.sessions.get("s")).name == "fix the parser"
    await followed.index.close()


async def test_a_session_shows_that_it_lives(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without news as well, and once the store is back after it was away."""
    monkeypatch.setattr(session_index, "HEARTBEAT", 0.02)
    link = CutLink(store)
    link.is_cut = True
    followed = Followed(store, link)
    await followed.emit(EXECUTION_START)
    await wait_until(lambda: link.calls.count("save_session") > 1)
    link.is_cut = False
    await followed.reaches("running")
    before = len(link.calls)
    await wait_until(lambda: len(link.calls) > before + 1)
    await followed.index.close()


async def test_closing_what_never_began_is_nothing(store: Store, tmp_path: Path) -> None:
    """A session that does not start is not in the index."""
    followed = Followed(store)
    await followed.index.close()
    assert (await store.sessions.list())[0] == []


@pytest.mark.parametrize(("answered", "status"), [("1", "waiting"), ("12", "running")])
async def test_a_session_waits_until_the_last_of_its_questions_is_answered(
    store: Store, answered: str, status: str
) -> None:
    """Two calls may wait side by side, and an answer that was remembered ends no question."""
    followed = Followed(store)
    for digest in "12":
        await followed.emit(APPROVAL_REQUIRED, hook="h", digest=digest)
    for digest in f"{answered}3":
        await followed.emit(APPROVAL_GRANTED, hook="h", digest=digest)
    await followed.index.close()
    assert (await store.sessions.get("s")).status == status


async def test_a_session_waits_with_its_sub_agent(store: Store) -> None:
    """Whoever looks at the session must see that somebody is needed."""
    followed = Followed(store)
    await followed.emit(APPROVAL_REQUIRED, session="child", hook="h")
    await followed.reaches("waiting", "child")
    await followed.reaches("waiting")
    await followed.emit(APPROVAL_GRANTED, session="child", hook="h")
    await followed.reaches("running")
    await followed.index.close()
