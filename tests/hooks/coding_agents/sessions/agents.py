"""Agents whose events were recorded, with a session of ours behind them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.sessions.open_sessions import open_agent_session
from amplifier_hooks.coding_agents.sessions.session import AgentSession
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import Verdict
from tests.support.trust import trust_project

PAYLOADS = Path(__file__).parents[1] / "dialects" / "payloads"
Data = dict[str, Any]

PLAIN = """
hooks:
  - {module: hooks-redaction, enabled: false}
  - {module: hooks-production-guard, enabled: false}
  - {module: hooks-command-guard, enabled: false}
  - {module: hooks-progress-monitor, enabled: false}
  - {module: hooks-todo-display, enabled: false}
"""
"""A bundle without hooks: a test adds its own."""


def record(agent: str, name: str, **changes: Any) -> Data:
    """What an agent sent at an event, with other values in some places."""
    payload: Data = json.loads((PAYLOADS / agent / f"{name}.json").read_text())
    return {**payload, **changes}


def read(agent: str, name: str, **changes: Any) -> Incoming:
    """The same, read into our terms."""
    text = json.dumps(record(agent, name, **changes))
    return read_payload(DIALECTS[agent], name.split(".")[0], text)


def make_project(folder: Path, bundle: str = PLAIN) -> Path:
    """A folder with a bundle that a person has trusted."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "amplifier.yaml").write_text(f"name: project\n{bundle}")
    trust_project(folder)
    return folder


class Agent:
    """One session of an agent."""

    def __init__(self, name: str, guest: AgentSession) -> None:
        self.name = name
        self.guest = guest

    async def tell(self, event: str, **changes: Any) -> Verdict:
        """Fire a recorded event, in the folder of the session unless it says otherwise."""
        here = str(self.guest.coordinator.get_capability("session.working_dir"))
        return await self.guest.handle(read(self.name, event, **{"cwd": here, **changes}))

    def hook(
        self, event: str, *, name: str = "test", priority: int = 50, **answer: Any
    ) -> list[Data]:
        """Register a hook with that answer; returns the list of what it is told."""
        told: list[Data] = []

        async def run(_: str, data: Data) -> HookResult:
            told.append(data)
            return HookResult(**answer)

        self.guest.coordinator.hooks.register(event, run, 50, name)
        return told


@asynccontextmanager
async def start(
    name: str, folder: Path, session_id: str = "s1", **options: Any
) -> AsyncIterator[Agent]:
    """An agent with a session that is open."""
    guest = await open_agent_session(DIALECTS[name], session_id, folder, **options)
    try:
        yield Agent(name, guest)
    finally:
        await guest.end("complete")
