"""Deciding: what a choice means, who may decide, votes of several, how it ends."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.errors import BadRequest, Conflict, NotAllowed
from amplifier_hooks.approvals.models import Approval, Choice, Decider, Option, StandingWish
from amplifier_hooks.approvals.stores.decisions import (
    allows,
    cast_vote,
    decide,
    describe_end,
    expire_one,
    find_vote,
    read_choice,
    read_wait,
    refuse_bystander,
    refuse_unauthorised,
)
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import (
    ALLOW,
    ALWAYS,
    ANN,
    BOB,
    DENY,
    ManualClock,
    approve,
    ask,
    choose,
    make_request,
    read_call,
    require,
)


def make_approval(**changes: Any) -> Approval:
    return Approval(
        id="id",
        nonce="nonce",
        status="pending",
        request=make_request(**changes),
        created=0.0,
        deadline=60.0,
        updated=0.0,
        seconds_left=60.0,
    )


@given(st.integers())
def test_only_the_number_of_an_option_is_an_answer(value: int) -> None:
    """Others were not offered."""
    choice = Choice(option=value, nonce="nonce", key="key")
    if value in (0, 1, 2):
        assert read_choice(make_approval(), choice).option.id == value
    else:
        with pytest.raises(BadRequest, match="was not offered"):
            read_choice(make_approval(), choice)


@pytest.mark.parametrize("field", ["key", "nonce"])
@pytest.mark.parametrize("value", ["", "a\0", "\ud800", "x" * 401])
def test_names_are_names(field: str, value: str) -> None:
    """What no database keeps is refused before anything looks at it."""
    given_values: dict[str, Any] = {"option": 0, "nonce": "n", "key": "k", field: value}
    with pytest.raises(BadRequest, match=field):
        read_choice(make_approval(), Choice(**given_values))


def test_an_input_that_was_not_changed_is_not_edited() -> None:
    """So what runs is held to the digest that was shown."""
    approval = make_approval(editable=True)
    same = Choice(option=ALLOW, nonce="n", key="k", edited_input=dict(approval.request.tool_input))
    assert read_choice(approval, same).edited_input is None
    other = Choice(option=ALLOW, nonce="n", key="k", edited_input={"b": 1, "a": [None]})
    assert read_choice(approval, other).edited_input == '{"b":1,"a":[null]}'


def test_a_comment_is_kept_readable() -> None:
    """Cut to its limit, without what no database keeps."""
    read = read_choice(
        make_approval(), Choice(option=DENY, nonce="n", key="k", comment="a\0b\ud800" + "x" * 5000)
    )
    assert read.comment.startswith("a\ufffdb\ufffdx")
    assert len(read.comment) == 4096


def test_a_wish_names_one_of_the_offered_scopes() -> None:
    """With the words that the person has read."""
    read = read_choice(
        make_approval(),
        Choice(option=ALLOW, nonce="n", key="k", standing=StandingWish(scope="exact")),
    )
    assert read.scope is not None
    assert read.scope.words.startswith("Allow Write with exactly this input")


@pytest.mark.parametrize(
    ("given_seconds", "read"), [(0, 0.0), (-5, 0.0), (1.5, 1.5), (math.inf, math.inf)]
)
def test_a_wait_is_a_length_of_time(given_seconds: float, read: float) -> None:
    """Less than nothing is nothing."""
    assert read_wait(given_seconds) == read


@pytest.mark.parametrize("seconds", [math.nan, True, "1", None])
def test_what_is_no_length_of_time_is_no_wait(seconds: Any) -> None:
    """Of whatever type it is."""
    with pytest.raises(BadRequest, match="Wait for a number"):
        read_wait(seconds)


EDIT = {"file_path": "other"}
YEAR = 366 * 24 * 3600.0


@pytest.mark.parametrize(
    ("facts", "chosen", "why"),
    [
        ({"editable": True}, {"option": DENY, "edited_input": EDIT}, "no input to edit"),
        ({}, {"edited_input": EDIT}, "cannot be edited; allow or refuse"),
        ({"editable": True, "requirement": require(persons=2)}, {"edited_input": EDIT}, "Several"),
        ({}, {"option": DENY, "standing": StandingWish(scope="exact")}, "only what allows"),
        (
            {"editable": True},
            {"edited_input": EDIT, "standing": StandingWish(scope="exact")},
            "edited input cannot be kept",
        ),
        ({}, {"standing": StandingWish(scope="exact", seconds=YEAR + 1)}, "lifetime of a rule"),
        (
            {},
            {"standing": StandingWish(scope="exact", seconds=60, uses=0)},
            "1 to 1000000 times, not 0",
        ),
        ({}, {"standing": StandingWish(scope="exact", seconds=60, uses=1_000_001)}, "not 1000001"),
        ({}, {"standing": StandingWish(scope="all")}, "offered: exact, below:/home"),
        ({"default": "allow"}, {"standing": StandingWish(scope="exact")}, "offered: none"),
    ],
)
def test_what_was_not_offered_is_refused_with_the_reason(
    facts: dict[str, Any], chosen: dict[str, Any], why: str
) -> None:
    """In words that say what would do."""
    choice: dict[str, Any] = {"option": ALLOW, "nonce": "n", "key": "k", **chosen}
    with pytest.raises(BadRequest, match=why):
        read_choice(make_approval(**facts), Choice(**choice))


def test_a_rule_may_last_a_year_and_serve_a_million_times_or_once() -> None:
    """Both ends count."""
    for wish in (
        StandingWish(scope="exact", seconds=YEAR, uses=1_000_000),
        StandingWish(scope="exact", seconds=1, uses=1),
    ):
        read = read_choice(make_approval(), Choice(option=ALLOW, nonce="n", key="k", standing=wish))
        assert read.standing == wish


SCOPES = ["read", "decide", "admin", "run", "release", "decide:hook=*", "decide:tool=*", "decide:"]


def may(decider: Decider, allows: bool = True, **request: Any) -> bool:
    try:
        refuse_unauthorised(make_request(**request), decider, allows)
    except NotAllowed:
        return False
    return True


@given(st.frozensets(st.sampled_from(SCOPES)), st.booleans())
def test_an_agent_never_decides(scopes: frozenset[str], allows: bool) -> None:
    """Whatever else its credential holds."""
    agent = Decider("agent-1", "api", scopes | {"agent"})
    assert not may(agent, allows)
    with pytest.raises(NotAllowed, match="agents can never decide"):
        refuse_bystander(agent)


@given(st.frozensets(st.sampled_from(SCOPES)))
def test_nobody_decides_without_a_scope_for_it(scopes: frozenset[str]) -> None:
    """Exactly three of these grant it."""
    grants = scopes & {"decide", "decide:hook=*", "decide:tool=*"}
    assert may(Decider("ann", "web", scopes)) is bool(grants)


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        ("decide:hook=production-guard", True),
        ("decide:hook=production-*", True),
        ("decide:hook=Production-guard", False),
        ("decide:hook=production", False),
        ("decide:hook=", False),
        ("decide:tool=Wr?te", True),
        ("decide:tool=Bash", False),
        ("decide:other=*", False),
        ("DECIDE", False),
    ],
)
def test_a_scope_may_be_for_one_hook_or_tool(scope: str, covered: bool) -> None:
    """By a glob that heeds letter case."""
    assert may(Decider("ann", "web", frozenset({scope}))) is covered


@pytest.mark.parametrize("name", ["", "  ", "\t"])
def test_nobody_is_no_decider(name: str) -> None:
    """A name is needed."""
    assert not may(Decider(name, "web"))


@pytest.mark.parametrize("name", ["ann", "ANN", " Ann ", "\uff41nn"])
def test_who_requested_it_cannot_allow_it_under_another_spelling(name: str) -> None:
    """Where that is required; refusing is always possible."""
    facts: dict[str, Any] = {
        "requester": "Ann",
        "requirement": require(requester_may_approve=False),
    }
    assert not may(Decider(name, "web"), **facts)
    assert may(Decider(name, "web"), allows=False, **facts)
    assert may(Decider("bob", "web"), **facts)


def test_a_requirement_may_ask_for_a_further_scope() -> None:
    """Only of who allows."""
    facts: dict[str, Any] = {"requirement": require(scope="release")}
    assert may(Decider("cho", "web", frozenset({"decide", "release"})), **facts)
    assert not may(Decider("ann", "web"), **facts)
    assert may(Decider("ann", "web"), allows=False, **facts)


def test_a_bystander_is_told_so_before_anything_else() -> None:
    """Who has no scope to decide learns nothing about what there is."""
    with pytest.raises(NotAllowed, match="the scope 'decide' is missing"):
        refuse_bystander(Decider("eve", "web", frozenset({"read", "decided", "decide:"})))
    refuse_bystander(Decider("ann", "web", frozenset({"decide:tool=Bash"})))


async def vote(store: Store, approval: Approval, name: str, choice: Choice | None = None) -> bool:
    return await store.engine.write(
        lambda transaction: cast_vote(
            transaction, approval, choice or choose(approval), Decider(name, "web"), "Allow once"
        )
    )


async def test_a_person_has_one_vote_however_the_name_is_written(store: Store) -> None:
    """The first one counts."""
    approval = await ask(store, requirement=require(persons=3))
    assert await vote(store, approval, "Ann")
    assert not await vote(store, approval, "ANN ")
    assert await vote(store, approval, "bob")
    votes = (await store.approvals.get(approval.id)).votes
    assert [one.by for one in votes] == ["Ann", "bob"]
    kept = await store.engine.read(lambda t: find_vote(t, approval.id, "ann"))
    assert kept is not None
    assert kept["voter"] == "Ann"
    assert await store.engine.read(lambda t: find_vote(t, approval.id, "cho")) is None


async def test_no_vote_counts_after_the_deadline_or_for_another_question(
    store: Store, clock: ManualClock
) -> None:
    """Both are part of the statement."""
    approval = await ask(store, requirement=require(persons=2))
    assert not await vote(store, approval, "ann", Choice(option=0, nonce="other", key="key"))
    clock.advance(60)
    assert not await vote(store, approval, "ann")
    assert (await store.approvals.get(approval.id)).votes == ()


@pytest.mark.parametrize(
    ("first", "second"), [(ALLOW, ALWAYS), (ALWAYS, ALLOW), (ALLOW, ALLOW), (ALWAYS, ALWAYS)]
)
async def test_what_is_allowed_is_what_all_have_allowed(
    store: Store, first: int, second: int
) -> None:
    """Who allowed it once did not allow it for always."""
    approval = await ask(store, requirement=require(persons=2))
    await store.approvals.decide(approval.id, choose(approval, first), ANN)
    decided = await store.approvals.decide(approval.id, choose(approval, second), BOB)
    wanted = "Allow always" if (first, second) == (ALWAYS, ALWAYS) else "Allow once"
    assert (decided.status, decided.option) == ("approved", wanted)


async def test_votes_for_different_things_are_not_added_up(store: Store) -> None:
    """Nobody allowed both, so the second may choose the same as the first, or refuse."""
    options = (
        Option(id=0, label="Allow on staging", allows=True),
        Option(id=1, label="Allow everywhere", allows=True),
    )
    approval = await ask(store, options=options, requirement=require(persons=2))
    await store.approvals.decide(approval.id, choose(approval, 0), ANN)
    with pytest.raises(Conflict, match="'Allow on staging' and 'Allow everywhere'"):
        await store.approvals.decide(approval.id, choose(approval, 1), BOB)
    waiting = await store.approvals.get(approval.id)
    assert (waiting.status, [vote.by for vote in waiting.votes]) == ("pending", ["ann"])
    assert (await store.approvals.decide(approval.id, choose(approval, 0), BOB)).votes[
        1
    ].by == "bob"


async def record_statements(store: Store, approval: Approval, choice: Any, by: Any) -> list[str]:
    seen: list[str] = []

    def work(transaction: Any) -> None:
        class Recording:
            def run(self, statement: str, **values: Any) -> Any:
                seen.append(statement.split()[0])
                return transaction.run(statement, **values)

            announce = transaction.announce

        decide(Recording(), approval.id, choice, by)

    await store.engine.write(work)
    return seen


async def test_a_decision_is_one_conditional_statement(store: Store) -> None:
    """One look, one update; who comes later needs the look only."""
    approval = await ask(store)
    assert await record_statements(store, approval, choose(approval), ANN) == ["SELECT", "UPDATE"]
    assert await record_statements(store, approval, choose(approval, DENY), BOB) == ["SELECT"]


async def test_a_rule_is_made_in_the_transaction_that_decides(store: Store) -> None:
    """If that fails, there is no rule."""
    approval = await ask(store)
    wish = choose(approval, standing=StandingWish(scope="exact"))

    def work(transaction: Any) -> None:
        decided = decide(transaction, approval.id, wish, ANN)
        assert isinstance(decided, Approval)
        assert decided.rule_id
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.engine.write(work)
    assert await store.rules.list() == []
    decided = await store.approvals.decide(approval.id, wish, ANN)
    assert [rule.id for rule in await store.rules.list()] == [decided.rule_id]


async def test_the_loser_gets_a_conflict_back_and_not_raised(store: Store) -> None:
    """So that what was written on the way stays."""
    approval = await ask(store)
    await store.approvals.decide(approval.id, choose(approval), ANN)
    lost = await store.engine.write(
        lambda transaction: decide(transaction, approval.id, choose(approval), BOB)
    )
    assert isinstance(lost, Conflict)
    assert lost.approval.decided_by == "ann"


@pytest.mark.parametrize(
    ("status", "by", "sentence"),
    [
        ("expired", "", "Nobody decided in time; it has expired"),
        ("cancelled", "", "The agent has stopped asking"),
        ("cancelled", "ann", "ann has decided already: Deny"),
        ("denied", "ann", "ann has decided already: Deny"),
    ],
)
def test_how_it_ended_is_said_in_a_sentence(status: Any, by: str, sentence: str) -> None:
    """For the person who clicked a moment too late."""
    facts: Any = {"decided_by": by, "option": "Deny"} if by else {}
    ended = Approval(
        id="id",
        nonce="nonce",
        status=status,
        request=make_request(),
        created=0.0,
        deadline=60.0,
        updated=0.0,
        seconds_left=0.0,
        **facts,
    )
    assert describe_end(ended) == sentence


@pytest.mark.parametrize(
    ("label", "allowed"),
    [("Allow once", True), ("Deny", False), ("Yes, go on", True), ("Later", False), ("", False)],
)
def test_an_answer_at_the_terminal_means_what_was_offered(label: str, allowed: bool) -> None:
    """A label that was not offered means what the kernel reads in it: no, unless clearly yes."""
    approval = Approval(
        id="id",
        nonce="n",
        status="pending",
        request=make_request(),
        created=0.0,
        deadline=60.0,
        updated=0.0,
        seconds_left=60.0,
    )
    assert allows(approval, label) is allowed


async def test_one_approval_is_expired_at_its_deadline_and_not_before(
    store: Store, clock: ManualClock
) -> None:
    """And only once."""
    approval = await ask(store)
    for seconds, expired in ((59.999, False), (0.001, True), (1.0, False)):
        clock.advance(seconds)
        done = await store.engine.write(lambda t: expire_one(t, approval.id))
        assert done is expired


async def test_a_name_without_an_answer_is_no_answer(store: Store) -> None:
    """Both are needed to say that somebody decided; an odd name is refused."""
    approval = await ask(store)
    with pytest.raises(BadRequest, match="NUL"):
        await store.approvals.withdraw(approval.id, by="a\0", option="Deny")
    done = await store.approvals.withdraw(approval.id, by="ann", reason="asked elsewhere")
    assert (done.decided_by, done.decided_at, done.comment) == ("", None, "asked elsewhere")


async def test_every_ending_is_told_to_listeners(store: Store, clock: ManualClock) -> None:
    """Swept, given up and withdrawn ones, each by its id; what changed nothing is no news."""
    overdue, withdrawn = await ask(store), await ask(store, timeout=600.0)
    lost = await approve(store, timeout=600.0)
    await store.claims.claim(**read_call(lost), lease=1.0)
    clock.advance(60)
    async with store.listen() as changes:
        await store.approvals.expire_overdue()
        await store.approvals.mark_lost()
        await store.approvals.withdraw(withdrawn.id)
        last = await ask(store)
        await store.approvals.withdraw(withdrawn.id)
        clock.advance(60)
        await store.approvals.withdraw(last.id)
        heard = [(await asyncio.wait_for(anext(changes), 30)).subject for _ in range(5)]
    assert heard == [overdue.id, lost.id, withdrawn.id, last.id, last.id]


async def test_an_answer_at_the_terminal_counts_as_one(store: Store) -> None:
    """Allowed or refused, for the figures about hooks; a withdrawal without one is neither."""
    for option in ("Allow once", "Deny", ""):
        await store.approvals.withdraw((await ask(store)).id, by="ann", option=option)
    (counted,) = await store.statistics.overrulings(0)
    assert (counted.asked, counted.allowed, counted.denied) == (3, 1, 1)
