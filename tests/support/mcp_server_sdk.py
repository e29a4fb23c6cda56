"""A server made with the official SDK, as a program: `python mcp_server_sdk.py FOLDER [legacy]`.

It leaves traces in FOLDER. With `legacy`, it refuses to speak the newer era of the protocol.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
DISCOVER = b'"server/discover"'


def relay_as_older() -> None:
    """Stand before the same server and refuse what only the newer era has."""
    own = [sys.executable, __file__, str(FOLDER)]
    with subprocess.Popen(own, stdin=subprocess.PIPE) as server:
        assert server.stdin is not None
        for line in sys.stdin.buffer:
            if DISCOVER in line:
                refuse(line)
                continue
            server.stdin.write(line)
            server.stdin.flush()
        server.stdin.close()


def refuse(line: bytes) -> None:
    """There is no such method."""
    import json

    error = {"code": -32601, "message": "no such method"}
    answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": error}
    print(json.dumps(answer), flush=True)  # noqa: T201 - this is the protocol


def serve() -> None:
    """The server itself."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context, Image

    server = MCPServer("sdk")

    @server.tool()
    async def add(ctx: Context, a: int, b: int) -> int:
        """Adds."""
        (FOLDER / "era").write_text(str(ctx.protocol_version))
        return a + b

    @server.tool()
    async def picture() -> Image:
        """Shows."""
        return Image(data=b"\x89PNG\r\n\x1a\n", format="png")

    @server.tool()
    async def hold() -> str:
        """Waits."""
        (FOLDER / "held").touch()
        try:
            await asyncio.Event().wait()
        finally:
            (FOLDER / "cancelled").touch()
        return "never"

    @server.tool()
    async def grow(ctx: Context) -> str:
        """Adds a tool."""
        server.add_tool(picture, name="more")
        await ctx.notify_tools_changed()
        await ctx.error("low on memory")
        return "grown"

    @server.tool()
    async def die() -> str:
        """Dies."""
        os._exit(9)

    @server.resource("sdk://a")
    async def read() -> str:
        """A resource."""
        return "content"

    server.run()


if __name__ == "__main__":
    relay_as_older() if sys.argv[2:] else serve()
