"""A store in PostgreSQL: its workers, marks and notices."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier, Event, Thread
from time import monotonic

import psycopg
import pytest

from amplifier_hooks.approvals.errors import BadRequest, StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores import postgres as engine_module
from amplifier_hooks.approvals.stores import postgres as mark_module
from amplifier_hooks.approvals.stores import postgres as worker_module
from amplifier_hooks.approvals.stores import postgres_connection as connection_module
from amplifier_hooks.approvals.stores.engine import Change, Engine, Transaction
from amplifier_hooks.approvals.stores.postgres import (
    READERS,
    WRITERS,
    Doubt,
    Mark,
    PostgresEngine,
    Worker,
    check_server,
    make_room_for_marks,
)
from amplifier_hooks.approvals.stores.postgres_connection import (
    CHANNEL,
    LOCK_SECONDS,
    Connection,
    Connections,
    PostgresTransaction,
    begin_writing,
    commit,
    open_connection,
    read_notice,
    roll_back,
)
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.postgres_proxy import Break, BreakingProxy
from tests.support.postgres_server import PostgresServer
from tests.support.stores import make_request
from tests.support.waiting import wait_until


@pytest.fixture
async def engine(postgres_url: str) -> AsyncIterator[Engine]:
    opened = await PostgresEngine.open(postgres_url, patience=60.0)
    await opened.write(lambda transaction: transaction.run("CREATE TABLE words (word TEXT)"))
    yield opened
    await opened.close()


def keep(word: str):
    def work(transaction: Transaction) -> str:
        transaction.run("INSERT INTO words VALUES (:word)", word=word)
        transaction.announce("word", word)
        return word

    return work


def list_words(transaction: Transaction) -> list[str]:
    return [row["word"] for row in transaction.run("SELECT word FROM words ORDER BY word")]


async def test_what_was_written_is_there_for_others(engine: Engine, postgres_url: str) -> None:
    """With the result of the work."""
    assert await engine.write(keep("one")) == "one"
    other = await PostgresEngine.open(postgres_url)
    assert await other.read(list_words) == ["one"]
    await other.close()


async def test_changes_are_heard_here_and_elsewhere(engine: Engine, postgres_url: str) -> None:
    """Both engines hear of what one of them wrote."""
    other = await PostgresEngine.open(postgres_url)
    async with engine.listen() as here, other.listen() as there:
        await engine.write(keep("one"))
        assert await anext(here) == Change("word", "one")
        assert await anext(there) == Change("word", "one")
    await other.close()


async def test_much_work_at_once_needs_few_connections(engine: Engine, postgres_url: str) -> None:
    """A server has only so many."""
    await asyncio.gather(
        *(engine.write(keep(str(n)), repeatable=n % 2 == 0) for n in range(200)),
        *(engine.read(list_words, one_state=n % 2 == 0) for n in range(200)),
    )
    assert len(await engine.read(list_words)) == 200
    with psycopg.connect(postgres_url) as connection:
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'amplifier'"
        found = connection.execute(count).fetchone()
    assert found[0] <= READERS + WRITERS + 1 == 8


async def test_who_gives_up_leaves_nothing_behind(engine: Engine) -> None:
    """Work that had not begun is not done; the engine goes on."""
    release = threading.Event()
    blocking = [
        asyncio.create_task(engine.write(lambda transaction: release.wait(60)))
        for _ in range(WRITERS)
    ]
    waiting = [asyncio.create_task(engine.write(keep("no"))) for _ in range(1000)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    release.set()
    assert all(await asyncio.gather(*blocking))
    await engine.write(keep("yes"))
    assert await engine.read(list_words) == ["yes"]


@pytest.mark.parametrize("word", ["\0", "\ud800"])
async def test_a_text_that_postgresql_cannot_keep_is_a_bad_request(
    engine: Engine, word: str
) -> None:
    """And the engine goes on."""
    with pytest.raises(BadRequest):
        await engine.write(keep(word))
    assert await engine.read(list_words) == []


async def test_a_server_that_is_restarted_is_waited_for_by_work_and_by_listeners() -> None:
    """Whether it ended in order or crashed, nothing is lost or done twice."""
    with TemporaryDirectory(prefix="pg-") as folder, ExitStack() as stack:
        server = PostgresServer(Path(folder))
        stack.callback(server.stop)
        server.create()
        server.start()
        engine = await PostgresEngine.open(server.create_database(), patience=60.0)
        await engine.write(lambda transaction: transaction.run("CREATE TABLE words (word TEXT)"))
        async with engine.listen() as changes:
            for end, words in ((server.stop, "ab"), (server.crash, "cd")):
                await engine.write(keep(words[0]))
                await asyncio.to_thread(end)
                task = asyncio.create_task(engine.write(keep(words[1])))
                await asyncio.to_thread(server.start)
                assert await task == words[1]
            assert await engine.read(list_words) == ["a", "b", "c", "d"]
            while await anext(changes) != Change("*", "*"):
                pass
        await engine.close()


async def test_a_server_that_hangs_is_given_up_and_used_again_when_it_goes_on(
    engine: Engine, postgres_server: PostgresServer, postgres_url: str, monkeypatch
) -> None:
    """Its connections stay open, so only time tells; nothing is done twice."""
    for module, name, value in (
        (connection_module, "ANSWER_SECONDS", 0.3),
        (worker_module, "DOUBT_SECONDS", 0.1),
    ):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setitem(connection_module.DEFAULTS, "connect_timeout", 2)
    hasty = await PostgresEngine.open(postgres_url, patience=0.1)
    await hasty.write(keep("a"))
    with postgres_server.freeze():
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await hasty.write(keep("no"))
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await hasty.read(list_words)
    monkeypatch.setattr(connection_module, "ANSWER_SECONDS", 60.0)
    await hasty.write(keep("b"))
    assert await engine.read(list_words) == ["a", "b"]
    await hasty.close()


async def test_an_address_where_nobody_answers_is_an_error_at_once() -> None:
    """When a store is opened, nobody waits; the error names the address without the password."""
    with pytest.raises(StoreUnavailable, match=r"//127\.0\.0\.1:1/x does not answer") as caught:
        await PostgresEngine.open("postgresql://ann:s3cret@127.0.0.1:1/x")
    assert "s3cret" not in str(caught.value)


async def test_many_that_open_an_empty_database_at_once_make_its_tables_once(
    postgres_url: str,
) -> None:
    """As servers do that are started together."""
    stores = await asyncio.gather(*(open_store(postgres_url) for _ in range(8)))
    asked = await stores[0].approvals.request(make_request())
    assert {(await store.approvals.get(asked.id)).status for store in stores} == {"pending"}
    for store in stores:
        await store.close()


async def test_an_address_that_cannot_be_one_is_a_bad_request_of_who_opens_the_store() -> None:
    """Not an error of ours, and without the password."""
    with pytest.raises(BadRequest, match="postgresql://USER@HOST") as caught:
        await open_store("postgresql://ann:s3cret@[::1/x")
    assert "s3cret" not in str(caught.value)


async def test_a_closed_engine_refuses_and_ends_what_listens(postgres_url: str) -> None:
    """Closing twice is closing."""
    engine = await PostgresEngine.open(postgres_url)
    async with engine.listen() as changes:
        await engine.close()
        await engine.close()
        assert [change async for change in changes] == []
    for refused in (engine.write(keep("x")), engine.read(list_words)):
        with pytest.raises(StoreUnavailable, match="closed"):
            await refused
    assert not [one for one in threading.enumerate() if one.name.startswith("store")]


async def test_a_process_that_was_forked_must_open_its_own(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes on one connection would read each other's answers."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: -1)
        with pytest.raises(StoreUnavailable, match="after a fork"):
            await engine.read(list_words)


async def test_a_database_that_cannot_keep_all_texts_is_refused(
    postgres_server: PostgresServer,
) -> None:
    """The error says what would do."""
    with psycopg.connect(postgres_server.name_url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(StoreError, match="encoding LATIN1; make one with UTF8"):
        await PostgresEngine.open(postgres_server.name_url("latin"))


async def test_a_server_that_is_too_old_is_refused(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says which would do."""
    monkeypatch.setattr(engine_module, "OLDEST_SERVER", 99)
    with pytest.raises(StoreError, match=r"needs PostgreSQL 99 or newer; this is 1\d"):
        await engine.read(check_server)


