"""Streamed runs: hooks judge the prompt before the SDK starts the run that the caller has."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from agents import Agent, RunConfig, RunContextWrapper, RunResultStreaming, RunState
from agents.exceptions import _await_data_redacted_error_boundary
from agents.run import DEFAULT_MAX_TURNS, AgentRunner
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

from amplifier_hooks.frameworks.openai_agents.turn import Board
from amplifier_hooks.frameworks.openai_agents.turns import finish, govern_config, open_turn

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
    result.current_turn, result.max_turns = state._current_turn, state._max_turns
    result._current_turn_persisted_item_count = state._current_turn_persisted_item_count
    reply, settled = state._last_processed_response, None
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
