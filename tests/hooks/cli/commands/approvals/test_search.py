"""An approval or a rule is named by the start of its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.approvals.errors import BadRequest, NotFound
from amplifier_hooks.approvals.models import StandingWish
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.cli.commands.approvals.view import StoreDesk, find_approval, find_rule
from tests.support.stores import ALLOW, BOB, DENY, ask, choose


async def test_what_waits_is_found_before_what_is_over(tmp_path: Path) -> None:
    """By a whole id, any; by its start, one that is the only one."""
    async with await open_store(tmp_path / "store.db") as store:
        desk, asked = StoreDesk(store), await ask(store)
        assert (await find_approval(desk, asked.id[:5])).id == asked.id
        await store.approvals.decide(asked.id, choose(asked, DENY), BOB)
        assert (await find_approval(desk, asked.id[:5])).status == "denied"
        assert (await find_approval(desk, asked.id)).id == asked.id
        for nothing in ("", " ", "zzz", "f" * 32):
            with pytest.raises(NotFound):
                await find_approval(desk, nothing)


async def test_a_start_that_fits_several_is_too_short(tmp_path: Path) -> None:
    """None is taken by chance."""
    async with await open_store(tmp_path / "store.db") as store:
        for _ in range(17):
            await ask(store)
        desk = StoreDesk(store)
        outcomes = set()
        for start in "0123456789abcdef":
            try:
                await find_approval(desk, start)
            except (BadRequest, NotFound) as error:
                outcomes.add(type(error))
        assert BadRequest in outcomes


async def test_a_rule_is_found_also_when_it_is_over(tmp_path: Path) -> None:
    """So that what happened to it can be looked up."""
    async with await open_store(tmp_path / "store.db") as store:
        asked = await ask(store)
        wish = StandingWish(scope="exact")
        decided = await store.approvals.decide(asked.id, choose(asked, ALLOW, standing=wish), BOB)
        await store.rules.revoke(decided.rule_id, "bob")
        assert (await find_rule(StoreDesk(store), decided.rule_id[:6])).id == decided.rule_id
        with pytest.raises(NotFound, match="no rule whose id begins with 'zz'"):
            await find_rule(StoreDesk(store), "zz")