async def test_a_listener_joins_though_the_server_does_not_answer(postgres_url: str) -> None:
    """When it does again, `*` tells of everything."""
    engine = PostgresEngine("postgresql://nobody@127.0.0.1:1/x", patience=0.05)
    async with engine.listen() as changes:
        task = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        assert not task.done()
        await engine.close()
        await wait_until(task.done)
        with pytest.raises(StopAsyncIteration):
            await task


def keep_once(word: str, *, fails: bool = False):
    """As `keep`, but may be repeated; tells in which transaction it was kept."""

    def work(transaction: Transaction) -> str:
        if not transaction.run("SELECT 1 FROM words WHERE word = :word", word=word):
            transaction.run("INSERT INTO words VALUES (:word)", word=word)
        transaction.announce("word", word)
        if fails:
            raise KeyError(word)
        found = transaction.run("SELECT xmin::text AS it FROM words WHERE word = :word", word=word)
        return str(found[0]["it"])

    return work


async def hold_up(engine: Engine, *works) -> list[asyncio.Task]:
    """Repeatable works that gather while an earlier one is under way."""
    begun, go_on = threading.Event(), threading.Event()

    def block(transaction: Transaction) -> None:
        begun.set()
        go_on.wait(60)

    first = asyncio.create_task(engine.write(block, repeatable=True))
    await asyncio.to_thread(begun.wait, 60)
    tasks = [asyncio.create_task(engine.write(work, repeatable=True)) for work in works]
    await asyncio.sleep(0)
    go_on.set()
    await first
    return tasks


