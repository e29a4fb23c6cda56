"""The runner behind Runner.run, run_sync and run_streamed, for governed agents."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, RunContextWrapper, RunResult, RunResultStreaming, RunState
from agents.run import (
    DEFAULT_MAX_TURNS,
    AgentRunner,
    get_default_agent_runner,
    set_default_agent_runner,
)
from agents.run_internal.model_provider_lifecycle import _close_runner_owned_model_provider
from agents.run_internal.run_steps import QueueCompleteSentinel

from amplifier_apps.adapters.openai_agents.turn import Board
from amplifier_apps.adapters.openai_agents.turns import (
    choose_board,
    finish,
    govern_config,
    open_turn,
)

_KEPT = (
    "_event_queue",
    "_input_guardrail_queue",
    "_active_stream_consumers",
    "_stream_consumers_stopped",
    "_waiting_on_event_queue",
    "_cancel_mode",
)
"""What somebody may be using of a stream that has not started yet."""


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
        async with open_turn(board, starting_agent, input) as (turn, given):
            provider = govern_config(options)
            try:
                result = await self._inner.run(starting_agent, given, **options)
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
        result = _make_stream(starting_agent, input, options)
        work = self._stream(result, board, starting_agent, input, options)
        result.run_loop_task = asyncio.create_task(work)
        return result

    async def _stream(
        self,
        result: RunResultStreaming,
        board: Board,
        agent: Agent[Any],
        input: Any,
        options: dict[str, Any],
    ) -> None:
        task: asyncio.Task[Any] | None = None
        try:
            async with open_turn(board, agent, input) as (turn, given):
                provider = govern_config(options)
                try:
                    task = _become(result, self._inner.run_streamed(agent, given, **options))
                    await task
                finally:
                    if provider is not None:
                        await _close_runner_owned_model_provider(provider)
                await finish(turn, result, streamed=True)
        finally:
            if task is None:  # nobody else would tell those who wait for events
                result.is_complete = True
                result._event_queue.put_nowait(QueueCompleteSentinel())


def _make_stream(agent: Agent[Any], given: Any, options: dict[str, Any]) -> RunResultStreaming:
    """A stream that has not started: hooks judge the prompt first, and that takes time."""
    context = options.get("context")
    if not isinstance(context, RunContextWrapper):
        context = RunContextWrapper(context)
    return RunResultStreaming(
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


def _become(result: RunResultStreaming, started: RunResultStreaming) -> asyncio.Task[Any]:
    """Make the result that the caller has be the one that runs: from now on they share all."""
    task = started.run_loop_task
    if task is None:
        raise RuntimeError("the SDK has started no run")
    kept = {name: getattr(result, name) for name in (*_KEPT, "run_loop_task")}
    # It lets go of its agents when it is deleted, and so it must not be before the other one.
    started.__dict__.update(kept, _amplifier_started=started)
    result.__dict__ = started.__dict__
    return task
