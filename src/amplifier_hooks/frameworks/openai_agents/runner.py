"""The runner that takes an agent's runs through the hooks, and what attaches it."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import time
import weakref
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

from agents import (
    Agent,
    Model,
    ModelProvider,
    ModelRefusalError,
    RunConfig,
    RunContextWrapper,
    RunResult,
    RunResultStreaming,
    RunState,
    UserError,
)
from agents.exceptions import _await_data_redacted_error_boundary
from agents.run import (
    DEFAULT_MAX_TURNS,
    AgentRunner,
    get_default_agent_runner,
    set_default_agent_runner,
)
from agents.run_config import _coerce_run_config
from agents.run_internal.agent_runner_helpers import (
    apply_resumed_conversation_settings,
    validate_output_guardrails_with_server_managed_conversation,
    validate_session_conversation_settings,
)
from agents.run_internal.model_provider_lifecycle import _close_runner_owned_model_provider
from agents.run_internal.run_steps import NextStepInterruption, QueueCompleteSentinel
from agents.run_internal.turn_preparation import validate_run_hooks
from agents.tracing.context import TraceCtxManager

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.payloads import EndReason
from amplifier_hooks.coverage import OPENAI_AGENTS, Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run, inside
from amplifier_hooks.frameworks.governing import Governable, govern
from amplifier_hooks.frameworks.openai_agents.attaching import (
    attach_handoffs,
    attach_tools,
    govern_handoff,
    judge_spawn,
)
from amplifier_hooks.frameworks.openai_agents.messages import (
    PromptDenied,
    change_prompt,
    read_prompt,
    read_value,
)
from amplifier_hooks.frameworks.openai_agents.models import govern_model, govern_provider
from amplifier_hooks.frameworks.openai_agents.tools import (
    drop_parked,
    leave_questions,
    take_state,
)
from amplifier_hooks.frameworks.openai_agents.turn import (
    BOARD,
    Board,
    Turn,
    check_turn,
    current,
    find_board,
)


def find_outer() -> Turn | None:
    """The turn whose tool is being called here."""
    turn = current.get()
    return turn if turn is not None and inside.get() is turn.run else None


def choose_board(agent: Any) -> Board | None:
    """The board of an agent; one that a governed agent's tool starts gets that agent's."""
    known = find_board(agent)
    outer = find_outer()
    if known is None and outer is not None and isinstance(agent, Agent):
        outer.board.adopt(agent, outer.board)
        known = outer.board
    return known


@contextlib.asynccontextmanager
async def open_turn(board: Board, agent: Agent[Any], given: Any) -> AsyncIterator[tuple[Turn, Any]]:
    """Open a turn with its session and prompt; gives the input to go on with, too."""
    outer = find_outer()
    if outer is not None and not isinstance(given, RunState):
        await _check_spawn(outer, agent, given)
    run, given = await _begin(board, agent, given)
    turn = Turn(run, board, outer, agent)
    token = current.set(turn)
    started = time.monotonic()
    reason: EndReason = "error"
    try:
        if isinstance(given, RunState):
            _resume(turn, given)
        yield turn, given
        reason = "complete"
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        reason = "user_exit"
        raise
    finally:
        current.reset(token)
        await drop_parked(turn)
        await run.end(reason)
        if outer is not None:
            await _tell_complete(outer, agent, run, time.monotonic() - started, reason)


async def _begin(board: Board, agent: Agent[Any], given: Any) -> tuple[Run, Any]:
    governor = board.governor
    if isinstance(given, RunState):  # its prompt was judged when the run began
        try:
            return await governor.open(OPENAI_AGENTS, agent.name), given
        except SessionDenied as error:
            raise PromptDenied(str(error)) from error
    run, verdict = await governor.begin(OPENAI_AGENTS, read_prompt(given), agent.name)
    if run is None:
        raise PromptDenied(verdict.text)
    return run, change_prompt(given, verdict.text) if verdict.changed else given


def _resume(turn: Turn, state: RunState[Any]) -> None:
    take_state(turn, state)
    reply = getattr(state, "_last_processed_response", None)
    for one in getattr(reply, "handoffs", ()):
        govern_handoff(one.handoff)


async def _check_spawn(outer: Turn, agent: Agent[Any], given: Any) -> None:
    why = await judge_spawn(outer.run, agent.name, read_prompt(given))
    if why is not None:
        raise PromptDenied(why)


async def _tell_complete(
    outer: Turn, agent: Agent[Any], run: Run, spent: float, reason: EndReason
) -> None:
    data = {
        "parent_session_id": outer.run.coordinator.session_id,
        "agent_name": agent.name,
        "task": "",
        "result": {"session_id": run.coordinator.session_id},
        "duration_ms": int(spent * 1000),
        "status": "success" if reason == "complete" else "error",
    }
    await outer.run.tell(events.AGENT_COMPLETE, data)


def govern_config(options: dict[str, Any]) -> ModelProvider | None:
    """Have a run's models governed; returns the provider if nobody else will close it."""
    given = options.get("run_config")
    is_ours = given is None or (isinstance(given, dict) and "model_provider" not in given)
    config = RunConfig() if given is None else copy.copy(_coerce_run_config(given))
    if isinstance(config.model, Model):
        config.model = govern_model(config.model)
    config.model_provider = govern_provider(config.model_provider)
    options["run_config"] = config
    return config.model_provider if is_ours else None