async def test_repeatable_works_that_come_together_share_a_transaction(engine: Engine) -> None:
    """One wait for the disk for all; each gets its own result, and each is told of."""
    async with engine.listen() as changes:
        tasks = await hold_up(engine, *(keep_once(word) for word in "abc"))
        assert len(set(await asyncio.gather(*tasks))) == 1
        assert [await anext(changes) for _ in "abc"] == [Change("word", word) for word in "abc"]
    assert await engine.read(list_words) == ["a", "b", "c"]


async def test_one_that_fails_takes_nothing_from_the_others(engine: Engine) -> None:
    """Each is then done by itself, and what failed leaves nothing."""
    tasks = await hold_up(engine, keep_once("a"), keep_once("b", fails=True), keep_once("c"))
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[1], KeyError)
    assert results[0] != results[2]
    assert await engine.read(list_words) == ["a", "c"]


async def test_who_holds_a_row_holds_up_only_who_needs_it(
    engine: Engine, postgres_url: str
) -> None:
    """A process that was stopped in the middle of its transaction must not stop all decisions."""
    await engine.write(keep("held"))
    statement = "UPDATE words SET word = word WHERE word = 'held' RETURNING 1 AS one"
    with psycopg.connect(postgres_url) as holding:
        holding.execute("SELECT * FROM words FOR UPDATE")
        needing, free = await hold_up(engine, lambda one: one.run(statement), keep_once("free"))
        async with asyncio.timeout(LOCK_SECONDS / 2):
            await free
            await engine.write(keep_once("later"), repeatable=True)
        assert not needing.done()
        holding.rollback()
        assert await needing == [{"one": 1}]


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
    made.repeat(make_room_for_marks, soon())
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


def count_once(transaction: Transaction) -> int:
    """As `count_up`, but may be repeated."""
    transaction.run("UPDATE counts SET n = 1 WHERE id = 'a' AND n = 0")
    transaction.announce("count", "a")
    return int(transaction.run("SELECT n FROM counts WHERE id = 'a'")[0]["n"])


@pytest.mark.parametrize("part", ["request", "answer"])
@pytest.mark.parametrize("shared", [False, True])
def test_repeatable_work_whose_commit_has_no_answer_is_done_again(
    worker: Worker, proxy: BreakingProxy, postgres_url: str, part: Break, shared: bool
) -> None:
    """It finds what was done, without a mark; what was told may have been lost, and is told."""
    with open_connection(postgres_url) as hearing:
        hearing.execute(f"LISTEN {CHANNEL}")
        doubt = None
        proxy.break_at("COMMIT", part)
        if shared:
            with pytest.raises(Doubt) as caught:
                worker.share([count_once, lambda one: count_up(one, "b")])
            doubt = caught.value
        assert worker.repeat(count_once, soon(), doubt) == 1
        assert (proxy.broken, read_count(worker)) == (1, 1)
        told = {Change("count", of) for of in ("ab" if shared else "a")}
        notices = hearing.notifies(timeout=30, stop_after=len(told))
        assert {read_notice(one.payload) for one in notices} == told
    assert worker.look(lambda one: one.run("SELECT * FROM store_writers"), soon()) == []


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


