"""A store as a whole: opened, as a link, what changed lately, its errors."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import AmplifierError
from amplifier_hooks.approvals.client import HttpLink
from amplifier_hooks.approvals.errors import Conflict, StoreError, StoreUnavailable
from amplifier_hooks.approvals.link import AgentLink
from amplifier_hooks.approvals.models import SessionEntry, SessionRecord, StandingWish
from amplifier_hooks.approvals.stores.store import EmbeddedLink, Store, find_store, open_store
from tests.support.stores import BOB, approve, ask, decide, make_request, read_call


async def test_without_a_name_it_is_the_person_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below their data folder, or where the environment says; private in any case."""
    monkeypatch.delenv("AMPLIFIER_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    own = tmp_path / "amplifier" / "store" / "store.db"
    assert find_store() == str(own)
    async with await open_store():
        assert own.stat().st_mode & 0o777 == 0o600
        assert own.parent.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("AMPLIFIER_STORE", str(tmp_path / "other.db"))
    async with await open_store():
        assert (tmp_path / "other.db").exists()


async def test_all_spellings_of_a_path_open_the_same_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Absolute, relative, as an address, and with characters that an address escapes."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a b.db"
    async with await open_store(path) as store:
        await ask(store)
    for spelling in (str(path), "a b.db", f"sqlite://{tmp_path}/a%20b.db"):
        async with await open_store(spelling) as store:
            assert len((await store.approvals.list())[0]) == 1


async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Here a file stands where the folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        await open_store(tmp_path / "file" / "store.db")


async def test_postgresql_without_its_driver_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a command to paste."""
    import builtins

    real: Any = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if "postgres" in name:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(StoreUnavailable, match=r"needs psycopg: .+ install .+postgres"):
        await open_store("postgresql://host/db")


async def test_an_agent_asks_runs_and_reports_through_it(store: Store) -> None:
    """All that it needs, on the same rows."""
    link = store.as_link()
    request = make_request()
    approval = await link.request(request)
    waiting = asyncio.create_task(link.wait(approval.id, 600))
    await decide(store, approval, standing=StandingWish(scope="exact"))
    assert (await waiting).status == "approved"
    claim = await link.claim(**read_call(approval), lease=30.0)
    assert claim is not None
    await link.finish(await link.renew(claim, 30.0), "executed")
    assert (await store.approvals.get(approval.id)).status == "executed"
    rule = await link.find_rule(make_request())
    assert rule is not None
    assert rule.uses == 1
    await link.save_session(SessionEntry(id="s"), [{"role": "user"}])
    await link.publish("s", [SessionRecord(number=1, time=1.0, type="user_message")])
    assert (await store.sessions.get("s")).status == "running"
    assert len(await store.records.read("s")) == 1
    other = await ask(store)
    assert (await link.withdraw(other.id, by="ann", option="Deny")).decided_by == "ann"


async def test_only_an_owned_store_is_closed_with_its_link(tmp_path: Path) -> None:
    """A server goes on when one of its sessions ends."""
    store = await open_store(tmp_path / "s.db")
    await store.as_link().close()
    assert await store.rules.list() == []
    await store.as_link(owned=True).close()
    with pytest.raises(StoreUnavailable):
        await store.rules.list()


def list_methods(kind: Any) -> dict[str, list[str]]:
    return {
        name: list(inspect.signature(value).parameters)
        for name, value in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


@pytest.mark.parametrize("kind", [EmbeddedLink, HttpLink])
def test_every_link_has_what_the_protocol_asks_for(kind: type) -> None:
    """The same names with the same parameters."""
    wanted, offered = list_methods(AgentLink), list_methods(kind)
    assert {name: offered.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("kind", [AgentLink, EmbeddedLink, HttpLink])
def test_no_link_can_decide(kind: type) -> None:
    """An agent that holds one can ask and report."""
    forbidden = ("decide", "vote", "revoke", "add_token", "approve")
    assert not [name for name in dir(kind) if name.startswith(forbidden)]


async def test_a_conflict_carries_how_it_stands(store: Store) -> None:
    """So that the loser can be shown who was first."""
    approval = await approve(store)
    with pytest.raises(Conflict) as refusal:
        await decide(store, approval, by=BOB)
    assert refusal.value.approval == approval
    assert str(refusal.value) == "ann has decided already: Allow once"


def test_errors_of_a_store_are_the_kernel_s() -> None:
    """Whoever catches those of the kernel catches these."""
    assert issubclass(StoreError, AmplifierError)
    assert Conflict("first").approval is None
