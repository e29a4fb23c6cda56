"""One request to a server: its limit, its progress, its end; and nothing is ever sent twice."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.message_models import ImageBlock
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.tools.live_output import CAPABILITY
from amplifier_hooks.agent.tools.mcp.calls import (
    Caller,
    describe_input,
    make_progress,
    read_parts,
    read_tool_answer,
)
from amplifier_hooks.agent.tools.mcp.client import ServerError
from amplifier_hooks.agent.tools.mcp.connection import Connection
from tests.support.mcp_links import FakeServer, make_answer
from tests.support.waiting import wait_until

PNG = "iVBORw0KGgo="


def test_a_text_is_a_text():
    """As it is."""
    result = read_tool_answer({"content": [{"type": "text", "text": "3"}]})
    assert (result.success, result.output, result.content) == (True, "3", None)


def test_an_image_goes_to_the_model_and_is_described_to_hooks():
    """Base64 would fill what a model reads."""
    image = {"type": "image", "data": PNG, "mimeType": "image/png"}
    result = read_tool_answer({"content": [{"type": "text", "text": "Look:"}, image]})
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert result.content == [ImageBlock(source=source)]
    assert PNG not in str(result.output)
    assert "Look:" in str(result.output)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "audio", "data": PNG, "mimeType": "audio/wav"},
        {"type": "image", "data": PNG, "mimeType": "image/tiff"},
        {"type": "image", "data": "AAAA" * 1_750_001, "mimeType": "image/png"},
        {
            "type": "resource",
            "resource": {"uri": "a:b", "blob": PNG, "mimeType": "application/zip"},
        },
    ],
)
def test_what_models_do_not_take_is_described(part):
    """With its kind and its size."""
    result = read_tool_answer({"content": [part]})
    assert result.content is None
    assert "bytes, sha256" in str(result.output)


def test_resources_and_links_are_carried_along():
    """The agent reads where to find more."""
    parts = [
        {"type": "resource_link", "uri": "demo://a", "name": "a"},
        {"type": "resource", "resource": {"uri": "demo://b", "text": "content"}},
        {"type": "resource", "resource": {"uri": "demo://c", "blob": PNG, "mimeType": "image/png"}},
    ]
    result = read_tool_answer({"content": parts})
    assert "demo://a" in str(result.output)
    assert "content" in str(result.output)
    assert len(result.content) == 1


def test_an_error_of_a_tool_is_a_failed_result():
    """Its text is the sentence that the agent reads."""
    result = read_tool_answer({"content": [{"type": "text", "text": "no"}], "isError": True})
    assert (result.success, result.error_message) == (False, "no")


def test_structured_content_is_the_value():
    """If the text is no more than the same, written down."""
    wire = {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}}
    assert read_tool_answer(wire).output == {"a": 1}


def test_prompts_and_resources_have_images_too():
    """In the parts that they consist of."""
    message = {"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}}
    assert len(read_parts([message]).content) == 1
    assert read_parts([{"uri": "a:b", "text": "x"}]).content is None


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
            lambda client, on_progress: client.call("add", {"a": 1}, on_progress),
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
    server.say = lambda input: server.die() or asyncio.Event().wait()
    result = await ask()
    assert not result.success
    assert "may have had effects" in result.output
    server.say = lambda input: make_answer("again")
    await ask()
    assert len(server.calls) == 2


async def test_a_refusal_of_the_server_is_told(ask, server):
    """In its own words."""
    server.say = lambda input: ServerError("no such thing")
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
    server.say = lambda input: asyncio.Event().wait()
    result = await ask(timeout=0.05)
    assert "did not answer within 0.05 seconds" in result.output
    assert server.cancelled == ["add"]


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(ask, server):
    """Immediately."""
    server.say = lambda input: asyncio.Event().wait()
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

    async def request(client, on_progress):
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
            self.is_abandoned, self.moved = is_over, []

        def expired(self):
            return self.is_abandoned

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
