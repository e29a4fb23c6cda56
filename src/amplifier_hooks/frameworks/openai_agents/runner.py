"""The runner behind Runner.run, run_sync and run_streamed, for governed agents."""

from __future__ import annotations

from functools import partial
from typing import Any

from agents import Agent, RunResult, RunResultStreaming
from agents.exceptions import _await_data_redacted_error_boundary
from agents.run import AgentRunner, get_default_agent_runner, set_default_agent_runner
from agents.run_internal.model_provider_lifecycle import _close_runner_owned_model_provider

from amplifier_hooks.frameworks.openai_agents.streams import start_stream
from amplifier_hooks.frameworks.openai_agents.turn import Board
from amplifier_hooks.frameworks.openai_agents.turns import (
    choose_board,
    finish,
    govern_config,
    open_turn,
)


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