async def finish(turn: Turn, result: Any, *, streamed: bool = False) -> None:
    """Judge what goes out, unless it was judged as the reply that it is."""
    if result.interruptions:
        leave_questions(turn, result)
        return
    final = result.final_output
    if final is None or final == turn.answered or (turn.answered and not isinstance(final, str)):
        return
    text = final if isinstance(final, str) else json.dumps(read_value(final))
    verdict = await turn.run.answer(text, streamed=streamed)
    if verdict.allowed and not verdict.changed:
        return
    if not isinstance(final, str):
        raise ModelRefusalError(verdict.text)
    result.final_output = verdict.text


_KEPT = (
    "_event_queue",
    "_input_guardrail_queue",
    "_active_stream_consumers",
    "_stream_consumers_stopped",
    "_waiting_on_event_queue",
    "_cancel_mode",
)
"""What somebody may be using of a stream that has not started yet."""
_LISTS = (
    "new_items",
    "input_guardrail_results",
    "output_guardrail_results",
    "tool_input_guardrail_results",
    "tool_output_guardrail_results",
)
"""What somebody may hold of it."""
_SHOWN = "_amplifier_shown"
"""How long these lists were at first."""


def start_stream(
    runner: AgentRunner, board: Board, agent: Agent[Any], given: Any, options: dict[str, Any]
) -> RunResultStreaming:
    """The result of a run that starts as soon as hooks allow it."""
    _check_options(agent, given, options)
    result = _make_result(agent, given, options)
    work = partial(_run, runner, result, board, agent, given, options)
    # The SDK keeps prompts and replies out of tracebacks where it must not log them.
    result.run_loop_task = asyncio.create_task(_await_data_redacted_error_boundary(work))
    return result


def _check_options(agent: Agent[Any], given: Any, options: dict[str, Any]) -> None:
    """Raise what the SDK raises at once, and not in the stream."""
    validate_run_hooks(options.get("hooks"))
    names = ("conversation_id", "previous_response_id")
    settings: dict[str, Any] = {name: options.get(name) for name in names}
    settings["auto_previous_response_id"] = options.get("auto_previous_response_id", False)
    if isinstance(given, RunState):
        found = apply_resumed_conversation_settings(run_state=given, **settings)
        settings = dict(zip(settings, found, strict=True))
        agent = getattr(given, "_current_agent", None) or agent
    validate_session_conversation_settings(options.get("session"), **settings)
    if not any(settings.values()):
        return
    config = _coerce_run_config(options.get("run_config") or {})
    with _hide_trace(config):
        validate_output_guardrails_with_server_managed_conversation(agent, config, **settings)


def _hide_trace(config: RunConfig) -> AbstractContextManager[Any]:
    """Nothing that the application does here is traced in a run that is not."""
    if not config.tracing_disabled:
        return nullcontext()
    return TraceCtxManager(
        workflow_name=config.workflow_name,
        trace_id=config.trace_id,
        group_id=config.group_id,
        metadata=config.trace_metadata,
        tracing=config.tracing,
        disabled=True,
    )


