"""Work that meets others, outages, and commits without an answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier, Event, Thread
from time import monotonic

import pytest

from amplifier_hooks.approvals.errors import StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores import postgres as worker_module
from amplifier_hooks.approvals.stores.engine import Change, Transaction
from amplifier_hooks.approvals.stores.postgres import Worker, make_room_for_marks
from amplifier_hooks.approvals.stores.postgres_connection import (
    CHANNEL,
    Connections,
    open_connection,
    read_notice,
)
from tests.support.postgres_proxy import Break, BreakingProxy

PATIENCE = 60.0


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[BreakingProxy]:
    with open_connection(postgres_url) as connection:
        connection.execute("CREATE TABLE counts (id TEXT PRIMARY KEY, n BIGINT NOT NULL)")
        connection.execute("INSERT INTO counts VALUES ('a', 0), ('b', 0)")
    with TemporaryDirectory(prefix="pg-") as folder:
        made = BreakingProxy(postgres_url, Path(folder))
        with made.run():
            yield made


@pytest.fixture
def closing() -> Event:
    return Event()


@pytest.fixture
def worker(proxy: BreakingProxy, closing: Event) -> Iterator[Worker]:
    connections = Connections(proxy.url)
    made = Worker(connections, "postgresql:///x", None, closing)
    made.prepare(make_room_for_marks, soon())
    yield made
    connections.close()


def soon() -> float:
    return monotonic() + PATIENCE


def count_up(transaction: Transaction, of: str = "a") -> int:
    row = transaction.run("UPDATE counts SET n = n + 1 WHERE id = :of RETURNING n", of=of)[0]
    transaction.announce("count", of)
    return int(row["n"])


def read_count(worker: Worker) -> int:
    work = "SELECT n FROM counts WHERE id = 'a'"
    return worker.read(lambda transaction: int(transaction.run(work)[0]["n"]), soon())


@pytest.mark.parametrize("part", ["request", "answer"])
def test_a_commit_without_an_answer_is_neither_lost_nor_done_twice(
    worker: Worker, proxy: BreakingProxy, postgres_url: str, part: Break
) -> None:
    """Whether it was carried out is asked of the server, which knows."""
    with open_connection(postgres_url) as hearing:
        hearing.execute(f"LISTEN {CHANNEL}")
        proxy.break_at("COMMIT", part)
        assert worker.write(count_up, soon()) == 1
        assert proxy.broken == 1
        assert read_count(worker) == 1
        heard = {read_notice(one.payload) for one in hearing.notifies(timeout=30, stop_after=1)}
    assert heard == {Change("count", "a")}  # more than once does no harm


@pytest.mark.parametrize("words", ["BEGIN", "UPDATE counts", "REPEATABLE READ", "SELECT n"])
def test_work_that_lost_its_connection_is_done_again(
    worker: Worker, proxy: BreakingProxy, words: str
) -> None:
    """Before the COMMIT nothing has happened yet."""
    assert worker.write(count_up, soon()) == 1
    proxy.break_at(words, "request")
    assert worker.write(count_up, soon()) == 2
    assert read_count(worker) == 2
    assert proxy.broken == 1


def test_a_fate_that_cannot_be_learned_is_said_to_be_unknown(
    worker: Worker, proxy: BreakingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told that it was recorded, nor that it was not."""
    monkeypatch.setattr(worker_module, "DOUBT_SECONDS", 0.2)

    def count_up_and_lose_the_server(transaction: Transaction) -> int:
        found = count_up(transaction)
        proxy.break_at("COMMIT", "request")
        proxy.refuse()
        return found

    with pytest.raises(StoreUnavailable, match="whether that was carried out is not known"):
        worker.write(count_up_and_lose_the_server, monotonic() + 0.2)


def test_two_that_lock_each_other_out_both_succeed(worker: Worker) -> None:
    """The database ends one of them, which is run again."""
    both_have_one, results = Barrier(2), []
    first_time = Barrier(2)

    def count_both(one: str, other: str) -> None:
        tries = iter((True, False, False))

        def work(transaction: Transaction) -> int:
            count_up(transaction, one)
            if next(tries):
                both_have_one.wait(PATIENCE)
            return count_up(transaction, other)

        first_time.wait(PATIENCE)
        results.append(worker.write(work, soon()))

    threads = [Thread(target=count_both, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert sorted(results) == [1, 2]
    assert read_count(worker) == 2


def test_an_error_of_the_work_itself_undoes_it_and_is_passed_on(worker: Worker) -> None:
    """It is not tried again."""
    calls = []

    def fail(transaction: Transaction) -> None:
        calls.append(count_up(transaction))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        worker.write(fail, soon())
    assert calls == [1]
    assert read_count(worker) == 0


def test_a_statement_that_cannot_be_is_an_error_at_once(worker: Worker) -> None:
    """Trying again would not help."""
    with pytest.raises(StoreError, match="nowhere"):
        worker.write(lambda transaction: transaction.run("DELETE FROM nowhere"), soon())


def test_a_failure_that_the_work_passed_over_is_not_reported_as_success(worker: Worker) -> None:
    """PostgreSQL gives up the whole transaction when one statement fails."""

    def pass_over(transaction: Transaction) -> None:
        count_up(transaction)
        with pytest.raises(Exception, match="nowhere"):
            transaction.run("DELETE FROM nowhere")

    with pytest.raises(StoreError, match="nothing of it was recorded"):
        worker.write(pass_over, soon())
    assert read_count(worker) == 0


def test_work_that_reads_cannot_write(worker: Worker) -> None:
    """It is refused at once, and does not count as a server that became a standby."""
    with pytest.raises(StoreError, match="only reads"):
        worker.read(count_up, soon())


def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_allowed(
    worker: Worker, proxy: BreakingProxy
) -> None:
    """Then the error names it."""
    proxy.refuse()
    with pytest.raises(StoreUnavailable, match="postgresql:///x does not answer"):
        worker.write(count_up, monotonic() + 0.1)


def test_closing_ends_the_waiting_for_a_server(
    worker: Worker, proxy: BreakingProxy, closing: Event
) -> None:
    """Whoever closes a store does not wait for one that is gone."""
    proxy.refuse()
    closing.set()
    with pytest.raises(StoreUnavailable):
        worker.write(count_up, monotonic() + 10_000)
