"""A hosted session is saved at each step, and a turn that fails says why."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.server.hosting.host import HostSettings, SessionHost
from amplifier_hooks.server.hosting.hosted_session import UNDER_WAY
from tests.hooks.server.hosting_project import WRITE, save_bundle, trust


def read_saved(session: str) -> dict:
    return SessionStore(find_data_home() / "amplifier" / "hosted").load(session).state


async def wait_for_status(store: Store, session: str, status: str) -> SessionEntry:
    for _ in range(1000):
        entry = await store.sessions.get(session)
        if entry.status == status:
            return entry
        await asyncio.sleep(0.02)
    raise AssertionError(f"it never was {status}: {entry}")


async def test_what_is_saved_has_the_call_that_waits(store: Store, tmp_path: Path) -> None:
    """So whoever resumes it can go on with exactly that call; and one turn at a time."""
    save_bundle(tmp_path / "project", WRITE)
    trust(tmp_path / "project")
    host = SessionHost(store, HostSettings(folder=tmp_path / "project"))
    session = await host.create("configure")
    await wait_for_status(store, session, "waiting")
    with pytest.raises(Conflict, match="under way"):
        await host.prompt(session, "more")
    state = read_saved(session)
    assert [one["role"] for one in state["messages"]] == ["user", "assistant"]
    assert state["session_state"][UNDER_WAY] is True
    await host.close()
    assert read_saved(session)["messages"] == state["messages"]


async def test_a_turn_that_fails_says_why_and_the_session_goes_on(
    store: Store, tmp_path: Path
) -> None:
    """The index has the reason; the next prompt starts afresh."""
    save_bundle(tmp_path / "project", {"error": {"type": "authentication"}}, "Better.")
    trust(tmp_path / "project")
    host = SessionHost(store, HostSettings(folder=tmp_path / "project"))
    session = await host.create("go")
    entry = await wait_for_status(store, session, "idle")
    for _ in range(500):
        if entry.error:
            break
        await asyncio.sleep(0.02)
        entry = await store.sessions.get(session)
    assert "uthent" in entry.error
    await host.prompt(session, "again")
    assert (await wait_for_status(store, session, "idle")).reply == "Better."
    assert read_saved(session)["session_state"][UNDER_WAY] is False
    await host.close()


async def test_who_sees_that_a_turn_is_over_can_go_on_at_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is idle for others a moment before it is saved; the next prompt waits for that."""
    save_bundle(tmp_path / "project", "One.", "Two.")
    trust(tmp_path / "project")
    host = SessionHost(store, HostSettings(folder=tmp_path / "project"))
    session = await host.create()
    idle = threading.Event()
    save = SessionStore.save

    def save_late(*args: Any) -> Any:
        if args[2]["session_state"][UNDER_WAY] is False:
            idle.wait(30)
        return save(*args)

    with monkeypatch.context() as patched:
        patched.setattr(SessionStore, "save", save_late)
        await host.prompt(session, "first")
        assert (await wait_for_status(store, session, "idle")).reply == "One."
        second = asyncio.create_task(host.prompt(session, "second"))
        await asyncio.sleep(0)
        idle.set()
        await second
    for _ in range(1000):
        if (entry := await wait_for_status(store, session, "idle")).reply == "Two.":
            break
        await asyncio.sleep(0.02)
    assert entry.reply == "Two."
    await host.close()


async def test_a_turn_that_cannot_be_saved_ends_and_says_so(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would seem to run for ever."""
    save_bundle(tmp_path / "project", "One.")
    trust(tmp_path / "project")
    host = SessionHost(store, HostSettings(folder=tmp_path / "project"))
    session = await host.create()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(SessionStore, "save", fail)
        await host.prompt(session, "go")
        for _ in range(1000):
            if (entry := await store.sessions.get(session)).error:
                break
            await asyncio.sleep(0.02)
    assert "No space left" in entry.error
    assert (entry.status, entry.reply) == ("idle", "One.")
    await host.close()
