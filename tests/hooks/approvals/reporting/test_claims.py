"""A call that people elsewhere allowed runs once, and only with a claim."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_core.errors import ApprovalError
from amplifier_hooks.approvals.remote import RemoteApproval
from amplifier_hooks.approvals.reporting import Claims
from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.approvals.questions import ask
from tests.support.links import CutLink, answer, list_states, make_asker
from tests.support.waiting import wait_until

QUESTION = replace(ask(command="ls"), session_id="s", tool_call_id="c")
DIGEST = QUESTION.digest


async def allow(store: Store, folder: Path, link: CutLink) -> RemoteApproval:
    """A place where a person has allowed the call."""
    remote = RemoteApproval(link, make_asker(folder))
    asking = asyncio.create_task(remote.decide(QUESTION))
    await answer(store)
    await asking
    return remote


async def test_a_call_is_claimed_and_its_end_recorded(store: Store, tmp_path: Path) -> None:
    """First executing, then executed."""
    claims = Claims([await allow(store, tmp_path, CutLink(store))])
    await claims.claim("s", "c", DIGEST)
    assert await list_states(store) == ["executing"]
    claims.finish("s", "c", "executed")
    await claims.close()
    assert await list_states(store) == ["executed"]


async def test_what_nobody_was_asked_about_needs_no_claim(store: Store, tmp_path: Path) -> None:
    """What a person remembered, or a rule allowed."""
    link = CutLink(store)
    claims = Claims([RemoteApproval(link, make_asker(tmp_path))])
    await claims.claim("s", "c", DIGEST)
    claims.finish("s", "c", "executed")
    await claims.close()
    assert link.calls == []


async def test_another_input_than_the_one_that_was_allowed_is_no_claim(
    store: Store, tmp_path: Path
) -> None:
    """Whatever the kernel compared before."""
    claims = Claims([await allow(store, tmp_path, CutLink(store))])
    with pytest.raises(ApprovalError, match="The call cannot run"):
        await claims.claim("s", "c", "another")
    assert await list_states(store) == ["approved"]


async def test_what_another_process_has_claimed_is_no_claim(store: Store, tmp_path: Path) -> None:
    """Two agents that both found the answer."""
    link = CutLink(store)
    claims = Claims([await allow(store, tmp_path, link)])
    await store.claims.claim("s", f"c@{DIGEST[:12]}", DIGEST, 60)
    with pytest.raises(ApprovalError, match="claimed before"):
        await claims.claim("s", "c", DIGEST)


async def test_without_the_store_nothing_runs(store: Store, tmp_path: Path) -> None:
    """A claim fails closed."""
    link = CutLink(store)
    claims = Claims([await allow(store, tmp_path, link)])
    link.is_cut = True
    with pytest.raises(ApprovalError, match="could not be claimed: The store at this test"):
        await claims.claim("s", "c", DIGEST)


async def test_a_claim_in_one_place_is_given_back_when_another_refuses(
    store: Store, tmp_path: Path
) -> None:
    """The call does not run, and nobody takes it for lost."""
    first, second = CutLink(store), CutLink(store)
    places = [await allow(store, tmp_path, first)]
    other = RemoteApproval(second, make_asker(tmp_path))
    other.names.name("s", "c", DIGEST)
    second.is_cut = True
    claims = Claims([*places, other])
    with pytest.raises(ApprovalError):
        await claims.claim("s", "c", DIGEST)
    await claims.close()
    assert await list_states(store) == ["failed"]


async def test_a_claim_is_renewed_while_the_call_runs(store: Store, tmp_path: Path) -> None:
    """A store that is away for a moment does not end it."""
    link = CutLink(store)
    claims = Claims([await allow(store, tmp_path, link)], lease=0.3)
    await claims.claim("s", "c", DIGEST)
    link.cut.add("renew")
    await wait_until(lambda: "renew" in link.calls)
    link.cut.clear()
    await wait_until(lambda: link.calls.count("renew") > 3)
    claims.finish("s", "c", "executed")
    await claims.close()


async def test_a_claim_that_was_given_up_stays_so(store: Store, tmp_path: Path) -> None:
    """Nobody knows how the call ended, whatever comes later."""
    link = CutLink(store)
    claims = Claims([await allow(store, tmp_path, link)], lease=0.01)
    link.cut.add("renew")
    await claims.claim("s", "c", DIGEST)
    await asyncio.sleep(0.05)
    await store.approvals.mark_lost()
    claims.finish("s", "c", "executed")
    await claims.close()
    assert await list_states(store) == ["unknown"]


async def test_a_repeated_id_is_claimed_for_its_own_question(store: Store, tmp_path: Path) -> None:
    """Small models give every call the same id."""
    link = CutLink(store)
    remote = await allow(store, tmp_path, link)
    claims = Claims([remote])
    for digest in ("d2", "d3"):
        await claims.claim("s", "c", DIGEST if digest == "d2" else "d2")
        claims.finish("s", "c", "executed")
        again = replace(QUESTION, digest=digest)
        asking = asyncio.create_task(remote.decide(again))
        await answer(store)
        await asking
    await claims.claim("s", "c", "d3")
    claims.finish("s", "c", "failed")
    await claims.close()
    assert await list_states(store) == ["executed", "executed", "failed"]


async def test_an_id_that_comes_again_after_a_restart_is_not_held_up_by_what_ran_before(
    store: Store, tmp_path: Path
) -> None:
    """Another process knows nothing of the calls before it."""
    first = Claims([await allow(store, tmp_path, CutLink(store))])
    await first.claim("s", "c", DIGEST)
    first.finish("s", "c", "executed")
    await first.close()
    remote = RemoteApproval(CutLink(store), make_asker(tmp_path))
    for digest in ("d2", DIGEST):
        asking = asyncio.create_task(remote.decide(replace(QUESTION, digest=digest)))
        await answer(store)
        await asking
        second = Claims([remote])
        await second.claim("s", "c", digest)
        second.finish("s", "c", "executed")
        await second.close()
    assert await list_states(store) == ["executed"] * 3
