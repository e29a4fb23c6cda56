"""Agents without hooks that a tool of a governed agent starts: they get the hooks of its run.

Strands shows nothing of an agent that a tool makes, so the ways into a run are wrapped, once.
Outside of a tool call of a governed run it does what it did before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from strands import Agent

from amplifier_hooks.coverage import STRANDS
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import inside

Attach = Callable[[Governor, Agent], None]
"""Puts the hooks of a governor in front of an agent, unless some are there."""


WAYS = ("stream_async", "structured_output_async")
"""All others of an agent lead to one of these."""


def govern_inner_agents(attach: Attach) -> None:
    """From now on, have an agent that starts inside a governed tool call begin with its hooks."""
    if not hasattr(Agent.stream_async, "wrapped_by_amplifier"):
        for name in WAYS:
            setattr(Agent, name, _wrap(getattr(Agent, name), attach))


def _wrap(start: Any, attach: Attach) -> Any:
    @wraps(start)
    def begin(self: Agent, *args: Any, **options: Any) -> Any:
        run = inside.get()
        # What begins in a tool of another framework is that framework's adapter's.
        if run is not None and not run.has_ended and run.coverage is STRANDS:
            assert isinstance(run.governor, Governor)
            attach(run.governor, self)
        return start(self, *args, **options)

    begin.wrapped_by_amplifier = True  # type: ignore[attr-defined]
    return begin
