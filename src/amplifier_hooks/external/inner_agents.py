"""Agents without hooks that a governed tool call starts, where the framework shows nothing of them.

The ways into a run of such a framework are wrapped, once. Outside of a tool call of a governed run
they do what they did before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from amplifier_hooks.coverage import Coverage
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import inside

Prepare = Callable[[Governor, Any, dict[str, Any]], None]
"""Puts the hooks of a governor in front of a run: of this agent, with these options."""

_WRAPPED = "wrapped_by_amplifier"


def govern_inner_agents(
    kind: type, ways: tuple[str, ...], coverage: Coverage, ready: Prepare
) -> None:
    """From now on, have `ready` called before an agent starts inside a governed tool call.

    `ways` are the methods of the agent's class that start it. What begins in a tool of another
    framework is left to that framework's adapter.
    """
    for name in ways:
        start = getattr(kind, name)
        if not hasattr(start, _WRAPPED):
            setattr(kind, name, _wrap(start, coverage, ready))


def _wrap(start: Any, coverage: Coverage, ready: Prepare) -> Any:
    @wraps(start)
    def begin(agent: Any, *args: Any, **options: Any) -> Any:
        run = inside.get()
        if run is not None and not run.has_ended and run.coverage is coverage:
            assert isinstance(run.governor, Governor)
            ready(run.governor, agent, options)
        return start(agent, *args, **options)

    setattr(begin, _WRAPPED, True)
    return begin
