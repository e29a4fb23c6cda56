"""The runner behind Runner.run, run_sync and run_streamed, for governed agents."""

from __future__ import annotations

from typing import Any

from agents import Agent, RunResult, RunResultStreaming
from agents.run import AgentRunner, get_default_agent_runner, set_default_agent_runner
from agents.run_internal.model_provider_lifecycle import _close_runner_owned_model_provider

from amplifier_apps.adapters.openai_agents.streams import start_stream
from amplifier_apps.adapters.openai_agents.turns import (
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
        return start_stream(self._inner, board, starting_agent, input, options)
