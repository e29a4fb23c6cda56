"""The life of approvals against a small model: whatever happens, in whatever order."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import Approval, Choice, Claim, Decider
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.stores import ALLOW, DENY, ManualClock, make_request, require

T = TypeVar("T")
LEASE = 8.0


@dataclass
class Expected:
    """What the model knows of an approval."""

    asked: Approval
    status: str = "pending"
    votes: set[str] = field(default_factory=set)
    claim: Claim | None = None
    lease: float = 0.0
    runs: int = 0


class Life(RuleBasedStateMachine):
    """People, agents, time and crashes, at random."""

    url = ""
    approvals = Bundle("approvals")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = ManualClock()
        self.expected: dict[str, Expected] = {}
        self.store: Store = self.run(self.open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def open(self) -> Store:
        return await open_store(self.url or Path(self.folder.name) / "store.db", clock=self.clock)

    def teardown(self) -> None:
        self.run(self.store.close())
        self.runner.close()
        self.folder.cleanup()

    def is_overdue(self, one: Expected) -> bool:
        return one.status == "pending" and self.clock.now >= one.asked.deadline

    def attempt(self, work: Coroutine[Any, Any, T]) -> T | Conflict:
        try:
            return self.run(work)
        except Conflict as conflict:
            return conflict

    @rule(target=approvals, timeout=st.sampled_from([1.0, 5.0, 60.0]), persons=st.integers(1, 2))
    def request(self, timeout: float, persons: int) -> Expected:
        """An agent asks; the same request again finds the same row."""
        request = make_request(timeout=timeout, requirement=require(persons=persons))
        asked = self.run(self.store.approvals.request(request))
        assert self.run(self.store.approvals.request(request)).id == asked.id
        self.expected[asked.id] = Expected(asked)
        return self.expected[asked.id]

    @rule(
        one=approvals,
        person=st.sampled_from(["ann", "bob", "cho"]),
        option=st.sampled_from([ALLOW, ALLOW, DENY]),
        nonce=st.sampled_from(["right", "right", "right", "wrong"]),
    )
    def decide(self, one: Expected, person: str, option: int, nonce: str) -> None:
        """A person answers."""
        nonce = one.asked.nonce if nonce == "right" else "made up"
        choice = Choice(option=option, nonce=nonce, key=f"{person}-{option}-{self.clock.now}")
        done = self.attempt(
            self.store.approvals.decide(one.asked.id, choice, Decider(person, "web"))
        )
        counts = one.status == "pending" and not self.is_overdue(one) and nonce == one.asked.nonce
        again = option == ALLOW and person in one.votes
        if self.is_overdue(one):
            one.status = "expired"
        elif counts and option == DENY:
            one.status = "denied"
        elif counts and not again:
            one.votes.add(person)
            if len(one.votes) >= one.asked.request.requirement.persons:
                one.status = "approved"
        if isinstance(done, Conflict):
            assert not counts or again
        else:
            assert done.status == one.status

    @rule(one=approvals, answered=st.booleans())
    def withdraw(self, one: Expected, answered: bool) -> None:
        """The agent stops asking."""
        said: dict[str, Any] = {"by": "ann", "option": "Allow once"} if answered else {}
        done = self.run(self.store.approvals.withdraw(one.asked.id, **said))
        if one.status == "pending":
            one.status = "expired" if self.is_overdue(one) else "cancelled"
        assert done.status == one.status

    @rule(one=approvals)
    def wait(self, one: Expected) -> None:
        """Somebody looks."""
        done = self.run(self.store.approvals.wait(one.asked.id, 0))
        if self.is_overdue(one):
            one.status = "expired"
        assert done.status == one.status

    @rule()
    def sweep(self) -> None:
        """A server ends what is overdue."""
        ours = self.expected.keys()
        expired = {one.id for one in self.run(self.store.approvals.expire_overdue())} & ours
        lost = {one.id for one in self.run(self.store.approvals.mark_lost())} & ours
        overdue = {id for id, one in self.expected.items() if self.is_overdue(one)}
        lapsed = {
            id
            for id, one in self.expected.items()
            if one.status == "executing" and one.lease <= self.clock.now
        }
        assert (expired, lost) == (overdue, lapsed)
        for ended, status in ((expired, "expired"), (lost, "unknown")):
            for id in ended:
                self.expected[id].status = status

    @rule(one=approvals, right=st.sampled_from([True, True, False]))
    def claim(self, one: Expected, right: bool) -> None:
        """A worker wants to run the call."""
        request = one.asked.request
        digest = request.digest if right else "changed meanwhile"
        claim = self.store.claims.claim(request.session_id, request.tool_call_id, digest, LEASE)
        done = self.attempt(claim)
        if isinstance(done, Claim):
            assert (one.status, right) == ("approved", True)
            one.status, one.claim, one.lease = "executing", done, self.clock.now + LEASE
            one.runs += 1
        elif done is None:  # answered at the terminal
            assert one.status == "cancelled"
        else:
            assert one.status != "approved" or not right

    @rule(one=approvals, ends=st.booleans())
    def finish(self, one: Expected, ends: bool) -> None:
        """A worker is done, or still at it; perhaps one that was given up."""
        if one.claim is None:
            return
        work: Coroutine[Any, Any, Any] = (
            self.store.claims.finish(one.claim, "executed")
            if ends
            else self.store.claims.renew(one.claim, LEASE)
        )
        done = self.attempt(work)
        held = one.status == "executing" or (ends and one.status == "executed")
        assert isinstance(done, Conflict) is not held
        if held and ends:
            one.status = "executed"
        elif held:
            one.lease = self.clock.now + LEASE

    @rule(seconds=st.sampled_from([0.001, 1.0, 5.0, 8.0, 3600.0]))
    def pass_time(self, seconds: float) -> None:
        """Time passes, also by the hour."""
        self.clock.advance(seconds)

    @rule(one=approvals, off=st.sampled_from([-0.001, 0.0, 0.001]))
    def reach_deadline(self, one: Expected, off: float) -> None:
        """Time comes to within a millisecond of a deadline."""
        self.clock.now = max(self.clock.now, one.asked.deadline + off)

    @rule()
    def restart(self) -> None:
        """Another process goes on with the same database."""
        self.run(self.store.close())
        self.store = self.run(self.open())

    @invariant()
    def check_rows(self) -> None:
        """Each row is as the model says: one end, one run, of what was shown."""
        for id, one in self.expected.items():
            stored = self.run(self.store.approvals.get(id))
            assert stored.status == one.status
            assert stored.request == one.asked.request
            assert one.runs <= 1
            assert stored.status == "pending" or stored.seconds_left == 0.0
            if one.runs:
                assert len(one.votes) >= stored.request.requirement.persons


def live(url: str, examples: int, steps: int) -> None:
    class Here(Life):
        pass

    Here.url = url
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_an_approval_has_one_end_and_one_run(database: str, request: pytest.FixtureRequest) -> None:
    """Asked, decided, voted on, withdrawn, expired, claimed, lost and restarted, as the model."""
    url = str(request.getfixturevalue("shared_database")) if database == "postgres" else ""
    live(url, 3 if url else 6, 25)


@pytest.mark.slow
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_an_approval_has_one_end_and_one_run_in_long_lives(
    database: str, request: pytest.FixtureRequest
) -> None:
    """The same with thousands of steps."""
    url = str(request.getfixturevalue("shared_database")) if database == "postgres" else ""
    live(url, 300, 60)
