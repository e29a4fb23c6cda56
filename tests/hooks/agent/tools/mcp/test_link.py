"""The SDK's client, with plain values in and out."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from amplifier_hooks.agent.tools.live_output import CAPABILITY
from tests.support.waiting import wait_until

SDK = Path(__file__).parents[4] / "support" / "mcp_server_sdk.py"


async def test_tools_resources_and_images_come_through(server):
    """From a real process."""
    await server.start()
    assert (await server.call("echo", text="hi")).output == "hi"
    (image,) = (await server.call("picture")).content
    assert image.source["media_type"] == "image/png"
    assert (await server.call("read_resource", uri="small://a")).output == "content"
    assert "mcp__small__list_prompts" not in server.host.get("tools")


async def test_all_pages_of_a_list_are_read_once(server):
    """A server that gives the same page again and again is not asked for ever."""
    await server.start()
    pages = (await server.call("list_resources")).output
    assert [one["name"] for one in pages] == ["None", "again"]


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


@pytest.mark.parametrize("kind", ["tools", "prompts"])
async def test_changes_and_log_messages_are_heard(server, kind):
    """Without being asked for."""
    await server.start()
    await server.call("grow", text=kind)
    await wait_until(lambda: "mcp__small__more" in server.host.get("tools"))
    await wait_until(lambda: "mcp__small__get_prompt" in server.host.get("tools"))
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


@pytest.mark.slow
@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
async def test_a_server_of_the_sdk_works_in_both_eras(server, era):
    """With images, progress, changes, log messages, cancellation and a death."""
    server.config["args"] = [str(SDK), str(server.folder)]
    if era < "2026":
        server.config["args"].append("legacy")
    await server.start()
    assert (await server.call("add", a=1, b=2)).output == 3
    assert not (await server.call("add", a="x", b=2)).success
    assert [one.type for one in (await server.call("picture")).content] == ["image"]
    assert (await server.call("read_resource", uri="sdk://a")).output == "content"
    hold = asyncio.ensure_future(server.call("hold"))
    await wait_until((server.folder / "held").exists)
    hold.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hold
    await wait_until((server.folder / "cancelled").exists)
    assert (await server.call("grow")).output == "grown"
    await server.wait_for_text("low on memory")
    assert (server.folder / "era").read_text() == era
    if era < "2026":  # the SDK tells older clients of no changes
        return
    await wait_until(lambda: "mcp__small__more" in server.host.get("tools"))
    assert "ended during this call" in (await server.call("die")).output
    assert (await server.call("add", a=5, b=6)).output == 11
