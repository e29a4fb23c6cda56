"""A server of both protocol eras, with everything that servers of the registries lack.

It is a program of its own: `modern_server.py FOLDER`, or `modern_server.py FOLDER PORT` for HTTP.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Image, Resolve, Sample
from mcp.types import Completion, SamplingMessage, TextContent
from pydantic import BaseModel

FOLDER = Path(sys.argv[1])
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = MCPServer("modern", instructions="Ask before you write. hidden instruction")


class Name(BaseModel):
    """What a person is asked for."""

    name: str


def ask_name() -> Elicit[Name]:
    """A question for the person at the client."""
    return Elicit("What is your name?", Name)


def ask_model(topic: str) -> Sample:
    """A question for the client's model."""
    content = TextContent(type="text", text=f"Say something about {topic}-me")
    return Sample([SamplingMessage(role="user", content=content)], max_tokens=10)


@server.tool()
def note(name: str) -> str:
    """Write a note."""
    (FOLDER / name).write_text("noted")
    return f"noted {name}"


@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@server.tool()
def picture() -> Image:
    """Show a picture."""
    return Image(data=PIXEL, format="png")


@server.tool()
async def work(steps: int, context: Context[Any, Any]) -> str:
    """Work in steps, and tell of each."""
    for step in range(1, steps + 1):
        await context.report_progress(step, steps, f"step {step}")
    return "worked"


@server.tool()
async def sleep(seconds: float) -> str:
    """Take so long; a file says how it ended."""
    (FOLDER / "sleeping").touch()
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        (FOLDER / "cancelled").touch()
        raise
    return "slept"


@server.tool()
def greet(asked: Annotated[Name, Resolve(ask_name)]) -> str:
    """Greet the person at the client by name."""
    return f"hello {asked.name}"


@server.tool()
def muse(topic: str, said: Annotated[Any, Resolve(ask_model)]) -> str:
    """Ask the client's model about a topic."""
    return f"the model said: {said.content.text}"


@server.tool()
async def grow(context: Context[Any, Any]) -> str:
    """Have one more tool from now on."""
    server.add_tool(add, name="grown", description="Grown.")
    await context.notify_tools_changed()
    await context.session.send_tool_list_changed()
    return "grown"


@server.resource("memo://{name}")
def memo(name: str) -> str:
    """A memo."""
    return f"memo about {name}"


@server.prompt()
def summarize(topic: str) -> str:
    """Summarize something."""
    return f"Summarize {topic}"


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    """Words that begin with what is there."""
    return Completion(values=[f"{argument.value}-completed"])


if __name__ == "__main__":
    if len(sys.argv) > 2:
        asyncio.run(server.run_streamable_http_async(port=int(sys.argv[2])))
    else:
        server.run()
