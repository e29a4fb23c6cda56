"""A crew of CrewAI, offline, with hooks in front of everything it does."""

import json
import logging
import os
import tempfile

# Before the framework is imported: no reports to anybody, nothing left on this machine.
os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["CREWAI_TRACING_ENABLED"] = "false"
os.environ["CREWAI_STORAGE_DIR"] = tempfile.mkdtemp()

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.crewai import amplified

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


@tool("read")
def read(path: str) -> str:
    """Read a file."""
    return f"{path} says: the PIN is 4711"


@tool("delete")
def delete(path: str) -> str:
    """Delete a file."""
    print("ran:   ", f"delete {path}")
    return f"{path} is gone"


SCRIPT = [
    [("read", "notes.txt"), ("delete", "/etc/passwd"), ("delete", "notes.txt")],
    "I have read your notes and deleted them.",
]


class ScriptedModel(BaseLLM):
    """Says what is in the script, and prints the results of tools that it gets to read."""

    def supports_function_calling(self):
        return True

    def call(self, messages, *arguments, **more):
        for message in messages:
            if message["role"] == "tool":
                print("model: ", message["content"])
        step = SCRIPT.pop(0)
        return step if isinstance(step, str) else [write_call(*one) for one in step]


def write_call(name, path):
    """A tool call, as a model makes it."""
    function = {"name": name, "arguments": json.dumps({"path": path})}
    return {"id": f"{name} {path}", "type": "function", "function": function}


logging.disable(logging.WARNING)  # the framework misses the token counts of a real model
keeper = Agent(
    role="keeper",
    goal="keep the notes tidy",
    backstory="You like order.",
    tools=[read, delete],
    llm=ScriptedModel(model="scripted"),
)
task = Task(description="Tidy up my notes.", expected_output="what you did", agent=keeper)
with amplified(govern(hooks, approval=Person())):
    output = Crew(agents=[keeper], tasks=[task]).kickoff()
print("answer:", output.raw)
