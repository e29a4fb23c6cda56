"""Whoever answers first decides, and the other question closes by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout, HandedOver
from amplifier_core.errors import ApprovalError
from amplifier_hooks.approvals.models import Approval, ApprovalFilter
from amplifier_hooks.approvals.remote import RemoteApproval
from amplifier_hooks.approvals.several import UNRECORDED, SeveralApprovals
from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.approvals.questions import ask
from tests.support.links import ANN, CutLink, answer, find_waiting, list_states, make_asker
from tests.support.stores import choose

QUESTION = replace(ask(command="ls"), session_id="s", tool_call_id="c")


class Terminal:
    """A person at the terminal, who answers when the test says so."""

    def __init__(self, error: Exception | None = None) -> None:
        self.shown = asyncio.Event()
        self.closed = asyncio.Event()
        self.said: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._error = error

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer | HandedOver:
        if self._error is not None:
            raise self._error
        self.shown.set()
        try:
            answer: ApprovalAnswer | HandedOver = await self.said
            return answer
        finally:
            self.closed.set()

    def say(self, option: str) -> None:
        self.said.set_result(ApprovalAnswer(option, by="me"))


class Place:
    """A terminal, a store, and what the person at the terminal is told."""

    def __init__(self, store: Store, folder: Path, here: Any = None, link: Any = None) -> None:
        self.terminal = here if here is not None else Terminal()
        self.told: list[str] = []
        self.remote = RemoteApproval(link or store.as_link(), make_asker(folder))
        self.system = SeveralApprovals(self.terminal, [self.remote], self._tell)

    async def _tell(self, text: str) -> None:
        self.told.append(text)

    def ask(self, question: ApprovalQuestion = QUESTION) -> asyncio.Task[Any]:
        return asyncio.create_task(self.system.decide(question))


async def test_an_answer_elsewhere_closes_the_question_here_and_says_who_gave_it(
    store: Store, tmp_path: Path
) -> None:
    """So that whoever looks up at the screen knows what happened."""
    place = Place(store, tmp_path)
    asking = place.ask()
    await place.terminal.shown.wait()
    await answer(store)
    assert (await asking).by == "ann via web"
    assert place.terminal.closed.is_set()
    assert place.told == ["Answered by ann in the browser: Allow once"]


@pytest.mark.parametrize("option", ["Allow once", "Deny"])
async def test_an_answer_at_the_terminal_closes_the_other_question(
    store: Store, tmp_path: Path, option: str
) -> None:
    """With the name of who answered, and what."""
    place = Place(store, tmp_path)
    asking = place.ask()
    await find_waiting(store)
    place.terminal.say(option)
    assert await asking == ApprovalAnswer(option, by="me")
    (closed,) = (await store.approvals.list(ApprovalFilter()))[0]
    assert (closed.status, closed.decided_by, closed.decided_via) == ("cancelled", "me", "terminal")
    assert closed.option == option
    assert place.told == []


async def test_a_question_that_another_program_asks_is_closed_elsewhere_without_an_answer(
    store: Store, tmp_path: Path
) -> None:
    """Nobody has answered it: no name and no option stand there."""
    place = Place(store, tmp_path)
    asking = place.ask()
    await find_waiting(store)
    place.terminal.said.set_result(HandedOver("claude", goes_on=True))
    assert await asking == HandedOver("claude", goes_on=True)
    (closed,) = (await store.approvals.list(ApprovalFilter()))[0]
    assert (closed.status, closed.decided_by, closed.option) == ("cancelled", "", "")
    assert closed.comment == "handed over to claude, which asks its person"
    assert place.remote.names.find("s", "c") is None


async def test_a_decision_that_was_a_moment_earlier_elsewhere_counts(
    store: Store, tmp_path: Path
) -> None:
    """It is recorded there, and the terminal's is not."""

    class Late(CutLink):
        async def wait(self, approval_id: str, seconds: float) -> Approval:
            return await asyncio.Event().wait()  # type: ignore[return-value]

    place = Place(store, tmp_path, link=Late(store))
    asking = place.ask()
    await answer(store, 2)
    place.terminal.say("Allow once")
    assert (await asking) == ApprovalAnswer("Deny", by="ann via web")
    assert place.told == ["Answered by ann in the browser: Deny"]


