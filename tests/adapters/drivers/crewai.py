"""CrewAI: a crew of one agent, with a model object that plays a script."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, ClassVar

# Read when the framework is imported: it reports to nobody and leaves the home folder alone.
os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["CREWAI_TRACING_ENABLED"] = "false"
os.environ["OTEL_SDK_DISABLED"] = "true"
os.environ.setdefault("CREWAI_STORAGE_DIR", tempfile.mkdtemp(prefix="crewai-"))

from crewai import Agent, BaseLLM, Crew, Task
from crewai.mcp import MCPServerStdio
from crewai.tools import BaseTool, tool
from pydantic import PrivateAttr

from amplifier_hooks.coverage import CREWAI
from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.crewai import amplified
from tests.adapters.drivers.driver import Call, Driver, Ran, Step
from tests.support.adapter_runs.plain_mcp_server import record_calls

HELPER = "helper"
NO_INTERRUPTS = "a tool call of CrewAI cannot be interrupted and resumed"


class ScriptedModel(BaseLLM):
    """Plays a script, one reply for each request."""

    _script: list[Step] = PrivateAttr(default_factory=list)
    _ran: Ran = PrivateAttr(default_factory=Ran)

    @classmethod
    def make(cls, script: list[Step], ran: Ran, **more: Any) -> ScriptedModel:
        made = cls(model="scripted", **more)
        made._script, made._ran = list(script), ran
        return made

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        self._ran.requests.append(json.dumps(messages, default=str, ensure_ascii=False))
        step = self._script.pop(0)
        if isinstance(step, str):
            for piece in step.split(" ") if self.stream else ():
                self._emit_stream_chunk_event(f"{piece} ")
            return step
        return [_write_call(one, more.get("tools") or []) for one in step]

    async def acall(self, messages: Any, *arguments: Any, **more: Any) -> Any:
        return self.call(messages, *arguments, **more)


def _write_call(call: Call, offered: list[dict[str, Any]]) -> dict[str, Any]:
    name, given = call.name, call.arguments
    for one in offered:  # an MCP tool is offered under a name that CrewAI makes of its server's
        if f"The tool {call.name}." in one["function"]["description"]:
            name = one["function"]["name"]
    if name == HELPER:
        name = "delegate_work_to_coworker"
        given = {"task": given["task"], "context": "none", "coworker": HELPER}
    function = {"name": name, "arguments": json.dumps(given)}
    return {"id": call.id, "type": "function", "function": function}


class CrewDriver(Driver):
    name = CREWAI.name
    coverage = CREWAI
    cannot: ClassVar[Mapping[str, str]] = {
        "the_frameworks_own_answer_counts": NO_INTERRUPTS,
        "the_frameworks_own_yes_is_bound_to_what_was_shown": NO_INTERRUPTS,
        "a_question_is_handed_over_to_the_framework": NO_INTERRUPTS,
        "an_answer_to_something_else_runs_nothing": NO_INTERRUPTS,
    }

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        with nullcontext() if hooks is None else amplified(hooks):
            output = await make_crew(script, ran, prompt).akickoff()
        ran.answer = output.raw
        return ran

    def run_sync(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        with amplified(hooks):
            ran.answer = make_crew(script, ran, prompt).kickoff().raw
        return ran

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        crew = make_crew(script, ran, prompt)
        crew.stream = True
        with amplified(hooks):
            streaming = await crew.akickoff()
            async for chunk in streaming:
                ran.pieces.append(chunk.content)
        ran.answer = streaming.result.raw
        return ran

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        crew = make_crew(script, ran, prompt)
        crew.agents[0].allow_delegation = True
        crew.agents.append(make_agent(HELPER, helper, ran))
        with amplified(hooks):
            ran.answer = (await crew.akickoff()).raw
        return ran

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        with record_calls(ran.calls) as (command, *words), amplified(hooks, plain_names=True):
            server = MCPServerStdio(command=command, args=words)
            crew = make_crew(script, ran, prompt, tools=[], mcps=[server])
            ran.answer = (await asyncio.to_thread(crew.kickoff)).raw
        return ran


def make_crew(script: list[Step], ran: Ran, prompt: str = "Do it.", **more: Any) -> Crew:
    agent = make_agent("worker", script, ran, **more)
    task = Task(description=prompt, expected_output="an answer", agent=agent)
    return Crew(agents=[agent], tasks=[task])


def make_agent(role: str, script: list[Step], ran: Ran, **more: Any) -> Agent:
    about = {"role": role, "goal": "do it", "backstory": "none", "max_iter": 5}
    tools = {"tools": _make_tools(ran), **more}
    return Agent(**about, **tools, llm=ScriptedModel.make(script, ran))


def _make_tools(ran: Ran) -> list[BaseTool]:
    @tool("note")
    def note(text: str) -> str:
        """Note a text."""
        ran.calls.append(("note", {"text": text}))
        return f"noted {text}"

    @tool("wipe")
    def wipe(path: str) -> str:
        """Wipe a path."""
        ran.calls.append(("wipe", {"path": path}))
        return f"wiped {path}"

    @tool("boom")
    def boom(text: str) -> str:
        """Fail."""
        ran.calls.append(("boom", {"text": text}))
        raise RuntimeError(f"boom {text}")

    return [note, wipe, boom]


DRIVER_CLASS = CrewDriver
