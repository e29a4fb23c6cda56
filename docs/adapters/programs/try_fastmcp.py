"""An MCP server with hooks in front of its tools, and a client that calls them."""

import asyncio

from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.fastmcp import AmplifierMCP

hooks = HookRegistry()


@hooks.register("tool:pre", on_error="deny", name="keep-files")
async def keep_files(event, data):
    path = data["tool_input"].get("path", "")
    if data["tool_name"] == "delete" and path.startswith("/etc"):
        return HookResult(action="deny", reason=f"{path} belongs to the system")
    if data["tool_name"] == "delete":
        return HookResult(action="ask_user", approval_prompt=f"Delete {path}?")
    return HookResult(action="continue")


@hooks.register("tool:post", name="hide-pin")
async def hide_pin(event, data):
    output = str(data["tool_result"]["output"])
    clean = {**data["tool_result"], "output": output.replace("4711", "[hidden]")}
    return HookResult(action="modify", data={**data, "tool_result": clean})


class Person:
    """Stands for somebody at a terminal or in a browser."""

    async def decide(self, question):
        print("asked: ", question.prompt, question.tool_input)
        return ApprovalAnswer("Allow", by="ana")


server = FastMCP("files")


@server.tool
def read(path: str) -> str:
    """Read a file."""
    return f"{path} says: the PIN is 4711"


@server.tool
def delete(path: str) -> str:
    """Delete a file."""
    print("ran:   ", f"delete {path}")
    return f"{path} is gone"


server.add_middleware(AmplifierMCP(govern(hooks, approval=Person())))


async def main():
    async with Client(server) as client:
        for tool, path in (
            ("read", "notes.txt"),
            ("delete", "/etc/passwd"),
            ("delete", "notes.txt"),
        ):
            try:
                result = await client.call_tool(tool, {"path": path})
            except ToolError as error:
                print("client:", error)
            else:
                print("client:", result.data)


asyncio.run(main())
