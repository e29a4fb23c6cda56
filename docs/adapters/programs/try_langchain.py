"""An agent of LangChain, offline, with hooks in front of everything it does."""

import asyncio

from langchain.agents import create_agent
from langchain.messages import AIMessage, ToolMessage
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

from amplifier_core import ApprovalAnswer, HookRegistry, HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware

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


class ScriptedModel(GenericFakeChatModel):
    """Says what is in the script, and prints the results of tools that it gets to read."""

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, *args, **kwargs):
        for message in messages:
            if isinstance(message, ToolMessage):
                print("model: ", message.text)
        return super()._generate(messages, *args, **kwargs)


def call(number, name, path):
    return {"name": name, "args": {"path": path}, "id": f"call_{number}"}


CALLS = [
    call(1, "read", "notes.txt"),
    call(2, "delete", "/etc/passwd"),
    call(3, "delete", "notes.txt"),
]
SCRIPT = [AIMessage("", tool_calls=CALLS), AIMessage("I have read your notes and deleted them.")]


async def main():
    middleware = AmplifierMiddleware(govern(hooks, approval=Person()))
    model = ScriptedModel(messages=iter(SCRIPT))
    agent = create_agent(model, [read, delete], middleware=[middleware])
    state = await agent.ainvoke({"messages": "Tidy up my notes."})
    print("answer:", state["messages"][-1].text)


asyncio.run(main())
