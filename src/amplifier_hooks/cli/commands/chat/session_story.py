"""/audit: what happened in this session, told from its trail."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from amplifier_audit.errors import AuditError
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.cli.commands.agent import Agent
from amplifier_hooks.cli.commands.audit.page import Page
from amplifier_hooks.cli.commands.audit.story import Entry, Story

MOST_ENTRIES = 200
MOST_SECONDS = 5.0


async def tell_story(agent: Agent) -> None:
    """Print the story of the session, the last entries of a long one."""
    options = agent.session.config.get("audit") or {}
    if not options.get("enabled"):
        agent.notify("This bundle keeps no trail: `audit: {enabled: true}` would.", "warning")
        return
    with suppress(AuditError, TimeoutError):  # then the trail tells what it has
        async with asyncio.timeout(MOST_SECONDS):
            await agent.session.coordinator.trail.sink.commit()  # of what was just said, too
    log = locate_trail(options, agent.session.session_id)
    entries = await asyncio.to_thread(_read_story, log)
    page = Page()
    for entry in entries[-MOST_ENTRIES:]:
        page.print_entry(entry)
    if len(entries) > MOST_ENTRIES:
        agent.notify(f"{len(entries) - MOST_ENTRIES} earlier entries: amplifier audit show")


def _read_story(log: Path) -> list[Entry]:
    from amplifier_audit import read_records
    from amplifier_audit.log_directory import open_readable

    story = Story()
    return [entry for record in read_records(open_readable(log)) for entry in story.tell(record)]
