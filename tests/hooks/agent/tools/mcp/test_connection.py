"""A server is kept alive: started again when it ends, and given up when that does not help."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.mcp.connection import (
    SharedConnections,
    Unavailable,
    find_shared_connections,
)
from tests.support.mcp_links import FakeServer
from tests.support.waiting import wait_until


async def test_the_last_user_ends_the_server():
    """Whoever leaves earlier takes nothing from the others."""
    server, shared = FakeServer(), SharedConnections()
    first = shared.get_or_open("calc", server.connect)
    assert shared.get_or_open("calc", server.connect) is first
    await first.start()
    await shared.release("calc")
    assert first.problem is None
    await shared.release("calc")
    assert first.problem is not None
    assert shared.get_or_open("calc", server.connect) is not first


async def test_another_key_is_another_connection():
    """A server with other options is another one."""
    shared = SharedConnections()
    one = shared.get_or_open("a", FakeServer().connect)
    assert shared.get_or_open("b", FakeServer().connect) is not one
    await shared.release("never taken")


async def test_a_sub_agent_belongs_to_the_family_of_its_parent():
    """And to no other."""
    parent = find_shared_connections(TestCoordinator(session_id="parent"))
    child = find_shared_connections(TestCoordinator(session_id="child", parent_id="parent"))
    grandchild = find_shared_connections(
        TestCoordinator(session_id="grandchild", parent_id="child")
    )
    assert child is parent
    assert grandchild is parent
    assert find_shared_connections(TestCoordinator(session_id="stranger")) is not parent


async def test_a_family_is_forgotten_with_its_last_session():
    """A later session of the same name starts anew."""
    first = find_shared_connections(TestCoordinator(session_id="again"))
    first.get_or_open("calc", FakeServer().connect)
    del first
    assert find_shared_connections(TestCoordinator(session_id="again"))._shared == {}


class Told:
    """A session that hears of a server."""

    def __init__(self):
        self.texts, self.logged, self.relisted = [], [], 0

    def notify(self, text, level):
        self.texts.append((level, text))

    def refresh_later(self):
        self.relisted += 1

    def log_message(self, level, text):
        self.logged.append((level, text))


@pytest.fixture
def told():
    return Told()


@pytest.fixture
async def open_up(told):
    """Connects to a server, and ends what is left of that."""
    opened = []

    async def connect(server, **options):
        connection = server.connect(**options)
        connection.add_listener(told)
        opened.append(connection)
        await connection.start()
        return connection

    yield connect
    for one in opened:
        await one.close()


async def test_a_server_that_starts_is_there(open_up, told):
    """Nobody is bothered."""
    server = FakeServer()
    connection = await open_up(server)
    assert await connection.acquire() is server.client
    assert connection.problem is None
    assert told.texts == []


async def test_a_server_that_ends_is_started_again_and_said(open_up, told):
    """With the reason, and its tools are listed again."""
    server = FakeServer()
    connection = await open_up(server)
    server.die("out of memory")
    client = await connection.acquire()
    assert client is server.client
    assert server.starts == 2
    assert told.texts[0][0] == "warning"
    assert "out of memory" in told.texts[0][1]
    assert "is running again" in told.texts[-1][1]
    assert told.relisted == 1


async def test_a_server_that_keeps_ending_is_given_up(open_up, told):
    """After the attempts of the bundle, and every call is told so."""
    server = FakeServer()
    connection = await open_up(server, restart={"attempts": 2})
    server.failures = [OSError("broken")] * 9
    server.die()
    with pytest.raises(Unavailable, match=r"broken.*not started again"):
        await connection.acquire()
    assert server.starts == 3
    assert told.texts[-1][0] == "error"
    assert "3 times in a row" in told.texts[-1][1]
    with pytest.raises(Unavailable):
        await connection.acquire()


async def test_a_bundle_can_have_no_restarts(open_up, told):
    """The first end is the last."""
    server = FakeServer()
    connection = await open_up(server, restart={"attempts": 0})
    server.die()
    with pytest.raises(Unavailable, match="not restarted"):
        await connection.acquire()
    assert server.starts == 1


async def test_a_start_that_fails_does_not_hold_up_the_session(open_up, told):
    """It is tried again in the background."""
    server = FakeServer()
    server.failures = [OSError("not yet")]
    connection = await open_up(server, restart={"delay": 30, "max_delay": 30})
    assert "not yet" in connection.problem


async def test_a_server_that_comes_up_late_is_used(open_up, told):
    """Its tools are listed then."""
    server = FakeServer()
    server.failures = [OSError("not yet")]
    connection = await open_up(server)
    await connection.acquire()
    assert told.relisted == 1
    assert told.texts[-1][1].endswith("is running now.")


async def test_a_program_that_does_not_exist_is_not_tried_again(open_up, told):
    """Nothing would be different the next time."""
    server = FakeServer()
    server.failures = [ModuleLoadError("there is no program 'x'")] * 9
    connection = await open_up(server)
    with pytest.raises(Unavailable, match="there is no program"):
        await connection.acquire()
    assert server.starts == 1


async def test_a_server_that_never_answers_is_a_start_that_failed(open_up):
    """After the time that a start may take."""

    class Silent(FakeServer):
        def open(self, handlers):
            self.starts += 1
            return Waiting()

    class Waiting:
        async def __aenter__(self):
            await asyncio.Event().wait()

        async def __aexit__(self, *_):
            return None

    connection = await open_up(Silent(), start_timeout=0.05, restart={"attempts": 0})
    assert "did not answer within 0.05 seconds" in connection.problem


async def test_failures_long_ago_do_not_count(open_up, told, monkeypatch):
    """A server that ends once a day is started again each time."""
    monkeypatch.setattr("amplifier_hooks.agent.tools.mcp.connection.STABLE_SECONDS", -1.0)
    server = FakeServer()
    connection = await open_up(server, restart={"attempts": 1})
    for _ in range(4):
        await connection.acquire()
        server.die()
    await connection.acquire()
    assert server.starts == 5


async def test_what_a_server_says_by_itself_reaches_the_sessions(open_up, told):
    """As long as they are interested."""
    server = FakeServer()
    connection = await open_up(server)
    server.handlers.on_log("error", "oh")
    server.handlers.on_changed()
    assert (told.logged, told.relisted) == ([("error", "oh")], 1)
    connection.remove_listener(told)
    connection.remove_listener(told)
    server.handlers.on_changed()
    assert told.relisted == 1


async def test_closing_ends_it_also_while_it_waits_to_start(open_up):
    """Nothing is started after that."""
    server = FakeServer()
    server.failures = [OSError("not yet")]
    connection = await open_up(server, restart={"delay": 60, "max_delay": 60})
    await connection.close()
    assert server.starts == 1
    with pytest.raises(Unavailable):
        await connection.acquire()


async def test_closing_what_was_never_started_is_nothing():
    """A session may fail before."""
    await FakeServer().connect().close()


async def test_a_close_that_is_cancelled_still_ends_it(open_up):
    """The process must not stay behind."""
    server = FakeServer()
    connection = await open_up(server)
    closing = asyncio.ensure_future(connection.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await wait_until(lambda: connection._task.done())
