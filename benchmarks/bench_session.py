"""What a whole turn costs: one prompt, one tool call, an instant model; against a bare loop."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import process_time
from typing import Any

from amplifier_audit import AuditLog
from amplifier_core.hooks import HookRegistry
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock, ToolCall
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.session import AmplifierSession
from benchmarks.harness import Row, compare, loop_of, report

EVENTS = ("prompt:submit", "tool:pre", "tool:post", "prompt:complete")
CALLS = [ToolCall(id="1", name="Echo", arguments={"text": "hello"})]
ASKS = ChatResponse(tool_calls=CALLS, content=[])
ANSWERS = ChatResponse(content=[TextBlock(text="done")])
DONE = ToolResult(output="hello")


class InstantModel:
    """Asks for the tool once, then answers."""

    name = "instant"
    model = "instant"

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        return ANSWERS if request.messages[-1].role == "tool" else ASKS

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        return response.tool_calls or []


class Echo:
    """Answers at once."""

    name = "Echo"
    description = "Says it again"
    input_schema: dict[str, Any] = {"type": "object"}  # noqa: RUF012 - a constant

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        return DONE


async def hook(event: str, data: dict[str, Any]) -> HookResult:
    """Says continue."""
    return HookResult(action="continue")


Tell = Callable[[str, dict[str, Any]], Awaitable[None]]
Messages = list[dict[str, Any]]


async def bare_model(messages: Messages) -> dict[str, Any]:
    """The instant model of the floor."""
    if messages[-1]["role"] == "tool":
        return {"text": "done", "calls": []}
    return {"text": "", "calls": [{"id": "1", "name": "Echo", "input": {"text": "hello"}}]}


async def bare_loop(tell: Tell, tool: Echo, messages: Messages) -> dict[str, Any]:
    """Requests and tool calls, as a person would write them by hand."""
    while True:
        reply = await bare_model(messages)
        messages.append({"role": "assistant", "content": reply["text"]})
        if not reply["calls"]:
            return reply
        for call in reply["calls"]:
            await tell("tool:pre", call)
            result = await tool.execute(call["input"])
            await tell("tool:post", {"result": result})
            messages.append({"role": "tool", "content": result.output})


def bare_turn(hooks: int) -> Callable[[], Awaitable[str]]:
    """The floor: the same turn by hand, hooks called with bare awaits."""
    handlers = (hook,) * hooks
    tool = Echo()

    async def tell(event: str, data: dict[str, Any]) -> None:
        for handler in handlers:
            await handler(event, data)

    async def turn() -> str:
        messages: Messages = []
        await tell("prompt:submit", {"prompt": "go"})
        messages.append({"role": "user", "content": "go"})
        reply = await bare_loop(tell, tool, messages)
        await tell("prompt:complete", {"reply": reply})
        return str(reply["text"])

    return turn


def real_turn(hooks: int, audit: Any = None) -> Callable[[], Awaitable[str]]:
    """The same through a session, its conversation emptied after each turn."""
    plan = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}
    session = AmplifierSession(plan, audit=audit)

    async def turn() -> str:
        if not session.initialized:
            await session.initialize()
            await session.coordinator.mount("providers", InstantModel())
            await session.coordinator.mount("tools", Echo())
            registry: HookRegistry = session.coordinator.hooks
            for event in EVENTS:
                for number in range(hooks):
                    registry.register(event, hook, name=f"hook-{number}")
        reply = await session.execute("go")
        session.coordinator.get("context").clear()
        return reply

    return turn


def with_trail(what: str, hooks: int) -> list[Row]:
    """The same with its trail: how long a session takes, and what all threads spend on it."""
    floor = loop_of(bare_turn(hooks))
    with tempfile.TemporaryDirectory() as folder:
        audit = AuditLog(Path(folder))
        turns = loop_of(real_turn(hooks, audit))

        async def write_all(times: int) -> None:
            await turns(times)
            await audit.commit()

        # Rounds longer than the writer gathers records, so that its work is part of each.
        rows = [
            compare(what, floor, turns, rounds=30, seconds=0.06),
            compare(
                f"{what}, all records written, in processor time",
                floor,
                write_all,
                rounds=15,
                seconds=0.06,
                clock=process_time,
            ),
        ]
        asyncio.run(audit.close())
    return rows


def main() -> None:
    """Measure and report."""
    logging.disable(logging.WARNING)
    rows: list[Row] = []
    for hooks in (0, 5):
        what = f"a turn, {hooks} hooks on four events"
        floor, subject = loop_of(bare_turn(hooks)), loop_of(real_turn(hooks))
        rows.append(compare(what, floor, subject))
        rows += with_trail(f"{what}, trail on", hooks)
    report("One turn with one tool call, against a hand-written loop", rows)


if __name__ == "__main__":
    main()