async def test_without_a_terminal_the_others_are_waited_for(store: Store, tmp_path: Path) -> None:
    """A headless run is not refused."""
    place = Place(store, tmp_path, Terminal(ApprovalError("no terminal")))
    asking = place.ask()
    await answer(store)
    assert (await asking).option == "Allow once"


async def test_an_answer_that_is_none_counts_as_no_terminal(store: Store, tmp_path: Path) -> None:
    """The terminal says so where the hook's default is yes."""

    class Plain:
        async def request_approval(self, *question: Any) -> str:
            return "There is no terminal"

    place = Place(store, tmp_path, Plain())
    asking = place.ask()
    await answer(store, 2)
    assert (await asking).option == "Deny"


async def test_an_allow_whose_withdrawal_cannot_be_recorded_is_not_used(
    store: Store, tmp_path: Path
) -> None:
    """Somebody else may decide at this moment; a refusal needs no record to be one."""
    link = CutLink(store)
    place = Place(store, tmp_path, link=link)
    asking = place.ask()
    await find_waiting(store)
    link.cut.add("withdraw")
    place.terminal.say("Allow once")
    with pytest.raises(ApprovalError, match=UNRECORDED):
        await asking
    # It is closed once that is possible, so that nobody allows what nobody waits for.
    link.cut.clear()
    await place.system.close()
    assert await list_states(store) == ["cancelled"]
    link.cut.add("withdraw")
    refusing = Place(store, tmp_path, link=link)
    again = refusing.ask()
    await refusing.terminal.shown.wait()
    refusing.terminal.say("Deny")
    assert (await again).option == "Deny"
    link.cut.clear()
    await refusing.system.close()
    assert "pending" not in await list_states(store)


async def test_when_the_time_is_over_everything_closes(store: Store, tmp_path: Path) -> None:
    """At the terminal, at the store, and no task is left."""
    place = Place(store, tmp_path)
    asking = place.ask(replace(QUESTION, timeout=0.8))
    await place.terminal.shown.wait()
    place.terminal.said.set_exception(ApprovalTimeout("over"))
    with pytest.raises(ApprovalTimeout):
        await asking
    await place.system.close()
    assert set(await list_states(store)) <= {"expired", "cancelled"}


async def test_an_agent_that_stops_asking_closes_every_question(
    store: Store, tmp_path: Path
) -> None:
    """The terminal is given back, and nobody elsewhere can decide any more."""
    place = Place(store, tmp_path)
    asking = place.ask()
    await find_waiting(store)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await place.system.close()
    assert place.terminal.closed.is_set()
    assert await list_states(store) == ["cancelled"]


async def test_a_refusal_in_one_of_two_places_is_stronger(store: Store, tmp_path: Path) -> None:
    """Two stores, two people, one moment."""
    both = [CutLink(store), CutLink(store)]
    remotes = [
        RemoteApproval(link, replace(make_asker(tmp_path), user=name))
        for link, name in zip(both, ("a", "b"), strict=True)
    ]
    # The second place hears of its decision only when the first one has answered.
    stay = asyncio.Event()

    async def wait(approval_id: str, seconds: float) -> Approval:
        await stay.wait()
        return await store.approvals.get(approval_id)

    both[1].wait = wait  # type: ignore[attr-defined]
    asking = asyncio.create_task(
        SeveralApprovals(None, remotes).decide(replace(QUESTION, tool_call_id=""))
    )
    while len(found := (await store.approvals.list(ApprovalFilter(status=("pending",))))[0]) < 2:
        await asyncio.sleep(0.01)
    second = next(one for one in found if one.request.requester == "b")
    first = next(one for one in found if one.request.requester == "a")
    await store.approvals.decide(second.id, choose(second, 2), ANN)
    await store.approvals.decide(first.id, choose(first, 0), ANN)
    said: Any = await asking
    assert said.option == "Deny"


async def test_the_short_form_asks_as_well(store: Store, tmp_path: Path) -> None:
    """A prompt and its options."""
    place = Place(store, tmp_path)
    asking = asyncio.create_task(place.system.request_approval("Go?", ["Yes", "No"], 60, "deny"))
    await place.terminal.shown.wait()
    place.terminal.say("No")
    assert await asking == "No"
