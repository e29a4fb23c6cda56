"""People elsewhere are asked through a store, and the kernel's gate judges what they say."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalGate, ApprovalQuestion
from amplifier_core.errors import ApprovalError
from amplifier_hooks.approvals import remote
from amplifier_hooks.approvals.models import ApprovalFilter
from amplifier_hooks.approvals.remote import RemoteApproval
from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.approvals.questions import ask
from tests.support.links import CutLink, answer, find_waiting, list_states, make_asker
from tests.support.waiting import wait_until


def question(**changes: Any) -> ApprovalQuestion:
    given = {"session_id": "s", "tool_call_id": "c1", **changes}
    return replace(ask(command="make deploy"), **given)


def system_of(store: Store, folder: Path, **more: Any) -> RemoteApproval:
    return RemoteApproval(more.pop("link", None) or store.as_link(), make_asker(folder), **more)


async def test_the_answer_of_a_person_elsewhere_comes_back_with_their_name(
    store: Store, tmp_path: Path
) -> None:
    """And with what they said."""
    asking = asyncio.create_task(system_of(store, tmp_path).decide(question()))
    await answer(store, 0, comment="go on")
    assert await asking == ApprovalAnswer("Allow once", by="ann via web", comment="go on")


async def test_a_refusal_comes_back_and_the_gate_refuses(store: Store, tmp_path: Path) -> None:
    """As at the terminal."""
    asking = asyncio.create_task(ApprovalGate(system_of(store, tmp_path)).ask(question()))
    await answer(store, 2, comment="no")
    decision = await asking
    assert (decision.allowed, decision.how, decision.comment) == (False, "person", "no")


async def test_an_edited_input_is_allowed_once_and_the_agent_is_told(
    store: Store, tmp_path: Path
) -> None:
    """An always with an edit would be remembered for what was asked first."""
    asking = asyncio.create_task(system_of(store, tmp_path).decide(question()))
    await answer(store, 1, edited_input={"command": "make test"}, comment="first this")
    found = await asking
    assert found.option == "Allow once"
    assert found.edited_input == {"command": "make test"}
    assert found.comment == "first this; I changed the command to: make test"


@pytest.mark.parametrize("default", ["deny", "allow"])
async def test_a_question_that_nobody_answers_is_closed_and_the_gate_applies_its_default(
    store: Store, tmp_path: Path, default: Any
) -> None:
    """At the store a little earlier than at the gate, so that no decision comes in between."""
    system = system_of(store, tmp_path)
    decision = await ApprovalGate(system).ask(question(timeout=0.8, default=default))
    assert (decision.allowed, decision.how) == (default == "allow", "timeout")
    await system.close()
    # On a machine that has no time, the gate may be faster after all.
    assert set(await list_states(store)) <= {"expired", "cancelled"}


async def test_an_agent_that_stops_asking_withdraws_and_leaves_no_task(
    store: Store, tmp_path: Path
) -> None:
    """A decision afterwards is refused."""
    system = system_of(store, tmp_path)
    asking = asyncio.create_task(system.decide(question()))
    await find_waiting(store)
    before = asyncio.all_tasks() - {asking}
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await system.close()
    assert await list_states(store) == ["cancelled"]
    assert asyncio.all_tasks() <= before


async def test_a_process_that_was_killed_finds_its_question_again(
    store: Store, tmp_path: Path
) -> None:
    """One that waits is waited for, and one that was allowed and not used is used."""
    first = asyncio.create_task(system_of(store, tmp_path).decide(question()))
    waiting = await find_waiting(store)
    second = asyncio.create_task(system_of(store, tmp_path).decide(question()))
    await answer(store)
    assert (await first).option == (await second).option == "Allow once"
    third = await system_of(store, tmp_path).decide(question())
    assert third.by == "ann via web"
    assert [one.id for one in (await store.approvals.list(ApprovalFilter()))[0]] == [waiting.id]


async def test_an_answer_that_was_used_is_never_used_again(store: Store, tmp_path: Path) -> None:
    """Claimed, it may have had its effect: another attempt asks anew."""
    asking = asyncio.create_task(system_of(store, tmp_path).decide(question()))
    request = (await answer(store)).request
    await asking
    await store.claims.claim("s", request.tool_call_id, request.digest, 60)
    again = asyncio.create_task(system_of(store, tmp_path).decide(question()))
    await answer(store, 2)
    assert (await again).option == "Deny"
    assert await list_states(store) == ["executing", "denied"]


async def test_the_same_process_asks_anew_each_time(store: Store, tmp_path: Path) -> None:
    """An answer is for one time; without a call, also for another process."""
    system = system_of(store, tmp_path)
    for _ in range(2):
        asking = asyncio.create_task(system.decide(question()))
        await answer(store)
        await asking
    for _ in range(2):
        other = asyncio.create_task(system_of(store, tmp_path).decide(question(tool_call_id="")))
        await answer(store)
        await other
    assert await list_states(store) == ["approved"] * 4


async def test_a_store_that_is_away_for_a_while_is_asked_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person in front is told once, and once when it is back."""
    monkeypatch.setattr(remote, "LONGEST_PAUSE", 0.01)
    told: list[str] = []

    async def tell(text: str) -> None:
        told.append(text)

    link = CutLink(store)
    link.is_cut = True
    asking = asyncio.create_task(
        system_of(store, tmp_path, link=link, tell=tell).decide(question())
    )
    await wait_until(lambda: link.calls.count("request") > 2)
    link.is_cut = False
    await answer(store)
    assert (await asking).option == "Allow once"
    waiting = await store.approvals.list()
    assert told == [
        "Nobody elsewhere can be asked at the moment: The store at this test does not answer",
        "People elsewhere can be asked again.",
        f"Waiting for an answer elsewhere: amplifier approvals show {waiting[0][0].id[:8]}",
    ]


