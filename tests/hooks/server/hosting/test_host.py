"""The host takes over what nobody runs, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.approvals.errors import Conflict, NotFound, TooMany
from amplifier_hooks.approvals.models import Approval, ApprovalFilter
from amplifier_hooks.approvals.stores.store import Store, open_store
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.server.hosting.host import HostSettings, SessionHost
from tests.hooks.server.hosting_project import WRITE, save_bundle, trust
from tests.support.sessions import calls


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
