"""What every database promises of approvals: asked durably, decided once, by someone who may."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_hooks.approvals.errors import (
    BadRequest,
    Conflict,
    NotAllowed,
    NotFound,
    StoreError,
    StoreUnavailable,
    TooMany,
)
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    Choice,
    Decider,
    Option,
)
from amplifier_hooks.approvals.stores import approvals as kept_approvals
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.stores import (
    ALLOW,
    ANN,
    BOB,
    DENY,
    ManualClock,
    approve,
    ask,
    choose,
    decide,
    make_request,
    require,
)


async def test_an_approval_is_there_after_everything_was_closed(
    store_url: str, clock: ManualClock
) -> None:
    """What was asked and decided survives the process that did it."""
    request = make_request(
        tool_input={"text": "NUL \0, half a pair \ud800, \N{SNOWMAN}"},
        notes=("first",),
        editable=True,
        requirement=require(persons=2, scope="release"),
    )
    async with await open_store(store_url, clock=clock) as store:
        asked = await store.approvals.request(request)
        assert asked.request == request
        assert (asked.status, asked.seconds_left) == ("pending", 60.0)
        denied = await decide(store, asked, DENY, comment="not today")
    async with await open_store(store_url, clock=clock) as store:
        assert await store.approvals.get(asked.id) == denied
        assert (denied.status, denied.option, denied.comment) == ("denied", "Deny", "not today")
        assert (denied.decided_by, denied.decided_via) == ("ann", "web")
        assert denied.decided_at == clock.now


async def test_the_same_key_finds_the_approval_that_is_there(store: Store) -> None:
    """An agent that was killed and asks again does not ask twice."""
    request = make_request()
    first = await store.approvals.request(request)
    again = await asyncio.gather(*(store.approvals.request(request) for _ in range(20)))
    assert {one.id for one in again} == {first.id}
    decided = await decide(store, first)
    assert (await store.approvals.request(request)) == decided


async def test_a_key_belongs_to_one_request(store: Store) -> None:
    """Nobody gets another's answer, nor an answer to something else, by knowing a key."""
    request = make_request()
    await store.approvals.request(request)
    changes: list[dict[str, Any]] = [{"digest": "x"}, {"requester": "agent-2"}, {"prompt": "x"}]
    for change in changes:
        with pytest.raises(Conflict, match="another request") as refusal:
            await store.approvals.request(request.model_copy(update=change))
        assert refusal.value.approval is None


async def test_fifty_deciders_have_one_winner(store: Store) -> None:
    """Allow and deny at the same moment: one decision counts, and all others are told which."""
    approval = await ask(store)
    deciders = [Decider(f"person-{number}", "web") for number in range(50)]
    results = await asyncio.gather(
        *(decide(store, approval, n % 2, by=one) for n, one in enumerate(deciders)),
        return_exceptions=True,
    )
    winners = [one for one in results if isinstance(one, Approval)]
    losers = [one for one in results if isinstance(one, Conflict)]
    assert (len(winners), len(losers)) == (1, 49)
    stored = await store.approvals.get(approval.id)
    assert stored == winners[0]
    assert {loser.approval.decided_by for loser in losers} == {stored.decided_by}


async def test_a_double_click_decides_once_and_a_replay_decides_nothing_else(store: Store) -> None:
    """The same key again gets the same answer; on another approval it is no decision."""
    first, second = await ask(store), await ask(store)
    click = choose(first)
    decided = await store.approvals.decide(first.id, click, ANN)
    assert await store.approvals.decide(first.id, click, ANN) == decided
    with pytest.raises(Conflict, match="ann has decided already: Allow once"):
        await store.approvals.decide(first.id, click, BOB)
    for persons in (1, 2):
        asked = await ask(store, requirement=require(persons=persons))
        many = choose(asked)
        answers = await asyncio.gather(
            *(store.approvals.decide(asked.id, many, ANN) for _ in range(20))
        )
        assert {one.status for one in answers} == {"approved" if persons == 1 else "pending"}
    with pytest.raises(Conflict, match="another question"):
        await store.approvals.decide(second.id, click, ANN)
    assert (await store.approvals.get(second.id)).status == "pending"


