"""One request to a server: its limit, its progress, its end; and nothing is ever sent twice."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.live_output import CAPABILITY
from amplifier_hooks.agent.tools.mcp.calls import Caller, describe_input, make_progress
from amplifier_hooks.agent.tools.mcp.connection import Connection
from amplifier_hooks.agent.tools.mcp.content import read_tool_answer
from amplifier_hooks.agent.tools.mcp.link import LinkError
from tests.support.mcp_links import FakeServer, make_answer
from tests.support.waiting import wait_until


@pytest.fixture
def server():
    return FakeServer()


@pytest.fixture
def host():
    return TestCoordinator()


@pytest.fixture
async def ask(server, host):
    """Calls `add`; options are those of the server."""
    opened: list[Connection] = []

    async def call(**options):
        if not opened:
            opened.append(server.connect(**options))
            await opened[0].start()
        caller = Caller(host, opened[0], opened[0].config.timeout)
        return await caller.ask(
            "mcp__calc__add",
            "add",
            lambda link, on_progress: link.call("add", {"a": 1}, on_progress),
            read_tool_answer,
        )

    yield call
    for one in opened:
        await one.close()


async def test_the_answer_is_the_result(ask):
    """As the server gave it."""
    assert (await ask()).output == "1"


async def test_a_call_that_was_lost_says_so_and_is_not_repeated(ask, server):
    """It may have had effects."""
    server.say = lambda given: server.die() or asyncio.Event().wait()
    result = await ask()
    assert not result.success
    assert "may have had effects" in result.output
    server.say = lambda given: make_answer("again")
    await ask()
    assert len(server.calls) == 2


async def test_a_refusal_of_the_server_is_told(ask, server):
    """In its own words."""
    server.say = lambda given: LinkError("no such thing")
    assert "refused: no such thing" in (await ask()).output


async def test_a_server_that_is_not_there_is_told(ask, server):
    """With the reason."""
    server.failures = [OSError("broken")] * 9
    result = await ask(restart={"attempts": 0})
    assert "is not available" in result.output
    assert "broken" in result.output
    assert server.calls == []


async def test_a_call_has_a_time_limit_and_is_cancelled_at_the_server(ask, server):
    """The agent is told that nobody knows what became of it."""
    server.say = lambda given: asyncio.Event().wait()
    result = await ask(timeout=0.05)
    assert "did not answer within 0.05 seconds" in result.output
    assert server.cancelled == ["add"]


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(ask, server):
    """Immediately."""
    server.say = lambda given: asyncio.Event().wait()
    call = asyncio.ensure_future(ask())
    await wait_until(lambda: server.calls)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert server.cancelled == ["add"]


async def test_progress_is_shown(server, host):
    """Line by line, while the call goes on."""
    shown = []

    class View:
        def feed(self, stream, text):
            shown.append(text)

        def close(self):
            shown.append("closed")

    host.register_capability(CAPABILITY, lambda tool, about: View())
    connection = server.connect()
    await connection.start()

    async def request(link, on_progress):
        await on_progress(1, None, None)
        await on_progress(2, 5, "too soon after the first to be read")
        await on_progress(5, 5, "counting")
        return make_answer("done")

    result = await Caller(host, connection, 60).ask("n", "about", request, read_tool_answer)
    assert result.output == "done"
    assert shown == ["1\n", "5/5 counting\n", "closed"]
    await connection.close()


async def test_progress_gives_a_call_its_time_anew():
    """One that goes on is not ended by its limit; one that is over stays so."""

    class Deadline:
        def __init__(self, is_over):
            self.is_over, self.moved = is_over, []

        def expired(self):
            return self.is_over

        def reschedule(self, when):
            self.moved.append(when)

    for is_over in (False, True):
        deadline = Deadline(is_over)
        await make_progress(None, deadline, 100.0)(1, 2, None)
        now = asyncio.get_running_loop().time()
        assert [now < one <= now + 100 for one in deadline.moved] == ([] if is_over else [True])


def test_a_call_is_described_in_a_line():
    """However much it is given."""
    assert describe_input({"a": 1, "b": "x"}) == "a=1, b='x'"
    assert len(describe_input({str(n): "y" * 99 for n in range(99)})) == 200