def _make_result(agent: Agent[Any], given: Any, options: dict[str, Any]) -> RunResultStreaming:
    """A stream that has not started: hooks judge the prompt first, and that takes time."""
    context = options.get("context")
    if not isinstance(context, RunContextWrapper):
        context = RunContextWrapper(context)
    result = RunResultStreaming(
        input="" if isinstance(given, RunState) else given,
        new_items=[],
        raw_responses=[],
        final_output=None,
        input_guardrail_results=[],
        output_guardrail_results=[],
        tool_input_guardrail_results=[],
        tool_output_guardrail_results=[],
        context_wrapper=context,
        current_agent=agent,
        current_turn=0,
        max_turns=options.get("max_turns", DEFAULT_MAX_TURNS),
        _current_agent_output_schema=None,
        trace=None,
    )
    if isinstance(given, RunState):
        _show_state(result, given)
    return result


def _show_state(result: RunResultStreaming, state: RunState[Any]) -> None:
    """Show how far a run had come that goes on, as the SDK does at once."""
    result.current_turn = state._current_turn
    result.max_turns = state._max_turns
    result._current_turn_persisted_item_count = state._current_turn_persisted_item_count
    reply = state._last_processed_response
    settled = None
    if reply is not None and isinstance(state._current_step, NextStepInterruption):
        settled = reply.tool_output_guardrail_result_start
    result.new_items.extend(state._session_items)
    result.input_guardrail_results.extend(state._input_guardrail_results)
    result.output_guardrail_results.extend(state._output_guardrail_results)
    result.tool_input_guardrail_results.extend(state._tool_input_guardrail_results)
    result.tool_output_guardrail_results.extend(state._tool_output_guardrail_results[:settled])
    result.__dict__[_SHOWN] = {name: len(getattr(result, name)) for name in _LISTS}


async def _run(
    runner: AgentRunner,
    result: RunResultStreaming,
    board: Board,
    agent: Agent[Any],
    given: Any,
    options: dict[str, Any],
) -> None:
    task: asyncio.Task[Any] | None = None
    try:
        async with open_turn(board, agent, given) as (turn, left):
            provider = govern_config(options)
            started = runner.run_streamed(agent, left, **options)
            if provider is not None:
                close = partial(_close_runner_owned_model_provider, provider)
                started._ensure_model_provider_cleanup_on_completion(close)
            task = _become(result, started)
            await task
            await finish(turn, result, streamed=True)
    finally:
        if task is None:  # nobody else would tell those who wait for events
            result.is_complete = True
            result._event_queue.put_nowait(QueueCompleteSentinel())


def _become(result: RunResultStreaming, started: RunResultStreaming) -> asyncio.Task[Any]:
    """Make the result that the caller has be the one that runs: from now on they share all."""
    task = started.run_loop_task
    if task is None:
        raise RuntimeError("the SDK has started no run")
    kept = {name: getattr(result, name) for name in (*_KEPT, "run_loop_task")}
    for name in _LISTS:
        held = getattr(result, name)
        added = held[result.__dict__.get(_SHOWN, {}).get(name, 0) :]
        held[:] = [*getattr(started, name), *added]
        kept[name] = held
    # It lets go of its agents when it is deleted, and so it must not be before the other one.
    started.__dict__.update(kept, _amplifier_started=started)
    result.__dict__ = started.__dict__
    return task


def install_runner() -> None:
    """Have every run pass here; those of agents that nobody governs go straight on."""
    runner = get_default_agent_runner()
    if not isinstance(runner, GovernedRunner):
        set_default_agent_runner(GovernedRunner(runner))