@pytest.mark.parametrize(
    ("past", "status"), [(-0.001, "approved"), (0.0, "expired"), (0.001, "expired")]
)
async def test_the_deadline_is_exact(
    store: Store, clock: ManualClock, past: float, status: str
) -> None:
    """A millisecond before it counts; at it and after it nobody decides, though nothing swept."""
    approval = await ask(store)
    clock.now = approval.deadline + past
    try:
        decided = await decide(store, approval)
    except Conflict as conflict:
        decided = conflict.approval
    assert decided.status == status
    assert (await store.approvals.get(approval.id)).status == status


async def test_a_refusal_after_the_deadline_is_no_refusal(store: Store, clock: ManualClock) -> None:
    """Nobody said no in time: it expired, and that is what stays."""
    approval = await ask(store)
    clock.advance(61)
    with pytest.raises(Conflict, match="Nobody decided in time"):
        await decide(store, approval, DENY)
    with pytest.raises(Conflict):
        await decide(store, approval, ALLOW)
    assert (await store.approvals.get(approval.id)).decided_by == ""


async def test_overdue_approvals_are_swept_once(store: Store, clock: ManualClock) -> None:
    """Several sweepers share the work."""
    early, late = await ask(store), await ask(store, timeout=120.0)
    clock.advance(60)
    swept = await asyncio.gather(*(store.approvals.expire_overdue() for _ in range(3)))
    assert [one.id for portion in swept for one in portion] == [early.id]
    assert (await store.approvals.get(late.id)).status == "pending"


async def test_a_timeout_that_makes_no_sense_is_refused(store: Store) -> None:
    """Zero, negative, endless, or no number: the question is not put."""
    timeout: Any
    for timeout in (0, -1, math.nan, math.inf, 1e12, True, "60", None):
        with pytest.raises((BadRequest, ValidationError), match="timeout"):
            await ask(store, timeout=timeout)
    assert await store.approvals.list() == ([], "")


async def test_an_option_that_was_not_offered_decides_nothing(store: Store) -> None:
    """Only the number of an offered option is an answer."""
    approval = await ask(store)
    option: Any
    for option in (
        None,
        "",
        "deny",
        "Allow once",
        "\u0410llow",
        True,
        False,
        0.0,
        7,
        -1,
        [0],
        "x" * 10**6,
    ):
        with pytest.raises((BadRequest, ValidationError)) as refusal:
            await decide(store, approval, option)
        assert len(str(refusal.value)) < 500
    assert (await store.approvals.get(approval.id)).status == "pending"


async def test_only_who_may_decides(store: Store) -> None:
    """No scope, a reader, an agent with every scope, nobody: all refused, and nothing changed."""
    approval = await ask(store)
    everything = frozenset({"decide", "admin", "read", "agent"})
    for decider in (
        Decider("eve", "web", frozenset()),
        Decider("eve", "web", frozenset({"read", "admin", "run"})),
        Decider("agent-1", "api", everything),
        Decider("", "web"),
        Decider("eve", "web", frozenset({"decide:hook=other-*", "decide:tool=Bash"})),
    ):
        for option in (ALLOW, DENY):
            with pytest.raises(NotAllowed):
                await decide(store, approval, option, by=decider)
    assert (await store.approvals.get(approval.id)).status == "pending"
    scoped = Decider("cho", "web", frozenset({"decide:tool=Wri*"}))
    assert (await decide(store, approval, by=scoped)).decided_by == "cho"


async def test_who_requested_it_may_refuse_but_not_allow(store: Store) -> None:
    """With another spelling of the name neither."""
    approval = await ask(store, requester="Ann", requirement=require(requester_may_approve=False))
    with pytest.raises(NotAllowed, match="somebody else"):
        await decide(store, approval, by=ANN)
    assert (await decide(store, approval, DENY, by=ANN)).status == "denied"


