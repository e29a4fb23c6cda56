"""The SDK's client, with plain values in and out."""

from __future__ import annotations

import asyncio
import json

import pytest

from amplifier_foundation.tools.live_output import CAPABILITY
from tests.support.waiting import wait_until


async def test_tools_resources_and_images_come_through(server):
    """From a real process."""
    await server.start()
    assert (await server.call("echo", text="hi")).output == "hi"
    (image,) = (await server.call("picture")).content
    assert image.source["media_type"] == "image/png"
    assert (await server.call("list_resources")).output == [{"uri": "small://a", "name": "a"}]
    assert (await server.call("read_resource", uri="small://a")).output == "content"
    assert "mcp__small__list_prompts" not in server.host.get("tools")


async def test_progress_comes_through(server):
    """To whoever looks on."""
    shown = []

    class View:
        def feed(self, stream, text):
            shown.append(text)

        def close(self):
            shown.append("closed")

    server.host.register_capability(CAPABILITY, lambda tool, about: View())
    await server.start()
    assert (await server.call("progress")).output == "done"
    assert shown == ["1/2 step 1\n", "2/2 step 2\n", "closed"]


async def test_a_cancelled_call_is_cancelled_at_the_server(server):
    """By the notification that the protocol has for it."""
    await server.start()
    call = asyncio.ensure_future(server.call("hold"))
    await wait_until(lambda: "tools/call" in server.received)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await wait_until(lambda: "notifications/cancelled" in server.received)


async def test_changes_and_log_messages_are_heard(server):
    """Without being asked for."""
    await server.start()
    await server.call("grow", text="low on memory")
    await wait_until(lambda: "mcp__small__more" in server.host.get("tools"))
    await server.wait_for_text("low on memory")


async def test_servers_are_offered_neither_our_model_nor_questions(server):
    """They know beforehand, and can do without."""
    await server.start()
    first = json.loads((server.folder / "received").read_text().splitlines()[0])
    text = json.dumps(first["params"])
    assert not any(word in text for word in ("sampling", "elicitation", "roots"))


async def test_what_the_server_refuses_is_told(server):
    """It is no lost connection."""
    await server.start(restart={"attempts": 0})
    result = await server.call("refuse", text="not today")
    assert result.output == "The MCP server 'small' refused: not today"
    assert (await server.call("picture")).success
