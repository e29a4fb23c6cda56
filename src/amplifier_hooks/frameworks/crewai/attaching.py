"""Attaching hooks to CrewAI: for the whole program, or for one block of it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from crewai.hooks import HookAborted, InterceptionPoint, register_hook, unregister_hook
from crewai.hooks.dispatch import HookFn, get_scoped_hooks, scoped_hooks
from crewai.hooks.llm_hooks import LLMCallHookContext

from amplifier_core.events.payloads import EndReason
from amplifier_hooks.frameworks.crewai.kickoffs import Kickoffs
from amplifier_hooks.frameworks.crewai.messages import describe_message, place_back
from amplifier_hooks.frameworks.crewai.models import govern_model, is_being_judged
from amplifier_hooks.frameworks.crewai.tasks import Tasks
from amplifier_hooks.frameworks.crewai.tool_calls import ToolCalls, explain
from amplifier_hooks.frameworks.governing import Governable, govern

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
    tasks, calls = Tasks(kickoffs), ToolCalls(kickoffs, plain_names=plain_names)
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
