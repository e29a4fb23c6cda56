"""Attaching hooks to CrewAI: for the whole program, or for one block of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from crewai import BaseLLM, TaskOutput
from crewai.hooks import HookAborted, InterceptionPoint, register_hook, unregister_hook
from crewai.hooks.contexts import ExecutionEndContext, InterceptionContext, StepContext
from crewai.hooks.dispatch import HookFn, get_scoped_hooks, scoped_hooks
from crewai.hooks.llm_hooks import LLMCallHookContext
from pydantic import BaseModel, TypeAdapter

from amplifier_core.payloads import EndReason
from amplifier_core.utils import describe_error
from amplifier_hooks.frameworks.crewai.calls import (
    ToolCalls,
    describe_message,
    explain,
    govern_model,
    is_being_judged,
    place_back,
)
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoffs
from amplifier_hooks.frameworks.governing import Governable, govern

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
        task = context.task
        agent = context.agent
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


Listeners = dict[InterceptionPoint, HookFn]

_attached: dict[int, Callable[[], None]] = {}


def amplify_crewai(
    hooks: Governable | None = None, *, plain_names: bool = False
) -> Callable[[], None]:
    """Govern every crew of this program from now on; what is returned ends that.

    Call it last: hooks that are registered later can change what a person has allowed. With
    `plain_names`, hooks see the tools of MCP servers without the name of their server.
    """
    governor = govern(hooks)
    if id(governor) in _attached:
        return _attached[id(governor)]
    kickoffs = Kickoffs(governor)
    listeners = listen(kickoffs, plain_names=plain_names)
    for point, listener in listeners.items():
        register_hook(point, listener)

    def detach() -> None:
        _attached.pop(id(governor), None)
        for point, listener in listeners.items():
            unregister_hook(point, listener)
        kickoffs.close("complete")

    _attached[id(governor)] = detach
    return detach


@contextmanager
def amplified(hooks: Governable | None = None, *, plain_names: bool = False) -> Iterator[None]:
    """Govern the crews that are started in this block; they end with it, at the latest.

    `plain_names` as in `amplify_crewai`.
    """
    kickoffs = Kickoffs(govern(hooks))
    listeners = listen(kickoffs, plain_names=plain_names)
    scope = {point: [*get_scoped_hooks(point), one] for point, one in listeners.items()}
    reason: EndReason = "complete"
    try:
        with scoped_hooks(scope):
            yield
    except Exception:
        reason = "error"
        raise
    except BaseException:
        reason = "user_exit"
        raise
    finally:
        kickoffs.close(reason)


def listen(kickoffs: Kickoffs, *, plain_names: bool = False) -> Listeners:
    """What to register where."""
    tasks = Tasks(kickoffs)
    calls = ToolCalls(kickoffs, plain_names=plain_names)
    return {
        InterceptionPoint.EXECUTION_START: fail_closed(tasks.start),
        InterceptionPoint.PRE_STEP: fail_closed(tasks.before_task),
        InterceptionPoint.PRE_MODEL_CALL: fail_closed(functools.partial(_call_model, kickoffs)),
        InterceptionPoint.PRE_TOOL_CALL: fail_closed(calls.before),
        InterceptionPoint.POST_TOOL_CALL: fail_closed(calls.after),
        InterceptionPoint.POST_STEP: fail_closed(tasks.after_task),
        InterceptionPoint.EXECUTION_END: fail_closed(tasks.end),
    }


def fail_closed(listener: HookFn) -> HookFn:
    """The listener, with everything that it raises as the one exception that CrewAI obeys."""

    def call(context: Any) -> Any:
        try:
            return listener(context)
        except HookAborted:
            raise
        except BaseException as error:
            raise HookAborted(explain(error), "amplifier") from error

    return call


def _call_model(kickoffs: Kickoffs, context: LLMCallHookContext) -> None:
    """A model is about to be called, or asks from inside its call because nobody did before."""
    if is_being_judged(context.llm):
        return
    govern_model(context.llm, kickoffs)
    if context.executor is None:
        _judge_direct_call(kickoffs, context)
    else:
        kickoffs.find(context.agent, context.task, context.crew)


def _judge_direct_call(kickoffs: Kickoffs, context: LLMCallHookContext) -> None:
    kickoff = kickoffs.find_open(context.task, context.agent, context.crew)
    if kickoff is None:
        return
    plain = [describe_message(one) for one in context.messages]
    model = str(getattr(context.llm, "model", "") or "")
    verdict = kickoff.run.request_sync(plain, provider="crewai", model=model)
    if not verdict.allowed:
        raise HookAborted(verdict.reason)
    if verdict.changed:
        context.messages[:] = place_back(list(context.messages), verdict.placed)
