"""Asking people elsewhere."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalGate, ApprovalQuestion
from amplifier_core.errors import ApprovalError
from amplifier_hooks.approvals import RefusingApproval, remote
from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.models import Approval, ApprovalFilter, ApprovalRequest
from amplifier_hooks.approvals.remote import MOST_WAITING, CallNames, RemoteApproval, WaitingList
from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.approvals.questions import ask
from tests.support.links import CutLink, answer, find_waiting, list_states, make_asker
from tests.support.stores import make_request
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


QUESTION = replace(ask(command="ls"), session_id="s", tool_call_id="c")


async def test_what_was_never_asked_needs_no_withdrawal(store: Store, tmp_path: Path) -> None:
    """Nothing is put at the store for it."""
    put = RemoteApproval(store.as_link(), make_asker(tmp_path)).put(QUESTION)
    assert await put.withdraw() is None
    assert await list_states(store) == []


async def test_a_request_whose_answer_was_lost_is_found_and_withdrawn(
    store: Store, tmp_path: Path
) -> None:
    """It may have arrived, and somebody could still allow it."""
    arrived = asyncio.Event()

    class LosesAnswers(CutLink):
        async def request(self, request: ApprovalRequest) -> Approval:
            found = await self._link.request(request)
            if not arrived.is_set():
                arrived.set()
                await asyncio.Event().wait()
            return found

    put = RemoteApproval(LosesAnswers(store), make_asker(tmp_path)).put(QUESTION)
    asking = asyncio.create_task(put.answer())
    await arrived.wait()
    asking.cancel()
    closed = await put.withdraw(by="me", option="Deny")
    assert closed is not None
    assert (closed.status, closed.decided_by, closed.option) == ("cancelled", "me", "Deny")


async def test_a_withdrawal_that_does_not_arrive_is_an_error(store: Store, tmp_path: Path) -> None:
    """Whoever withdraws must know."""
    link = CutLink(store)
    put = RemoteApproval(link, make_asker(tmp_path)).put(QUESTION)
    asking = asyncio.create_task(put.answer())
    await find_waiting(store)
    link.is_cut = True
    with pytest.raises(StoreUnavailable):
        await put.withdraw()
    asking.cancel()


async def test_a_question_that_was_closed_by_another_is_an_error(
    store: Store, tmp_path: Path
) -> None:
    """Nobody said yes, and nobody said no."""
    put = RemoteApproval(store.as_link(), make_asker(tmp_path)).put(QUESTION)
    asking = asyncio.create_task(put.answer())
    await store.approvals.withdraw((await find_waiting(store)).id, reason="gone")
    with pytest.raises(ApprovalError, match="the question was closed elsewhere: it is 'cancelled'"):
        await asking


async def test_a_link_that_answers_at_once_does_not_keep_the_loop_busy(
    store: Store, tmp_path: Path
) -> None:
    """A server may not know long polls."""

    class Hasty(CutLink):
        async def wait(self, approval_id: str, seconds: float) -> Any:
            self.calls.append("wait")
            return await store.approvals.get(approval_id)

    link = Hasty(store)
    put = RemoteApproval(link, make_asker(tmp_path)).put(QUESTION)
    asking = asyncio.create_task(put.answer())
    await find_waiting(store)
    await asyncio.sleep(0.2)
    await answer(store)
    assert (await asking).option == "Allow once"
    assert link.calls.count("wait") < 100


async def test_a_link_that_never_answers_is_given_up_before_the_time_is_over(
    store: Store, tmp_path: Path
) -> None:
    """The agent reads that nobody could be asked, and not that nobody decided."""

    class NeverAnswers(CutLink):
        async def request(self, request: ApprovalRequest) -> Approval:
            return await asyncio.Event().wait()  # type: ignore[return-value]

    question = replace(QUESTION, timeout=0.4)
    put = RemoteApproval(NeverAnswers(store), make_asker(tmp_path)).put(question)
    with pytest.raises(ApprovalError, match="nobody elsewhere could be asked"):
        await put.answer()


def test_the_questions_about_one_call_have_the_same_name() -> None:
    """Which another process gives it as well, so that it is found after a restart."""
    names = CallNames()
    assert names.name("s", "call", "d1") == names.name("s", "call", "d1") == "call@d1"
    assert names.find("s", "call") == "call@d1"
    assert CallNames().name("s", "call", "d1") == "call@d1"
    assert names.name("other", "call", "") == "call"


def test_a_call_that_is_over_makes_room_for_another_of_its_id() -> None:
    """Small models number their calls from the start in every reply."""
    names = CallNames()
    names.name("s", "call", "d1")
    names.end("s", "call")
    assert names.find("s", "call") is None
    assert names.name("s", "call", "d1") == "call@d1#2"
    assert names.find("s", "call") == "call@d1#2"


def test_another_input_is_another_call_unless_a_person_wrote_it() -> None:
    """What was allowed for one input is nothing that another could run by."""
    names = CallNames()
    names.name("s", "call", "d1")
    assert names.name("s", "call", "d2") == "call@d2"
    names.note_edit("s", "call")
    assert names.name("s", "call", "d3") == "call@d2"
    names.end("s", "call")
    assert names.name("s", "call", "d1") == "call@d1#2"


def test_what_was_never_asked_about_has_no_name() -> None:
    """Ending it, or an edit of it, is nothing."""
    names = CallNames()
    names.end("s", "call")
    names.note_edit("s", "call")
    assert names.find("s", "call") is None


def approval(id: str, prompt: str = "Go?") -> Approval:
    return Approval(
        id=id,
        nonce="n",
        status="pending",
        request=make_request(hook="h", prompt=prompt),
        created=0,
        deadline=9,
        updated=0,
        seconds_left=9,
    )


async def test_whoever_asks_before_it_waits_gets_it_once_it_does() -> None:
    """Hooks hear of a question before it is put anywhere."""
    waiting = WaitingList()
    waiting.add(approval("old"))
    finding = asyncio.create_task(waiting.find("h", "Go?", 50))
    await asyncio.sleep(0)
    waiting.add(approval("other", "Else?"))
    await asyncio.sleep(0)
    assert not finding.done()
    waiting.add(approval("new"))
    assert await finding == "new"


async def test_what_never_comes_is_not_waited_for_for_ever() -> None:
    """The last one of the same words is the best guess then."""
    waiting = WaitingList()
    assert await waiting.find("h", "Go?", 0.01) is None
    waiting.add(approval("old"))
    assert await waiting.find("h", "Go?", 0.01) == "old"


async def test_only_so_many_are_kept() -> None:
    """A session may ask for weeks."""
    waiting = WaitingList()
    for number in range(MOST_WAITING + 1):
        waiting.add(approval(str(number), f"{number}?"))
    assert await waiting.find("h", "0?", 0.01) is None
    assert await waiting.find("h", "1?", 0.01) == "1"


async def test_every_question_is_answered_with_no() -> None:
    """By its rule, with a reason for the agent."""
    answer = await RefusingApproval().decide(ask(command="ls"))
    assert isinstance(answer, ApprovalAnswer)
    assert (answer.option, answer.by) == ("Deny", "rule:deny")
    assert "nobody is asked" in str(answer.comment)
