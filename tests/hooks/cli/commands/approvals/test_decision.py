"""Which option a decision from a shell means."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.approvals.errors import BadRequest, Conflict
from amplifier_hooks.approvals.models import Option
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.cli.commands.approvals.view import StoreDesk, Wish, choose_option, decide
from tests.support.stores import BOB, DENY, ask, choose, require


async def test_the_plain_answer_for_this_once_is_meant_unless_another_is_named(
    tmp_path: Path,
) -> None:
    """By its label or its number; an always only where it is all there is."""
    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store)
    assert choose_option(asked, Wish(True)).label == "Allow once"
    assert choose_option(asked, Wish(False)).label == "Deny"
    assert choose_option(asked, Wish(True, option="2")).label == "Allow always"
    only = asked.model_copy(
        update={
            "request": asked.request.model_copy(
                update={"options": (Option(id=0, label="Yes", allows=True),)}
            )
        }
    )
    with pytest.raises(BadRequest, match="No option '' that refuses; have 'Yes'"):
        choose_option(only, Wish(False))


async def test_what_is_decided_is_not_decided_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is shown, with who was first."""
    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store)
        decided = await store.approvals.decide(asked.id, choose(asked, DENY), BOB)
        with pytest.raises(Conflict, match="denied, 'Deny' by bob"):
            await decide(StoreDesk(store), decided, Wish(True, yes=True))
    assert "Write to production?" in capsys.readouterr().out


async def test_one_of_several_people_hears_how_many_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not allowed yet."""
    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store, requirement=require(persons=2))
        await decide(StoreDesk(store), asked, Wish(True, yes=True))
        assert (await store.approvals.get(asked.id)).status == "pending"
    assert "Allow once: Write; 1 more must allow it" in capsys.readouterr().out
