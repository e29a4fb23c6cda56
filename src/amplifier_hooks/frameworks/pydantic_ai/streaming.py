"""Text that a caller has read before hooks could judge it."""

from __future__ import annotations

from amplifier_core import events
from amplifier_core.records import ErrorNoted
from amplifier_hooks.external.run import Run


async def tell_change(run: Run, event: str) -> None:
    """Say that a hook changed what has been streamed already; RunRefused says so of a denial."""
    what = "a reply" if event == events.PROVIDER_RESPONSE else "the answer"
    text = (
        f"a hook changed {what} at {event} after it had been streamed: who reads the stream has "
        "what the model wrote; only the messages and the result of the run are changed, and "
        "run_stream has no other result"
    )
    await run.home.run(_tell(run, event, text))


async def _tell(run: Run, event: str, text: str) -> None:
    body = ErrorNoted(what="streaming", framework=run.coverage.name, error=text)
    run.coordinator.trail.write(body, event=event)
    await run.coordinator.show(text, "warning", "session")
