"""An agent of Pydantic AI, offline, with hooks in front of everything it does."""

import asyncio

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks

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


SCRIPT = [
    [("read", "notes.txt"), ("delete", "/etc/passwd"), ("delete", "notes.txt")],
    "I have read your notes and deleted them.",
]


def reply(messages, info):
    """Say what is in the script, and print the results of tools."""
    for part in messages[-1].parts:
        if isinstance(part, ToolReturnPart):
            print("model: ", part.content)
    step = SCRIPT.pop(0)
    if isinstance(step, str):
        return ModelResponse(parts=[TextPart(step)])
    return ModelResponse(parts=[ToolCallPart(name, {"path": path}) for name, path in step])


agent = Agent(
    FunctionModel(reply),
    capabilities=[AmplifierHooks(govern(hooks, approval=Person()))],
)


@agent.tool_plain
def read(path: str) -> str:
    """Read a file."""
    return f"{path} says: the PIN is 4711"


@agent.tool_plain
def delete(path: str) -> str:
    """Delete a file."""
    print("ran:   ", f"delete {path}")
    return f"{path} is gone"


async def main():
    result = await agent.run("Tidy up my notes.")
    print("answer:", result.output)


asyncio.run(main())