async def test_allowing_needs_the_scope_that_the_request_asks_for(store: Store) -> None:
    """Refusing does not."""
    wanted = require(scope="release")
    first, second = await ask(store, requirement=wanted), await ask(store, requirement=wanted)
    with pytest.raises(NotAllowed, match="'release' is missing"):
        await decide(store, first)
    assert (await decide(store, first, DENY)).status == "denied"
    manager = Decider("cho", "web", frozenset({"decide", "release"}))
    assert (await decide(store, second, by=manager)).status == "approved"


async def test_two_persons_must_allow_and_one_can_refuse(store: Store) -> None:
    """The vote that completes the count approves; the same person counts once."""
    approval = await ask(store, requirement=require(persons=2))
    first = choose(approval)
    voted = await store.approvals.decide(approval.id, first, ANN)
    assert (voted.status, [vote.by for vote in voted.votes]) == ("pending", ["ann"])
    assert (await store.approvals.decide(approval.id, first, ANN)).status == "pending"
    with pytest.raises(Conflict, match="somebody else must"):
        await decide(store, approval, by=Decider("ANN", "cli"))
    done = await decide(store, approval, by=BOB)
    assert (done.status, [vote.by for vote in done.votes]) == ("approved", ["ann", "bob"])

    refused = await ask(store, requirement=require(persons=2))
    await decide(store, refused, by=ANN)
    assert (await decide(store, refused, DENY, by=BOB)).status == "denied"
    with pytest.raises(Conflict, match="bob has decided"):
        await decide(store, refused, by=Decider("cho", "web"))


async def test_votes_at_the_same_moment_are_all_counted(store: Store) -> None:
    """Of six who allow at once three are needed: it is approved, and by exactly three."""
    approval = await ask(store, requirement=require(persons=3))
    results = await asyncio.gather(
        *(decide(store, approval, by=Decider(f"person-{n}", "web")) for n in range(6)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, Conflict) for one in results) == 3
    stored = await store.approvals.get(approval.id)
    assert (stored.status, len(stored.votes)) == ("approved", 3)


async def test_an_input_is_edited_only_where_that_is_offered(store: Store) -> None:
    """And only by who allows, as one object of JSON."""
    fixed, free = await ask(store), await ask(store, editable=True)
    edited = {"file_path": "notes/b.txt"}
    with pytest.raises(BadRequest, match="cannot be edited"):
        await decide(store, fixed, edited_input=edited)
    wrong: Any
    for wrong in ([], "text", 1, {"n": math.nan}, {"x": "y" * 2**20}):
        with pytest.raises((BadRequest, ValidationError)):
            await decide(store, free, edited_input=wrong)
    with pytest.raises(BadRequest, match="refuses"):
        await decide(store, free, DENY, edited_input=edited)
    assert (await decide(store, free, edited_input=edited)).edited_input == edited
    same = await decide(store, fixed, edited_input=dict(fixed.request.tool_input))
    assert same.edited_input is None


async def test_withdrawing_ends_what_is_pending_and_nothing_else(
    store: Store, clock: ManualClock
) -> None:
    """Cancelled before the deadline, expired after it; what was decided stays."""
    quiet, answered, late, decided = [await ask(store) for _ in range(4)]
    await decide(store, decided)
    assert (await store.approvals.withdraw(quiet.id)).status == "cancelled"
    closed = await store.approvals.withdraw(answered.id, by="ann", option="Deny", reason="no\0")
    assert (closed.status, closed.decided_by, closed.option) == ("cancelled", "ann", "Deny")
    assert (closed.decided_via, closed.comment) == ("terminal", "no\ufffd")
    clock.advance(60)
    assert (await store.approvals.withdraw(late.id)).status == "expired"
    assert (await store.approvals.withdraw(decided.id)).status == "approved"
    for approval in (quiet, answered, late):
        with pytest.raises(Conflict):
            await decide(store, approval)