@pytest.mark.parametrize("repeatable", [False, True])
def test_a_fate_that_cannot_be_learned_is_said_to_be_unknown(
    worker: Worker, proxy: BreakingProxy, monkeypatch: pytest.MonkeyPatch, repeatable: bool
) -> None:
    """Nobody is told that it was recorded, nor that it was not."""
    monkeypatch.setattr(worker_module, "DOUBT_SECONDS", 0.2)

    def count_up_and_lose_the_server(transaction: Transaction) -> int:
        found = count_up(transaction)
        proxy.break_at("COMMIT", "request")
        proxy.refuse()
        return found

    run = worker.repeat if repeatable else worker.write
    with pytest.raises(StoreUnavailable, match="whether that was carried out is not known"):
        run(count_up_and_lose_the_server, monotonic() + 0.2)


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


@pytest.mark.parametrize("one_state", [False, True])
async def test_work_that_reads_cannot_write(engine: Engine, one_state: bool) -> None:
    """It is refused at once, and does not count as a server that became a standby."""
    with pytest.raises(StoreError, match="only reads"):
        await engine.read(keep("no"), one_state=one_state)
    assert await engine.read(list_words, one_state=one_state) == []


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


@pytest.fixture
def connection(postgres_url: str):
    with open_connection(postgres_url) as opened:
        make_room_for_marks(PostgresTransaction(opened))
        yield opened


@pytest.fixture
def other(connection: Connection, postgres_url: str):
    with open_connection(postgres_url) as opened:
        yield opened


def test_a_mark_tells_a_transaction_that_was_committed_from_one_that_was_not(
    connection: Connection, other: Connection
) -> None:
    """Whichever came before it, and from any connection."""
    mark = Mark()
    for ends in (roll_back, commit, roll_back, commit):
        begin_writing(connection, mark.leave_next())
        if ends is commit:
            commit(connection, [])
        else:
            roll_back(connection)
        assert mark.was_left(other) is (ends is commit)


@pytest.mark.parametrize("earlier", [0, 1])
@pytest.mark.parametrize("ends", [commit, roll_back])
def test_a_transaction_that_is_still_under_way_is_waited_for(
    connection: Connection, other: Connection, earlier: int, ends
) -> None:
    """A server may go on with a COMMIT though its client is gone; also with a thread's first."""
    mark = Mark()
    for _ in range(earlier):
        begin_writing(connection, mark.leave_next())
        commit(connection, [])
    begin_writing(connection, mark.leave_next())
    answers: list[bool] = []
    asking = Thread(target=lambda: answers.append(mark.was_left(other)))
    asking.start()
    asking.join(0.1)
    assert answers == []
    commit(connection, []) if ends is commit else roll_back(connection)
    asking.join(60)
    assert answers == [ends is commit]


def test_threads_have_marks_of_their_own(connection: Connection) -> None:
    """So that they never wait for each other."""
    marks = [Mark(), Mark()]
    for mark in marks:
        begin_writing(connection, mark.leave_next())
        commit(connection, [])
    roll_back(connection)
    assert all(mark.was_left(connection) for mark in marks)
    assert marks[0].id != marks[1].id


def test_rows_of_threads_that_are_long_gone_are_dropped(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a store is opened; younger ones stay."""

    def count() -> int:
        found = connection.execute("SELECT count(*) AS n FROM store_writers").fetchone()
        return int(found["n"])

    connection.execute(Mark().leave_next())
    make_room_for_marks(PostgresTransaction(connection))
    assert count() == 1
    monkeypatch.setattr(mark_module, "KEPT_SECONDS", -1)
    make_room_for_marks(PostgresTransaction(connection))
    assert count() == 0
