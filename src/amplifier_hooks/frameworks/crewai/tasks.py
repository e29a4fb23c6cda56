"""Kickoffs and their tasks: a session, and in it a turn for each task."""

from __future__ import annotations

from typing import Any

from crewai import BaseLLM, TaskOutput
from crewai.hooks import HookAborted
from crewai.hooks.contexts import ExecutionEndContext, InterceptionContext, StepContext
from pydantic import BaseModel, TypeAdapter

from amplifier_core.utils import describe_error
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoffs
from amplifier_hooks.frameworks.crewai.models import govern_model

TASK = "task"
_OBJECT = TypeAdapter(dict[str, Any])


class Tasks:
    """Opens and ends kickoffs, and judges what each task asks for and what came of it."""

    def __init__(self, kickoffs: Kickoffs) -> None:
        self._kickoffs = kickoffs

    def start(self, context: InterceptionContext) -> None:
        """A kickoff starts; of a flow, its crews have their own."""
        crew = context.crew
        if crew is None:
            return
        self._kickoffs.begin(crew)
        for agent in (*crew.agents, crew.manager_agent):
            self._govern_models(agent)

    def _govern_models(self, agent: Any) -> None:
        for name in ("llm", "function_calling_llm") if agent is not None else ():
            # Without the warning that comes with reading a field that CrewAI gives up.
            govern_model(vars(agent).get(name), self._kickoffs)

    def end(self, context: ExecutionEndContext) -> None:
        """A kickoff is over."""
        if context.crew is not None:
            failed = context.status == "failed"
            self._kickoffs.end(context.crew, "error" if failed else "complete")

    def before_task(self, context: StepContext) -> None:
        """A turn begins: what the task asks for is its prompt."""
        if context.kind != TASK:
            return
        task, agent = context.task, context.agent
        self._govern_models(agent)
        kickoff = self._kickoffs.find(agent, task)
        about = {"task": task.name or "", "agent": context.agent_role or ""}
        verdict = kickoff.run.submit_sync(task.description, about)
        if not verdict.allowed:
            raise HookAborted(verdict.text)
        if verdict.changed:
            kickoff.descriptions.append((task, task.description))
            task.description = verdict.text

    def after_task(self, context: StepContext) -> TaskOutput | None:
        """The turn is over: its output is judged before anybody gets it."""
        if context.kind != TASK:
            return None
        kickoff = self._kickoffs.find(context.agent, context.task)
        kickoff.restore()
        output: TaskOutput = context.payload
        verdict = kickoff.run.answer_sync(output.raw, streamed=_streams(context.agent))
        if not verdict.allowed:
            raise HookAborted(verdict.text)
        return _change(output, verdict.text) if verdict.changed else None


def _streams(agent: Any) -> bool:
    llm = getattr(agent, "llm", None)
    return isinstance(llm, BaseLLM) and bool(getattr(llm, "stream", False))


def _change(output: TaskOutput, text: str) -> TaskOutput:
    """The output with another text, and with nothing of the one before."""
    update: dict[str, Any] = {"raw": text, "messages": [], "summary": None}
    try:
        if isinstance(output.pydantic, BaseModel):
            update["pydantic"] = type(output.pydantic).model_validate_json(text)
        if output.json_dict is not None:
            update["json_dict"] = _OBJECT.validate_json(text)
    except ValueError as error:
        why = f"a hook left an output that is not in its form: {describe_error(error)}"
        raise HookAborted(why) from error
    return output.model_copy(update=update)