async def test_a_decision_wakes_who_waits_and_one_before_is_found(store: Store) -> None:
    """Wherever the decision comes from; and a waiter's own time changes nothing."""
    approval = await ask(store)
    assert (await store.approvals.wait(approval.id, 0.01)).status == "pending"
    waiters = [asyncio.create_task(store.approvals.wait(approval.id, 30)) for _ in range(3)]
    await asyncio.sleep(0)
    decided = await decide(store, approval)
    assert [one.status for one in await asyncio.gather(*waiters)] == ["approved"] * 3
    assert await store.approvals.wait(approval.id, math.inf) == decided
    seconds: Any
    for seconds in (math.nan, "1", None):
        with pytest.raises(BadRequest):
            await store.approvals.wait(approval.id, seconds)


async def test_a_decision_in_another_process_wakes_who_waits(
    store: Store, store_url: str, clock: ManualClock
) -> None:
    """Two stores on one database hear of one another."""
    approval = await ask(store)
    waiter = asyncio.create_task(store.approvals.wait(approval.id, 30))
    async with await open_store(store_url, clock=clock) as other:
        await decide(other, approval)
    assert (await waiter).status == "approved"


async def test_who_waits_past_the_deadline_gets_it_expired(store_url: str) -> None:
    """By the store's own clock, and without a sweeper."""
    async with await open_store(store_url) as store:
        approval = await ask(store, timeout=0.2)
        assert (await store.approvals.wait(approval.id, 30)).status == "expired"


async def test_closing_the_store_tells_who_waits(store_url: str) -> None:
    """Nobody hangs, and nothing is left running."""
    before = asyncio.all_tasks()
    store = await open_store(store_url)
    approval = await ask(store)
    waiter = asyncio.create_task(store.approvals.wait(approval.id, 30))
    await asyncio.sleep(0.05)
    await store.close()
    with pytest.raises(StoreUnavailable):
        await waiter
    with pytest.raises(StoreUnavailable):
        await store.approvals.get(approval.id)
    assert asyncio.all_tasks() == before


async def test_pages_of_a_list_follow_one_another(store: Store, clock: ManualClock) -> None:
    """Each approval is on one page, also when many were made at the same moment."""
    asked = []
    for number in range(7):
        clock.advance(number % 2)
        asked.append(await ask(store, hook=f"hook-{number % 2}", session_id="s"))
    for newest_first in (False, True):
        seen, after = [], ""
        while True:
            wanted = ApprovalFilter(limit=2, after=after, newest_first=newest_first)
            page, after = await store.approvals.list(wanted)
            seen += [one.id for one in page]
            if not after:
                break
        created = {one.id: one.created for one in asked}
        assert sorted(seen) == sorted(created)
        times = [created[one] for one in seen]
        assert times == sorted(times, reverse=newest_first)


async def test_a_list_is_filtered_by_every_field(store: Store) -> None:
    """And a filter that means nothing is refused."""
    other = await approve(store, hook="h", tool_name="T", machine="m", session_id="s")
    await ask(store)
    for wanted in (
        ApprovalFilter(hook="h"),
        ApprovalFilter(tool="T"),
        ApprovalFilter(machine="m"),
        ApprovalFilter(session_id="s"),
        ApprovalFilter(status=("approved", "denied")),
    ):
        assert [one.id for one in (await store.approvals.list(wanted))[0]] == [other.id]
    wrong: Any
    for wrong in ({"limit": 0}, {"limit": 10**6}, {"after": "x"}, {"status": ("odd",)}):
        with pytest.raises(BadRequest):
            await store.approvals.list(ApprovalFilter(**wrong))


async def test_what_is_too_large_is_refused(store: Store) -> None:
    """Each limit, with the figure in the message."""
    many = tuple(Option(id=number, label=f"Option {number}", allows=False) for number in range(17))
    wrong: Any
    for wrong, message in (
        ({"prompt": "x" * 65_537}, "65536"),
        ({"options": many}, "16"),
        ({"options": ()}, "1 to 16"),
        ({"options": (Option(id=0, label="x" * 201, allows=True),)}, "200"),
        (
            {
                "options": (
                    Option(id=0, label="a", allows=True),
                    Option(id=0, label="b", allows=True),
                )
            },
            "same number",
        ),
        ({"tool_input": {"x": "y" * 2**20}}, "1048576"),
        ({"tool_input": {"x": object()}}, "JSON"),
        ({"session_id": ""}, "empty"),
        ({"session_id": "a\0b"}, "NUL"),
        ({"key": "k" * 401}, "400"),
        ({"requirement": require(persons=0)}, "1 to 16"),
    ):
        with pytest.raises(BadRequest, match=message):
            await ask(store, **wrong)


