"""Where a person decides from a shell, and who they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.cli.commands.approvals.view import (
    NoCredential,
    StoreDesk,
    open_desk,
    read_token,
)
from tests.support.stores import ALLOW, BOB, DENY, ManualClock, ask, choose


async def test_a_watch_tells_what_waits_and_then_what_becomes_of_it(tmp_path: Path) -> None:
    """Each once: when it comes, and when it is decided."""
    async with await open_store(tmp_path / "store.db") as store:
        first = await ask(store)
        watching = StoreDesk(store).watch()
        assert (await anext(watching)).id == first.id
        second = await ask(store)
        assert (await anext(watching)).id == second.id
        await store.approvals.decide(first.id, choose(first, DENY), BOB)
        news = await anext(watching)
        assert (news.id, news.status) == (first.id, "denied")
        await watching.aclose()  # type: ignore[attr-defined]


async def test_a_vote_of_several_is_news(tmp_path: Path) -> None:
    """It still waits, for one person less."""
    from tests.support.stores import require

    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store, requirement=require(persons=2))
        watching = StoreDesk(store).watch()
        await anext(watching)
        await store.approvals.decide(asked.id, choose(asked, ALLOW), BOB)
        news = await anext(watching)
        assert (news.status, [vote.by for vote in news.votes]) == ("pending", ["bob"])
        await watching.aclose()  # type: ignore[attr-defined]


async def test_whoever_looks_ends_what_is_over(tmp_path: Path) -> None:
    """Nobody else may look after a store without a server."""
    clock = ManualClock()
    async with await open_store(tmp_path / "store.db", clock=clock) as store:
        asked, desk = await ask(store, timeout=5), StoreDesk(store)
        clock.advance(6)
        assert (await desk.list(ApprovalFilter(status=("pending",))))[0] == []
        assert (await desk.get(asked.id)).status == "expired"


async def test_the_store_is_used_unless_a_server_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server needs a token, and says how to get one."""
    async with open_desk(str(tmp_path / "store.db"), None) as desk:
        assert isinstance(desk, StoreDesk)
    monkeypatch.delenv("AMPLIFIER_TOKEN", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(NoCredential, match="amplifier tokens add NAME --scope read"):
        async with open_desk(None, "http://127.0.0.1:9"):
            pass


def test_a_token_comes_from_the_file_that_is_named_the_environment_or_the_usual_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this order; a newline at its end is no part of it."""
    monkeypatch.delenv("AMPLIFIER_TOKEN_FILE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    named, usual = tmp_path / "named", tmp_path / "amplifier" / "token"
    usual.parent.mkdir()
    usual.write_text("usual\n")
    named.write_text("named\n")
    monkeypatch.setenv("AMPLIFIER_TOKEN", "environment")
    assert read_token(named) == "named"
    assert read_token() == "environment"
    monkeypatch.delenv("AMPLIFIER_TOKEN")
    assert read_token() == "usual"
    monkeypatch.setenv("AMPLIFIER_TOKEN_FILE", str(named))
    assert read_token() == "named"
