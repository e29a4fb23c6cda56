"""What does not read every approval that was ever asked, however many there are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from secrets import token_hex
from typing import Any

import psycopg
import pytest

from amplifier_hooks.approvals.models import ApprovalFilter, Status
from amplifier_hooks.approvals.stores import statistics
from amplifier_hooks.approvals.stores.approval_rows import list_approvals
from amplifier_hooks.approvals.stores.engine import Row, Transaction
from amplifier_hooks.approvals.stores.ownership import refuse_foreign_session
from amplifier_hooks.approvals.stores.statistics import count_answers
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import DENY, ManualClock, ask, decide

MANY = 5_000
_COLUMNS = (
    "status, session_id, tool_call_id, hook, event, tool_name, machine, requester, digest, "
    "default_answer, persons, request, created, deadline, updated, allowed, decided_by"
)
_COPY = f"""
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {MANY})
INSERT INTO approvals (id, request_key, nonce, {_COLUMNS})
SELECT id || '-' || n, request_key || '-' || n, nonce, {_COLUMNS} FROM approvals, numbers
"""


class Explained:
    """Runs statements, and keeps how the database found their rows."""

    def __init__(self, transaction: Transaction, explain: str) -> None:
        self._transaction, self._explain = transaction, explain
        self.plans: list[str] = []

    def run(self, statement: str, **values: Any) -> list[Row]:
        plan = self._transaction.run(f"{self._explain} {statement}", **values)
        self.plans.append("\n".join(str(list(row.values())) for row in plan))
        return self._transaction.run(statement, **values)

    def announce(self, topic: str, subject: str) -> None:
        raise AssertionError("nothing is changed here")


@pytest.fixture
async def full(store: Store, store_url: str) -> Store:
    """A store with many finished approvals, of which PostgreSQL keeps figures."""
    asked = await ask(store, prompt=token_hex(300))  # about as large as they are
    await decide(store, asked, DENY)
    await store.engine.write(lambda transaction: transaction.run(_COPY))
    if store_url.startswith("postgres"):
        with psycopg.connect(store_url, autocommit=True) as connection:
            connection.execute(
                "REINDEX TABLE approvals"
            )  # what other tests removed left room in it
            connection.execute("VACUUM ANALYZE approvals")
    return store


async def explain(store: Store, url: str, work: Callable[[Transaction], Any]) -> str:
    """How the database finds what `work` reads."""
    word = "EXPLAIN QUERY PLAN" if url.startswith("sqlite") else "EXPLAIN"

    def run(transaction: Transaction) -> str:
        explained = Explained(transaction, word)
        work(explained)
        return "\n".join(explained.plans)

    return await store.engine.read(run)


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (ApprovalFilter(hook="gone"), "approvals_by_hook"),
        (ApprovalFilter(machine="gone", newest_first=True), "approvals_by_machine"),
        (ApprovalFilter(tool="gone"), "approvals_by_tool"),
        (ApprovalFilter(session_id="gone"), "approvals_by_"),
        (
            ApprovalFilter(status=("pending",), hook="production-guard"),
            "approvals_by_deadline|approvals_waiting",
        ),
        (ApprovalFilter(newest_first=True), "approvals_by_time"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_a_list_finds_its_approvals_by_an_index(
    full: Store, store_url: str, wanted: ApprovalFilter, index: str
) -> None:
    """A hook, machine or tool that is rare or gone is not looked for in all."""
    plan = await explain(full, store_url, lambda one: list_approvals(one, wanted))
    assert any(one in plan for one in index.split("|"))
    assert "Seq Scan on approvals" not in plan


async def test_how_people_answered_is_counted_without_reading_a_row(
    full: Store, store_url: str, clock: ManualClock
) -> None:
    """All that is counted stands in the index."""
    since = clock.now - 3600
    (one,) = await full.statistics.overrulings(since)
    assert (one.asked, one.allowed, one.denied) == (MANY + 1, 0, MANY + 1)
    plan = await explain(full, store_url, lambda reading: count_answers(reading, since))
    assert "approvals_by_hook" in plan
    assert "COVERING INDEX" in plan or "Index Only Scan" in plan


async def test_a_question_finds_its_session_by_indexes(full: Store, store_url: str) -> None:
    """Whose it is, and how many wait in it, however much was asked in it before."""

    def put(transaction: Transaction) -> None:
        refuse_foreign_session(transaction, "agent-1", "gone")
        transaction.run(
            "SELECT count(*) FROM approvals "
            "WHERE session_id = :session_id AND status = 'pending' AND deadline > 0",
            session_id="gone",
        )

    plan = await explain(full, store_url, put)
    assert "approvals_by_owner" in plan
    assert "approvals_waiting" in plan
    assert "Seq Scan on approvals" not in plan
    assert "SCAN approvals" not in plan


async def test_what_pages_and_monitoring_ask_for_reads_no_table_of_approvals(
    full: Store, store_url: str
) -> None:
    """The history of the page, what waits, and the states of all for `/metrics`."""
    ended: tuple[Status, ...] = (
        "approved",
        "executing",
        "executed",
        "failed",
        "unknown",
        "denied",
        "expired",
    )
    for wanted in (
        ApprovalFilter(status=ended, newest_first=True, limit=50),
        ApprovalFilter(status=ended, hook="gone", newest_first=True),
        ApprovalFilter(status=("pending",)),
    ):
        plan = await explain(full, store_url, partial(list_approvals, wanted=wanted))
        assert "Seq Scan on approvals" not in plan
        assert "SCAN approvals\n" not in f"{plan}\n"
    plan = await explain(
        full, store_url, lambda one: one.run(statistics._STATES.format(table="approvals"))
    )
    assert "Index Only Scan" in plan or "COVERING INDEX" in plan
