"""The engine on a real server."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from amplifier_hooks.approvals.errors import BadRequest, StoreError, StoreUnavailable
from amplifier_hooks.approvals.stores import postgres as engine_module
from amplifier_hooks.approvals.stores import postgres as worker_module
from amplifier_hooks.approvals.stores import postgres_connection as connection_module
from amplifier_hooks.approvals.stores.engine import Change, Engine, Transaction
from amplifier_hooks.approvals.stores.postgres import THREADS, PostgresEngine, check_server
from amplifier_hooks.approvals.stores.store import open_store
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
    await asyncio.gather(*(engine.write(keep(str(number))) for number in range(200)))
    assert len(await engine.read(list_words)) == 200
    with psycopg.connect(postgres_url) as connection:
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'amplifier'"
        found = connection.execute(count).fetchone()
    assert found[0] <= THREADS


async def test_who_gives_up_leaves_nothing_behind(engine: Engine) -> None:
    """Work that had not begun is not done; the engine goes on."""
    release = threading.Event()
    blocking = [
        asyncio.create_task(engine.read(lambda transaction: release.wait(60)))
        for _ in range(THREADS)
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
