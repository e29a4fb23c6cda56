"""The session of ours that stands behind a connection between a client and a server."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import Level
from amplifier_core.mount_plan import read_entry
from amplifier_core.payloads import EndReason
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.assembly import open_session
from amplifier_hooks.agent.session.reload import ChangePolicy
from amplifier_hooks.agent.session.remote_approval import reach_people
from amplifier_hooks.coding_agents.protection import list_protected_files, protect_guard
from amplifier_hooks.external.conversation import EventContext, current_event
from amplifier_hooks.external.plan import TrustedPlan, adapt_to_program, load_trusted_plan
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.guards.mcp.path_guard import register_path_guard
from amplifier_hooks.machine.files import normalize

_RELOAD_EVERY = 2.0
_BY_TURN = frozenset({"hooks-progress-monitor", "hooks-todo-display"})

Say = Callable[[str], None]
"""Tells the person who reads the diagnostics of the gateway."""


class GatewaySession:
    """A session with the hooks of a bundle, and what they add for the client's model."""

    def __init__(self, external: ExternalSession, session: AssembledSession) -> None:
        self.external = external
        self._session = session
        self._waiting: list[str] = []
        self._under_way = 0
        self._checked = time.monotonic()

    @property
    def coordinator(self) -> SessionCoordinator:
        """Of the session behind it."""
        return self.external.coordinator

    def take_texts(self, event: EventContext) -> list[str]:
        """What hooks have injected since the last time, for the model to read with a result."""
        texts = [*self._waiting, *self.external.take_texts(event.texts)]
        self._waiting = []
        return texts

    def keep_texts(self, event: EventContext) -> None:
        """Keep what a result without a place for it cannot carry for the next one that can."""
        self._waiting += event.texts

    @contextlib.asynccontextmanager
    async def judge_one(self) -> AsyncIterator[EventContext]:
        """Collects what hooks add to one request.

        Before the first of several, changed files are used if a person has trusted them.
        """
        event = EventContext(frozenset({"inject"}))
        token = current_event.set(event)
        self._under_way += 1
        try:
            if self._under_way == 1 and time.monotonic() - self._checked > _RELOAD_EVERY:
                self._checked = time.monotonic()
                await self._session.check_files()
            self.coordinator.reset_turn()  # nothing tells where a turn of the agent begins
            yield event
        finally:
            self._under_way -= 1
            current_event.reset(token)

    async def end(self, reason: EndReason) -> None:
        """The connection is over."""
        await self.external.end(reason)


class _Display:
    """Shows messages where a client keeps the diagnostics of its servers."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def show_message(self, message: str, level: Level, source: str = "hook") -> None:
        self._say(message if level == "info" else f"{level}: {message}")


def load_gateway_plan(start: Path, named: str = "") -> tuple[TrustedPlan, Sequence[Path]]:
    """The plan of what governs there, and the files by which agents are guarded.

    Untrusted if no person has allowed exactly that.
    """
    folder = normalize(start)
    guarded = list_protected_files(folder)
    return load_trusted_plan(folder, named, lambda whole: _adapt(whole, guarded)), guarded


def _adapt(whole: dict[str, Any], guarded: Sequence[Path]) -> dict[str, Any]:
    """The plan for a client whose turns nobody sees: it may ask for the same thing often."""
    plan = adapt_to_program(whole, guarded, can_ask=False)
    hooks = [one for one in plan["hooks"] if read_entry("hooks", one).module not in _BY_TURN]
    return {**plan, "hooks": hooks}


async def open_gateway_session(start: Path, named: str, say: Say) -> GatewaySession:
    """Start the session; people are asked through the store, unless the bundle says where."""
    plan, guarded = await asyncio.to_thread(load_gateway_plan, start, named)
    session = await open_session(
        plan.bundle,
        session_id=f"mcp-{uuid.uuid4()}",
        display_system=_Display(say),
        working_dir=plan.folder,
        material=plan.material,
        changes=ChangePolicy(accepts=plan.accepts),
        elsewhere=await reach_people(plan.bundle.mount_plan["approval"], plan.folder),
    )
    external = await ExternalSession.attach(session, "mcp")
    protect_guard(session.coordinator, plan.folder, guarded)
    register_path_guard(session.coordinator, normalize(start), guarded, others=[Path.cwd()])
    return GatewaySession(external, session)
