"""Saying which hooks will not be called in front of a framework, because it does not tell us."""

from __future__ import annotations

from amplifier_apps.adapters.coverage.coverage import Coverage
from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator

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
    """Show and record each hook that waits for something that this framework does not show."""
    for event in JUDGED:
        if event in coverage.events:
            continue
        listeners = [
            one
            for one in coordinator.hooks.handlers_for(event)
            if one.event == event  # who listens to everything misses nothing in particular
        ]
        for one in listeners:
            text = (
                f"hook '{one.name}' waits for {event}, which {coverage.framework} does not show: "
                f"it will not be called there ({coverage.explain(event, 'deny')})"
            )
            body = {"what": "coverage", "framework": coverage.name, "error": text}
            coordinator.trail.write("error", body, event=event, handler=one)
            await coordinator.show(text, "warning", f"hook:{one.name}")
