"""An agent of Microsoft Agent Framework, offline, with hooks in front of everything it does."""

import asyncio

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.agent_framework import amplifier

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


@tool
def read(path: str) -> str:
    """Read a file."""
    return f"{path} says: the PIN is 4711"


@tool
def delete(path: str) -> str:
    """Delete a file."""
    print("ran:   ", f"delete {path}")
    return f"{path} is gone"


SCRIPT = [
    [("read", "notes.txt"), ("delete", "/etc/passwd"), ("delete", "notes.txt")],
    "I have read your notes and deleted them.",
]


class ScriptedClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Says what is in the script, and prints the results of tools that it gets to read."""

    async def _inner_get_response(self, *, messages, stream, options, **rest):
        for content in messages[-1].contents:
            if content.type == "function_result":
                print("model: ", content.result)
        step = SCRIPT.pop(0)
        if isinstance(step, str):
            return ChatResponse(messages=[Message("assistant", [step])])
        calls = [
            Content.from_function_call(f"call_{number}", name, arguments={"path": path})
            for number, (name, path) in enumerate(step)
        ]
        return ChatResponse(messages=[Message("assistant", calls)])


async def main():
    agent = Agent(
        client=ScriptedClient(),
        tools=[read, delete],
        middleware=[amplifier(govern(hooks, approval=Person()))],
    )
    print("answer:", await agent.run("Tidy up my notes."))


asyncio.run(main())
