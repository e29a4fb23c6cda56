"""FastMCP, with a client that makes the calls of a script against a server behind hooks."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server import create_proxy

from amplifier_hooks.coverage import FASTMCP, Coverage
from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.fastmcp import AmplifierMCP
from tests.adapters.drivers.driver import Call, Driver, Ran, Step
from tests.support.adapter_runs.plain_mcp_server import record_calls

NO_PROMPT = "an MCP server sees no prompts"
NO_MODEL = "an MCP server sees no model: its client asks it"
NO_ANSWER = "an MCP server sees no answers: its client gives them"
NO_STREAM = "results of MCP tools come whole"
NO_SYNC = "its client has no synchronous entry point"
NOT_THERE = "MCP leaves questions to the client, which is the guarded agent itself"


def make_server(ran: Ran) -> FastMCP:
    """A server whose tools record that they ran."""
    server: FastMCP = FastMCP("notes")

    @server.tool
    def note(text: str) -> str:
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    @server.tool
    def wipe(path: str) -> str:
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    @server.tool
    def boom(text: str) -> str:
        ran.calls.append(("boom", {"text": text}))
        raise RuntimeError(f"boom {text}")

    return server


class Agent:
    """The program behind a client: it makes the calls of its script.

    A request of ours is what it has read since the one before.
    """

    def __init__(self, client: Client[Any], ran: Ran, helper: list[Step] | None = None) -> None:
        self._client = client
        self._ran = ran
        self._helper = helper

    async def work(self, script: list[Step], prompt: str) -> str:
        """The last text of the script."""
        read = [f"user: {prompt}"]
        for step in script:
            self._ran.requests.append("\n".join(read))
            if isinstance(step, str):
                return step
            read = await asyncio.gather(*(self._call(one) for one in step))
        return ""

    async def _call(self, call: Call) -> str:
        if call.name == "helper" and self._helper is not None:
            inner = Agent(self._client, Ran())
            return await inner.work(self._helper, call.arguments["task"])
        try:
            result = await self._client.call_tool(call.name, call.arguments)
        except ToolError as error:
            return f"error: {error}"
        return "\n".join(getattr(one, "text", "") for one in result.content)


async def drive(
    hooks: Governor | None, server: FastMCP, ran: Ran, script: list[Step], prompt: str, **more: Any
) -> Ran:
    """Connect an agent to a server, as one that shakes hands does it; without hooks, if None."""
    if hooks is not None:
        server.add_middleware(AmplifierMCP(hooks))
    async with Client(server, mode="legacy") as client:
        ran.answer = await Agent(client, ran, **more).work(script, prompt)
    return ran


class FastMCPDriver(Driver):
    """MCP servers behind FastMCP."""

    name: ClassVar[str] = FASTMCP.name
    coverage: ClassVar[Coverage] = FASTMCP
    cannot: ClassVar[dict[str, str]] = {
        "a_prompt_is_seen": NO_PROMPT,
        "a_denied_prompt_reaches_no_model": NO_PROMPT,
        "a_prompt_is_changed": NO_PROMPT,
        "an_injection_at_the_prompt": NO_PROMPT,
        "a_denied_prompt_streams_nothing": NO_PROMPT,
        "a_request_is_seen": NO_MODEL,
        "a_denied_request_reaches_no_model": NO_MODEL,
        "a_request_is_changed": NO_MODEL,
        "an_injection_at_the_request": NO_MODEL,
        "a_reply_is_seen": NO_MODEL,
        "a_denied_reply_ends_the_turn": NO_MODEL,
        "a_reply_is_changed": NO_MODEL,
        "a_call_in_a_reply_is_changed": NO_MODEL,
        "an_injection_for_good": "it is read once, with a result, and kept by the client",
        "an_answer_is_seen": NO_ANSWER,
        "a_denied_answer_stays_inside": NO_ANSWER,
        "an_answer_is_changed": NO_ANSWER,
        "a_stream_is_governed": NO_STREAM,
        "the_synchronous_entry_point_is_governed": NO_SYNC,
        "a_question_in_the_synchronous_entry_point": NO_SYNC,
        "a_question_is_handed_over_to_the_framework": NOT_THERE,
        "the_frameworks_own_answer_counts": NOT_THERE,
        "the_frameworks_own_yes_is_bound_to_what_was_shown": NOT_THERE,
        "an_answer_to_something_else_runs_nothing": NOT_THERE,
    }

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        """A client of a server written with FastMCP."""
        ran = Ran()
        return await drive(hooks, make_server(ran), ran, script, prompt)

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        """A sub-agent of the client, which uses the same connection."""
        ran = Ran()
        return await drive(hooks, make_server(ran), ran, script, prompt, helper=helper)

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        """A proxy of a server that is a program of its own."""
        ran = Ran()
        with record_calls(ran.calls) as (command, *arguments):
            servers = {"mcpServers": {"notes": {"command": command, "args": arguments}}}
            await drive(hooks, create_proxy(servers), ran, script, prompt)
        return ran


DRIVER_CLASS = FastMCPDriver