async def test_too_many_that_wait_are_refused(
    store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one session and in all; those whose time is over do not count."""
    monkeypatch.setattr(kept_approvals, "PENDING_OF_SESSION", 2)
    monkeypatch.setattr(kept_approvals, "PENDING", 3)
    await ask(store, session_id="s")
    known = make_request(session_id="s")
    await store.approvals.request(known)
    with pytest.raises(TooMany, match="Session"):
        await ask(store, session_id="s")
    await store.approvals.request(known)
    await ask(store)
    with pytest.raises(TooMany, match="in this store"):
        await ask(store)
    clock.advance(60)
    await ask(store, session_id="s")


async def test_what_does_not_exist_is_not_found(store: Store) -> None:
    """Reading, waiting, withdrawing and deciding; who may not decide is not even told that."""
    for work in (
        store.approvals.get("none"),
        store.approvals.wait("none", 1),
        store.approvals.withdraw("none"),
        store.approvals.decide("none", Choice(option=0, nonce="n", key="k"), ANN),
    ):
        with pytest.raises(NotFound):
            await work
    with pytest.raises(NotAllowed):
        await store.approvals.decide(
            "none", Choice(option=0, nonce="n", key="k"), Decider("e", "web", frozenset())
        )


async def test_changes_are_told_to_listeners_here_and_elsewhere(
    store: Store, store_url: str, clock: ManualClock
) -> None:
    """With the id where it is known; otherwise that something changed."""
    other = await open_store(store_url, clock=clock)
    async with other, store.listen() as here, other.listen() as there:
        approval = await ask(store)
        change = await asyncio.wait_for(anext(here), 30)
        assert (change.topic, change.subject) == ("approval", approval.id)
        heard = await asyncio.wait_for(anext(there), 30)
        assert heard.topic in ("approval", "*")


async def test_a_failed_work_leaves_nothing_and_harms_no_other(store: Store) -> None:
    """Works that are written together succeed or fail each for itself."""

    async def fail() -> None:
        def work(transaction: Any) -> None:
            transaction.run("DELETE FROM approvals")
            raise ZeroDivisionError

        await store.engine.write(work)

    kept = await ask(store)
    results = await asyncio.gather(
        *(fail() if n % 2 else ask(store) for n in range(10)), return_exceptions=True
    )
    assert sum(isinstance(one, ZeroDivisionError) for one in results) == 5
    listed, _ = await store.approvals.list()
    assert {kept.id, *(one.id for one in results if isinstance(one, Approval))} == {
        one.id for one in listed
    }


async def test_what_ended_long_ago_is_removed_and_nothing_else(
    store: Store, clock: ManualClock
) -> None:
    """With its votes; what could still run or be decided stays."""
    month = 30 * 24 * 3600.0
    old = await decide(store, await ask(store, requirement=require(persons=2)), by=BOB)
    await decide(store, old, DENY)
    open_ones = {(await ask(store, timeout=month)).id, (await approve(store)).id}
    clock.advance(month)
    fresh = await decide(store, await ask(store), DENY)
    with pytest.raises(BadRequest, match="at least"):
        await store.approvals.remove_older(month - 1)
    assert await store.approvals.remove_older(month) == 1
    kept, _ = await store.approvals.list()
    assert {one.id for one in kept} == {*open_ones, fresh.id}
    votes = await store.engine.read(lambda t: t.run("SELECT count(*) AS n FROM votes"))
    assert votes[0]["n"] == 0


def test_every_error_of_a_store_is_one_of_ours() -> None:
    """Whoever uses a store catches one class."""
    for error in (BadRequest, Conflict, NotAllowed, NotFound, StoreUnavailable, TooMany):
        assert issubclass(error, StoreError)
