"""What is probably wrong with hooks that load: one may never run, or runs twice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amplifier_core.event_names import find_problem

if TYPE_CHECKING:
    from amplifier_hooks.agent.session.inspection.effective_hooks import EffectiveHooks

_MOST_TRAILS = 20


async def list_shortcomings(found: EffectiveHooks) -> list[str]:
    """A sentence for each, for people."""
    return [*found.list_advice(), *await _list_waiting(found)]


async def _list_waiting(found: EffectiveHooks) -> list[str]:
    """Hooks that wait for an event nobody is known to emit."""
    undeclared = await found.find_undeclared()
    if not undeclared:
        return []
    heard = found.registry.list_handlers()
    others = {hook for event, hooks in heard.items() if event not in undeclared for hook in hooks}
    alone = {event: set(hooks) - others for event, hooks in undeclared.items()}
    emitted = await asyncio.to_thread(_find_emitted, alone)
    return [
        _explain(event, ", ".join(hooks))
        for event, hooks in sorted(undeclared.items())
        if event not in emitted
    ]


def _explain(event: str, hooks: str) -> str:
    if problem := find_problem(event):
        return f"{hooks} may never run: {problem}"
    return f"{event}: nobody has declared or emitted it; {hooks} may never run"


def _find_emitted(events: dict[str, set[str]]) -> set[str]:
    """In the newest trails of this folder."""
    from amplifier_hooks.agent.session.inspection.trails import select_trails
    from amplifier_hooks.trails.reading import find_emitted

    return find_emitted(events, reversed(select_trails()[-_MOST_TRAILS:]))


def print_shortcomings(shortcomings: list[str]) -> None:
    """Below a list of hooks; nothing where there is none."""
    from amplifier_hooks.cli.text.output import print_line, print_wrapped
    from amplifier_hooks.text.escape import escape

    if shortcomings:
        print_line("")
    for one in shortcomings:
        print_wrapped(0, ("warn", "! "), escape(one))
