"""Agents without the capability that a tool of a governed run starts: they get its hooks.

Pydantic AI has no switch for all agents, so the one way into a run is wrapped, once. Outside of a
tool call of a governed run it does what it did before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from pydantic_ai import Agent

from amplifier_hooks.coverage import PYDANTIC_AI
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import inside

MakeHooks = Callable[[Governor], Any]
"""Makes the capability that puts the hooks of a governor in front of a run."""


def govern_inner_agents(make: MakeHooks) -> None:
    """From now on, have a run that starts inside a governed tool call begin with its hooks."""
    start: Any = Agent.iter
    if hasattr(start, "wrapped_by_amplifier"):
        return

    @wraps(start)
    def iterate(self: Any, *args: Any, capabilities: Any = None, **options: Any) -> Any:
        run = inside.get()
        # What begins in a tool of another framework is that framework's adapter's.
        if run is None or run.has_ended or run.coverage is not PYDANTIC_AI:
            return start(self, *args, capabilities=capabilities, **options)
        governor = run.governor
        assert isinstance(governor, Governor)
        # Where the agent has the same hooks, one of the two rests.
        both = [*(capabilities or ()), make(governor)]
        return start(self, *args, capabilities=both, **options)

    iterate.wrapped_by_amplifier = True  # type: ignore[attr-defined]
    Agent.iter = iterate  # type: ignore[method-assign,assignment]
