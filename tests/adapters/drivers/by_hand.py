"""A loop that somebody wrote by hand, with our hooks called from it: no framework at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from amplifier_core.models import ToolResult
from amplifier_hooks.coverage import ALL, Coverage
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.handover import Handed, bind_plain
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Reply
from amplifier_hooks.frameworks import Governor
from tests.adapters.drivers.driver import Call, Driver, Ran, Step

EVENTS = (
    "prompt:submit",
    "prompt:answer",
    "provider:request",
    "provider:response",
    "tool:pre",
    "tool:post",
)
COVERAGE = Coverage(
    name="by-hand",
    framework="a loop by hand",
    package="amplifier-hooks",
    module="amplifier_hooks.frameworks",
    attach="govern(hooks)",
    events=dict.fromkeys(
        (
            "prompt:submit",
            "prompt:answer",
            "provider:request",
            "provider:response",
            "tool:pre",
            "tool:post",
        ),
        ALL,
    ),
    unseen=(),
)


@dataclass
class Loop:
    """One run: messages, a scripted model, and tools."""

    script: Iterator[Step]
    ran: Ran = field(default_factory=Ran)
    messages: list[dict[str, Any]] = field(default_factory=list)
    helper: list[Step] | None = None
    hooks: Governor | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    interrupts: bool = False

    async def use(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool."""
        if name == "helper" and self.helper is not None and self.hooks is not None:
            inner = Loop(iter(self.helper), Ran(calls=self.ran.calls))
            return (await work(self.hooks, inner, arguments["task"])).answer
        check_call(name, arguments)
        self.ran.calls.append((name, arguments))
        return use_tool(name, arguments)


def check_call(name: str, arguments: dict[str, Any]) -> None:
    """ValueError for what no tool takes."""
    texts = all(isinstance(value, str) for value in arguments.values())
    if name not in ("note", "wipe", "boom") or not texts:
        raise ValueError(f"{name} does not take {arguments}")


def use_tool(name: str, arguments: dict[str, Any]) -> str:
    """What the tools do."""
    value = next(iter(arguments.values()))
    if name == "boom":
        raise RuntimeError(f"boom {value}")
    return f"{'noted' if name == 'note' else 'wiped'} {value}"


async def work(hooks: Governor, loop: Loop, prompt: str) -> Ran:
    """A whole run."""
    run, verdict = await hooks.begin(COVERAGE, prompt)
    if run is None:
        loop.ran.answer = verdict.text
        return loop.ran
    reason: Any = "error"
    try:
        loop.messages.append({"role": "user", "content": verdict.text})
        loop.ran.answer = (await run.answer(await converse(run, loop))).text
        reason = "complete"
    finally:
        await run.end(reason)
    return loop.ran


async def converse(run: Run, loop: Loop) -> str:
    """Ask the model until it has nothing more to do."""
    while True:
        asked = await run.request(loop.messages, provider="script", tools=["note", "wipe"])
        if not asked.allowed:
            return asked.reason
        sent = [
            loop.messages[one.index] if one.message is None else one.message for one in asked.placed
        ]  # type: ignore[index]
        loop.ran.requests.append(json.dumps(sent))
        step = next(loop.script)
        calls = [] if isinstance(step, str) else [describe(one) for one in step]
        reply = Reply(step if isinstance(step, str) else "", calls)
        judged = await run.review(reply, provider="script")
        if not judged.allowed:
            return judged.reason
        text = reply.text if judged.text is None else judged.text
        calls = reply.calls if judged.calls is None else judged.calls
        if not calls:
            return text
        await use_tools(run, loop, calls)


def describe(call: Call) -> dict[str, Any]:
    """A call in our words."""
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


async def use_tools(run: Run, loop: Loop, calls: list[dict[str, Any]]) -> None:
    """Run the calls of one reply, all at once."""
    loop.messages.append({"role": "assistant", "content": "", "tool_calls": calls})
    found = await asyncio.gather(
        *(use_one(run, loop, one) for one in calls), return_exceptions=True
    )
    for one, text in zip(calls, found, strict=True):
        if isinstance(text, BaseException):
            text = f"Error: {text}"
        loop.messages.append({"role": "tool", "tool_call_id": one["id"], "content": text})


async def use_one(run: Run, loop: Loop, call: dict[str, Any]) -> str:
    """Run one call through the hooks."""
    wanted = Wanted(
        call["name"],
        call["arguments"],
        call["id"],
        lambda given: loop.use(call["name"], given),
        lambda value: ToolResult(output=value),
    )

    def ask(handed: Handed) -> Any:
        payload = handed.to_payload()
        return bind_plain(payload, loop.answers["choose"](payload))

    hand_over = ask if loop.interrupts else None
    called = await run.call(wanted, hand_over)
    return str(called.value) if called.untouched else called.text


class HandDriver(Driver):
    """Our hooks called from a loop without any framework."""

    name: ClassVar[str] = "by-hand"
    coverage: ClassVar[Coverage] = COVERAGE
    cannot: ClassVar[dict[str, str]] = {
        "without_hooks_nothing_of_ours_is_attached": "this loop is nothing without hooks",
        "a_stream_is_governed": "this loop does not stream",
        "a_denied_prompt_streams_nothing": "this loop does not stream",
        "tools_of_an_mcp_server_are_governed": "this loop has no MCP client",
        "the_synchronous_entry_point_is_governed": "this loop has none",
        "a_question_in_the_synchronous_entry_point": "this loop has none",
    }

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        return await work(hooks, Loop(iter(script)), prompt)

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        return await work(hooks, Loop(iter(script), helper=helper, hooks=hooks), prompt)

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        loop = Loop(iter(script), interrupts=True, answers={"choose": choose})
        return await work(hooks, loop, prompt)


DRIVER_CLASS = HandDriver
