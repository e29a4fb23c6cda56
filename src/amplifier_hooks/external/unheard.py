"""Saying which hooks will not be called in front of a framework, because it does not tell us."""

from __future__ import annotations

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.coverage.coverage import Coverage

JUDGED = (
    events.PROMPT_SUBMIT,
    events.PROMPT_ANSWER,
    events.PROVIDER_REQUEST,
    events.PROVIDER_RESPONSE,
    events.TOOL_PRE,
    events.TOOL_POST,
)
"""Where hooks decide; of other events they only hear."""


async def tell_unheard(coordinator: SessionCoordinator, coverage: Coverage) -> None:
    """Show and record which hooks wait for something that this framework does not show."""
    reasons = [
        f"{event} ({coverage.explain(event, 'deny')}): {', '.join(names)}"
        for event in JUDGED
        if event not in coverage.events and (names := _list_listeners(coordinator, event))
    ]
    if reasons:
        text = (
            f"{coverage.framework} does not show everything; these hooks will not be called at "
            + "; ".join(reasons)
        )
        coordinator.trail.write("error", {"what": "coverage", "error": text})
        await coordinator.show(text, "warning", "session")


def _list_listeners(coordinator: SessionCoordinator, event: str) -> list[str]:
    """Who waits for exactly this; who listens to everything misses nothing in particular."""
    found = coordinator.hooks.handlers_for(event)
    return list(dict.fromkeys(one.name for one in found if one.event == event))
