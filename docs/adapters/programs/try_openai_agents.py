"""An agent of the OpenAI Agents SDK, offline, with hooks in front of everything it does."""

import asyncio

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.openai_agents import amplify

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


@function_tool
def read(path: str) -> str:
    """Read a file."""
    return f"{path} says: the PIN is 4711"


@function_tool
def delete(path: str) -> str:
    """Delete a file."""
    print("ran:   ", f"delete {path}")
    return f"{path} is gone"


MODEL = ScriptedModel(
    [
        [function_call("transfer_to_keeper", {}, call_id="1")],
        [
            function_call("read", {"path": "notes.txt"}, call_id="2"),
            function_call("delete", {"path": "/etc/passwd"}, call_id="3"),
            function_call("delete", {"path": "notes.txt"}, call_id="4"),
        ],
        [assistant_message("I have read your notes and deleted them.")],
    ]
)


async def main():
    keeper = Agent("keeper", model=MODEL, tools=[read, delete])
    desk = Agent("desk", model=MODEL, handoffs=[keeper])
    amplify(desk, govern(hooks, approval=Person()))  # and with it every agent that it can reach
    config = RunConfig(tracing_disabled=True)
    result = await Runner.run(desk, "Tidy up my notes.", run_config=config)
    for item in MODEL.calls[-1].input[-3:]:
        print("model: ", item["output"])
    print("answer:", result.final_output)


asyncio.run(main())
