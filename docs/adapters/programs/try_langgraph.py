"""A graph of LangGraph by hand, offline, with hooks in front of the calls of its ToolNode."""

import asyncio

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from amplifier_core import HookRegistry, HookResult
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware

hooks = HookRegistry()


@hooks.register("tool:pre", on_error="deny", name="keep-files")
async def keep_files(event, data):
    path = data["tool_input"].get("path", "")
    if path.startswith("/etc"):
        return HookResult(action="deny", reason=f"{path} belongs to the system")
    return HookResult(action="continue")


def delete(path: str) -> str:
    """Delete a file."""
    print("ran:   ", f"delete {path}")
    return f"{path} is gone"


def call(number, path):
    return {"name": "delete", "args": {"path": path}, "id": f"call_{number}"}


SCRIPT = iter(
    [
        AIMessage("", tool_calls=[call(1, "/etc/passwd"), call(2, "notes.txt")]),
        AIMessage("I have deleted your notes."),
    ]
)


def model(state):
    """Stands for the node that calls a model."""
    for message in state["messages"]:
        if message.type == "tool":
            print("model: ", message.text)
    return {"messages": [next(SCRIPT)]}


async def main():
    middleware = AmplifierMiddleware(hooks)
    tools = ToolNode(
        [delete],
        wrap_tool_call=middleware.wrap_tool_call,
        awrap_tool_call=middleware.awrap_tool_call,
    )
    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    state = await graph.compile().ainvoke({"messages": "Tidy up."})
    print("answer:", state["messages"][-1].text)


asyncio.run(main())