async def test_a_store_that_stays_away_is_an_error_with_a_sentence(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel denies, or applies the hook's default."""
    monkeypatch.setattr(remote, "LONGEST_PAUSE", 0.01)
    link = CutLink(store)
    link.is_cut = True
    gate = ApprovalGate(system_of(store, tmp_path, link=link))
    decision = await gate.ask(question(timeout=0.5))
    assert (decision.allowed, decision.how) == (False, "error")
    assert decision.detail.startswith("nobody elsewhere could be asked: The store at this test")


async def test_what_the_store_does_not_take_is_an_error_with_its_words(
    store: Store, tmp_path: Path
) -> None:
    """A prompt of a megabyte."""
    with pytest.raises(ApprovalError, match="the question was not taken: "):
        await system_of(store, tmp_path).decide(question(prompt="x" * 2**20))


async def test_no_time_is_no_question(store: Store, tmp_path: Path) -> None:
    """And nothing is left at the store."""
    decision = await ApprovalGate(system_of(store, tmp_path)).ask(question(timeout=0))
    assert (decision.allowed, decision.how) == (False, "timeout")
    assert await list_states(store) == []


async def test_the_short_form_asks_as_well(store: Store, tmp_path: Path) -> None:
    """A prompt and its options."""
    system = system_of(store, tmp_path)
    asking = asyncio.create_task(system.request_approval("Go?", ["Yes", "No"], 60, "deny"))
    await answer(store, 1)
    assert await asking == "No"


async def test_a_link_that_tries_again_by_itself_is_reported_as_well(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person learns of it at once, and not when the time is over."""
    monkeypatch.setattr(remote, "RULE_SECONDS", 0.05)
    told: list[str] = []

    async def tell(text: str) -> None:
        told.append(text)

    class Patient(CutLink):
        async def find_rule(self, request: Any) -> None:
            await asyncio.Event().wait()

    system = system_of(store, tmp_path, link=Patient(store), tell=tell)
    asking = asyncio.create_task(system.decide(question()))
    await answer(store)
    await asking
    assert told[0] == "Nobody elsewhere can be asked at the moment: there is no answer yet"
    assert told[1] == "People elsewhere can be asked again."


async def test_a_question_that_cannot_be_sent_is_not_put(store: Store, tmp_path: Path) -> None:
    """Nobody is asked about half of a call; what is not allowed does not run."""
    asking = system_of(store, tmp_path).decide(question(tool_input={1: "ls"}))
    with pytest.raises(ApprovalError, match=r"was not taken: tool_input.*valid string"):
        await asking
    assert await store.approvals.list() == ([], "")
