"""Sessions that the server runs: their turns and their end, by one server, over a restart."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.approvals.errors import Conflict, NotFound, TooMany
from amplifier_hooks.approvals.models import Approval, ApprovalFilter, SessionEntry
from amplifier_hooks.approvals.stores.store import Store, open_store
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.server.hosting import UNDER_WAY, HostSettings, SessionHost, SessionLock
from tests.hooks.server.hosting_project import WRITE, save_bundle, trust
from tests.support.processes import is_written
from tests.support.sessions import calls
from tests.support.waiting import wait_until


@pytest.fixture
def folder(tmp_path: Path, store: Store) -> Path:
    """A project that is trusted; `store` has set where the person's files are."""
    save_bundle(tmp_path / "project", WRITE, "Done.")
    trust(tmp_path / "project")
    return tmp_path / "project"


async def wait_for_question(store: Store, session: str) -> Approval:
    for _ in range(1000):
        found, _ = await store.approvals.list(ApprovalFilter(("pending",), session_id=session))
        if found:
            return found[0]
        await asyncio.sleep(0.02)
    raise AssertionError("it never asked")


async def test_a_second_host_takes_over_when_the_first_is_gone(store: Store, folder: Path) -> None:
    """While the first one runs, the session is not touched; its question stays the same one."""
    first = SessionHost(store, HostSettings(folder=folder))
    second = SessionHost(store, HostSettings(folder=folder))
    session = await first.create("configure")
    asked = await wait_for_question(store, session)
    await second.resume()
    with pytest.raises(NotFound, match="does not run"):
        await second.interrupt(session)
    await first.close()
    await second.resume()
    again = await wait_for_question(store, session)
    assert again.id == asked.id
    await second.end(session)
    assert (await store.approvals.get(asked.id)).status == "cancelled"
    await second.close()


async def test_sessions_of_another_folder_are_left_alone(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    """A server in one project does not run what belongs to another."""
    first = SessionHost(store, HostSettings(folder=folder))
    session = await first.create()
    await first.close()
    other = SessionHost(store, HostSettings(folder=tmp_path))
    await other.resume()
    with pytest.raises(NotFound):
        await other.prompt(session, "go")
    await other.close()


async def test_no_more_sessions_run_than_are_allowed(store: Store, folder: Path) -> None:
    """One that has ended makes room."""
    host = SessionHost(store, HostSettings(folder=folder, most=1))
    session = await host.create()
    with pytest.raises(TooMany, match="1 sessions run here already"):
        await host.create()
    await host.end(session)
    await host.end(await host.create())
    await host.close()


async def test_a_session_that_cannot_be_resumed_is_told_of_once(
    store: Store, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its bundle changed and nobody has looked at it; the others go on."""
    first = SessionHost(store, HostSettings(folder=folder))
    await first.create()
    await first.close()
    save_bundle(folder, "Something else.")
    second = SessionHost(store, HostSettings(folder=folder))
    await second.resume()
    await second.resume()
    assert len([one for one in caplog.records if "is not resumed" in one.message]) == 1
    trust(folder)
    await second.resume()
    assert len([one for one in caplog.records if "is not resumed" in one.message]) == 1
    await second.close()


async def test_a_session_is_ended_once_and_takes_no_prompt_meanwhile(
    store: Store, folder: Path
) -> None:
    """Whoever comes second is told; nothing is left behind."""
    host = SessionHost(store, HostSettings(folder=folder))
    session = await host.create("configure")
    await wait_for_question(store, session)
    first, *others = await asyncio.gather(
        host.end(session), host.end(session), host.prompt(session, "x"), return_exceptions=True
    )
    assert first is None
    assert [type(one) for one in others] == [Conflict, Conflict]
    assert (await store.sessions.get(session)).status == "ended"
    with pytest.raises(NotFound):
        await host.end(session)
    assert list((find_data_home() / "amplifier" / "hosted").iterdir()) == []
    await host.close()


async def test_a_session_that_could_not_be_started_takes_no_place(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has learnt its id, so nobody could end it."""
    host = SessionHost(store, HostSettings(folder=folder, most=1))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(SessionStore, "save", fail)
        with pytest.raises(OSError, match="No space"):
            await host.create("configure")
    await host.end(await host.create())
    await host.close()


async def test_the_servers_own_store_is_out_of_reach_for_its_sessions(
    store: Store, tmp_path: Path
) -> None:
    """Also one that lies in the folder where they work: whoever writes it can decide."""
    folder = tmp_path / "project"
    save_bundle(folder, calls("Write", file_path="team.db", content="mine"), "Done.")
    trust(folder)
    async with await open_store(folder / "team.db") as team:
        host = SessionHost(team, HostSettings(folder=folder))
        session = await host.create("overwrite it")
        for _ in range(1000):
            if (await team.sessions.get(session)).reply == "Done.":
                break
            await asyncio.sleep(0.02)
        (told,) = [one for one in await team.sessions.transcript(session) if one["role"] == "tool"]
        assert "holds records and keys of this program" in told["content"]
        await host.close()


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


HOLDING = """
import sys, time
from pathlib import Path
from amplifier_hooks.server.hosting import SessionLock
lock = SessionLock(Path(sys.argv[1]), "s1")
Path(sys.argv[1], "taken").write_text(str(lock.take()))
time.sleep(60)
"""


def test_a_lock_is_taken_once(tmp_path: Path) -> None:
    """Until it is given back."""
    first, second = SessionLock(tmp_path, "s1"), SessionLock(tmp_path, "s1")
    assert first.take()
    assert not second.take()
    assert SessionLock(tmp_path, "s2").take()
    first.release()
    first.release()
    assert second.take()
    second.release(remove=True)
    assert not (tmp_path / "s1.lock").exists()


async def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    """Nobody has to tidy up after it."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDING, str(tmp_path)])
    await wait_until(lambda: is_written(tmp_path / "taken"), timeout=50)
    lock = SessionLock(tmp_path, "s1")
    assert not lock.take()
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(20)
    assert lock.take()