class GovernedRunner(AgentRunner):
    """Opens a session of ours behind each run of a governed agent, and lets another runner run it.

    The SDK's `run_sync` calls `run`.
    """

    def __init__(self, inner: AgentRunner) -> None:
        self._inner = inner

    async def run(self, starting_agent: Agent[Any], input: Any, **options: Any) -> RunResult:
        board = choose_board(starting_agent)
        if board is None:
            return await self._inner.run(starting_agent, input, **options)
        work = partial(self._run, board, starting_agent, input, options)
        # The SDK keeps prompts and replies out of tracebacks where it must not log them.
        result: RunResult = await _await_data_redacted_error_boundary(work)
        return result

    async def _run(
        self, board: Board, agent: Agent[Any], given: Any, options: dict[str, Any]
    ) -> RunResult:
        async with open_turn(board, agent, given) as (turn, left):
            provider = govern_config(options)
            try:
                result = await self._inner.run(agent, left, **options)
            finally:
                if provider is not None:
                    await _close_runner_owned_model_provider(provider)
            await finish(turn, result)
            return result

    def run_sync(self, starting_agent: Agent[Any], input: Any, **options: Any) -> RunResult:
        if choose_board(starting_agent) is None:
            return self._inner.run_sync(starting_agent, input, **options)
        return super().run_sync(starting_agent, input, **options)

    def run_streamed(
        self, starting_agent: Agent[Any], input: Any, **options: Any
    ) -> RunResultStreaming:
        board = choose_board(starting_agent)
        if board is None:
            return self._inner.run_streamed(starting_agent, input, **options)
        return start_stream(self._inner, board, starting_agent, input, options)


def adopt(agent: Agent[Any], board: Board) -> None:
    """Have an agent governed, in place, with all that it can reach."""
    known = find_board(agent)
    if known is not None:
        _check_same(agent, known, board)
        return
    kind = type(agent)
    if kind not in board.classes:
        board.classes[kind] = _derive(kind, board)
    agent.__class__ = board.classes[kind]
    attach_tools(agent.tools, board)
    attach_handoffs(agent.handoffs, board)


def _check_same(agent: Agent[Any], known: Board, board: Board) -> None:
    if known.governor is not board.governor or known.asks != board.asks:
        raise UserError(
            f"Agent {agent.name!r} is governed by other hooks already. Agents that call or hand "
            "off to one another are governed together: make hooks = govern(...) once, and give "
            "the same to amplify() for each of them, with the same asks="
        )


def _as_agent(governed: Any) -> Agent[Any]:
    agent: Agent[Any] = governed
    return agent


def _derive(kind: Any, board: Board) -> type[Agent[Any]]:
    """A class for one board: clones of the agent are made by it, and are governed as well."""

    class Governed(kind):  # type: ignore[misc]
        async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Any]:
            check_turn(self)
            tools: list[Any] = await super().get_all_tools(run_context)
            attach_tools(tools, board)
            attach_handoffs(self.handoffs, board)
            turn = current.get()
            if turn is not None:
                # A sandbox runs a copy of the agent, and keeps the agent itself by this name.
                public: Any = getattr(self, "_agents_public_agent", None)
                turn.agent = public or _as_agent(self)
            return tools

        @property
        def model(self) -> str | Model | None:
            found: str | Model | None = self.__dict__.get("model")
            return govern_model(found) if isinstance(found, Model) else found

        @model.setter
        def model(self, value: Any) -> None:
            self.__dict__["model"] = value

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Governed, name, getattr(kind, name))
    setattr(Governed, BOARD, board)
    return Governed


AnyAgent = TypeVar("AnyAgent", bound=Agent[Any])


def amplify(agent: AnyAgent, hooks: Governable, *, asks: Asking = "inline") -> AnyAgent:
    """Put hooks in front of an agent, in place: its tools, its model, and the agents it uses.

    With `asks="interrupt"`, questions are interruptions of the run: see `questions`, `settle`.
    """
    if not isinstance(agent, Agent):
        kind = type(agent).__name__
        raise TypeError(f"amplify() takes an agents.Agent, got {kind}")
    if asks not in ("inline", "interrupt"):
        raise ValueError(f"asks is 'inline' or 'interrupt', got {asks!r}")
    adopt(agent, _find_board(govern(hooks), asks))
    install_runner()
    return agent


_boards: weakref.WeakKeyDictionary[Governor, dict[Asking, Board]] = weakref.WeakKeyDictionary()


def _find_board(governor: Governor, asks: Asking) -> Board:
    """The board of these hooks: agents that they govern are of one class, and may be equal."""
    known = _boards.setdefault(governor, {})
    if asks not in known:
        known[asks] = Board(governor, asks, adopt)
    return known[asks]
