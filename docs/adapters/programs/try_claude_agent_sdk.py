"""An agent of the Claude Agent SDK, offline, with hooks in front of everything it does."""

import asyncio
import tempfile

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, tool

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.agent.model_server import ModelServer
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.claude_agent_sdk import amplified_query

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
    output = data["tool_result"]["output"][0]["text"]
    clean = {**data["tool_result"], "output": output.replace("4711", "[hidden]")}
    return HookResult(action="modify", data={**data, "tool_result": clean})


class Person:
    """Stands for somebody at a terminal or in a browser."""

    async def decide(self, question):
        print("asked: ", question.prompt, question.tool_input)
        return ApprovalAnswer("Allow", by="ana")


@tool("read", "Read a file.", {"path": str})
async def read(given):
    return {"content": [{"type": "text", "text": f"{given['path']} says: the PIN is 4711"}]}


@tool("delete", "Delete a file.", {"path": str})
async def delete(given):
    print("ran:   ", f"delete {given['path']}")
    return {"content": [{"type": "text", "text": f"{given['path']} is gone"}]}


def call(name, path):
    """A tool call, as the model makes it."""
    return {"name": f"mcp__files__{name}", "input": {"path": path}}


SCRIPT = [
    {"tool_calls": [call("read", "notes.txt")]},
    {"tool_calls": [call("delete", "/etc/passwd")]},
    {"tool_calls": [call("delete", "notes.txt")]},
    {"text": "I have read your notes and deleted them."},
]


async def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        async with ModelServer(SCRIPT, per_conversation=True) as model:
            options = ClaudeAgentOptions(
                mcp_servers={"files": create_sdk_mcp_server("files", tools=[read, delete])},
                allowed_tools=["mcp__files"],
                setting_sources=[],
                cwd=home,
                # The model on this machine instead of the real one, and nothing else.
                env={
                    "ANTHROPIC_BASE_URL": model.url,
                    "ANTHROPIC_API_KEY": "none",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "CLAUDE_CONFIG_DIR": home,
                },
            )
            governor = govern(hooks, approval=Person())
            asked = {"prompt": "Tidy up my notes.", "options": options}
            async for message in amplified_query(governor, **asked, plain_servers=["files"]):
                if isinstance(message, ResultMessage):
                    print("answer:", message.result)
            for result in model.requests[-1].body["messages"]:
                for block in result["content"] if result["role"] == "user" else ():
                    if isinstance(block, dict) and block["type"] == "tool_result":
                        print("model: ", block["content"])


asyncio.run(main())
