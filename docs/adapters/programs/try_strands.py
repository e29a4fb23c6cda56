"""An agent of Strands, offline, with hooks in front of everything it does."""

import asyncio
import json

from strands import Agent, tool
from strands.models.model import Model

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.strands import AmplifierHooks

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


class ScriptedModel(Model):
    """Says what is in the script, and prints the results of tools that it gets to read."""

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, messages, *args, **kwargs):
        for block in messages[-1]["content"]:
            if "toolResult" in block:
                result = block["toolResult"]
                print("model: ", result["status"], "·", result["content"][0]["text"])
        step = SCRIPT.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        for number, part in enumerate([step] if isinstance(step, str) else step):
            if isinstance(part, str):
                start, delta = {}, {"text": part}
            else:
                start = {"toolUse": {"toolUseId": f"call_{number}", "name": part[0]}}
                delta = {"toolUse": {"input": json.dumps({"path": part[1]})}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if start == {} else "tool_use"}}


async def main():
    agent = Agent(
        model=ScriptedModel(),
        tools=[read, delete],
        callback_handler=None,
        plugins=[AmplifierHooks(govern(hooks, approval=Person()))],
    )
    print("answer:", str(await agent.invoke_async("Tidy up my notes.")).strip())


asyncio.run(main())
