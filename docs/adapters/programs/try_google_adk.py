"""An agent of Google ADK, offline, with hooks in front of everything it does."""

import asyncio
import logging

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.google_adk import AmplifierPlugin

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


def read(path: str) -> str:
    """Read a file."""
    return f"{path} says: the PIN is 4711"


def delete(path: str) -> str:
    """Delete a file."""
    print("ran:   ", f"delete {path}")
    return f"{path} is gone"


SCRIPT = [
    [("read", "notes.txt"), ("delete", "/etc/passwd"), ("delete", "notes.txt")],
    "I have read your notes and deleted them.",
]


class ScriptedModel(BaseLlm):
    """Says what is in the script, and prints the results of tools that it gets to read."""

    async def generate_content_async(self, llm_request, stream=False):
        for part in llm_request.contents[-1].parts:
            if part.function_response:
                print("model: ", part.function_response.response)
        step = SCRIPT.pop(0)
        if isinstance(step, str):
            parts = [types.Part(text=step)]
        else:
            parts = [types.Part.from_function_call(name=n, args={"path": p}) for n, p in step]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


async def main():
    logging.disable(logging.WARNING)  # the framework misses the token counts of a real model
    agent = LlmAgent(name="keeper", model=ScriptedModel(model="scripted"), tools=[read, delete])
    plugin = AmplifierPlugin(govern(hooks, approval=Person()))
    runner = InMemoryRunner(agent=agent, plugins=[plugin])
    events = await runner.run_debug("Tidy up my notes.", quiet=True)
    print("answer:", events[-1].content.parts[0].text)
    await runner.close()


asyncio.run(main())
