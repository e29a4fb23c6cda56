"""A session that the server runs: one turn at a time, saved so that a restart loses nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_core.events import (
    APPROVAL_REQUIRED,
    ERROR_ORCHESTRATION,
    EXECUTION_COMPLETE,
    PROVIDER_REQUEST,
)
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.remote_approval import Elsewhere
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.modules.conversation import GO_ON

logger = logging.getLogger(__name__)

LAST = 1_000_000
FINISHING_SECONDS = 30.0
UNDER_WAY = "turn_under_way"
"""The key of the session's state that says whether a turn had begun and not ended."""
PROMPTED_BY = "prompted_by"
"""The key for who gave the prompt, and so has requested whatever needs approval."""
_UNDER_WAY = "A turn is under way; wait for its end, or interrupt it"


class HostedSession:
    """One session and the turn that it is in.

    It is saved before each request to the model and each question to a person: what had happened
    by then is known to whoever resumes it.
    """

    def __init__(
        self,
        session: AssembledSession,
        people: Elsewhere,
        saved: SessionStore,
        info: SessionInfo,
    ) -> None:
        self.session = session
        self._people = people
        self._saved = saved
        self._info = info
        self._turn: asyncio.Task[None] | None = None
        self._saving = asyncio.Lock()
        self._announced = asyncio.Event()
        self._leaving = False
        self._ended = False
        self._finishing = False
        self._starting = asyncio.Lock()
        for event in (PROVIDER_REQUEST, APPROVAL_REQUIRED):
            session.coordinator.hooks.register(event, self._on_step, LAST, "hosting-save")
        for end in (EXECUTION_COMPLETE, ERROR_ORCHESTRATION):
            session.coordinator.hooks.register(end, self._on_finish, LAST, "hosting-finish")

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None and not self._turn.done()

    async def start(self, prompt: str, by: str = "") -> None:
        """Begin a turn for a person; Conflict while there is one, and when the session ends."""
        if self.is_busy and not self._finishing:
            raise Conflict(_UNDER_WAY)
        async with self._starting:
            await self._finish_turn()
            if self._ended or self._leaving:
                raise Conflict("The session has ended")
            self._finishing = False
            self._announced.clear()
            if by:
                self.session.coordinator.session_state[PROMPTED_BY] = by
                self._people.speak_for(by)
            self._turn = asyncio.create_task(self._run(prompt))
            await self._announced.wait()

    async def _finish_turn(self) -> None:
        """Wait for a turn that has its reply and only has to be saved; Conflict for any other."""
        if not self.is_busy or self._turn is None:
            return
        if not self._finishing:
            raise Conflict(_UNDER_WAY)
        await asyncio.wait({self._turn}, timeout=FINISHING_SECONDS)
        if self.is_busy:
            raise Conflict(_UNDER_WAY)

    async def interrupt(self) -> None:
        """Stop the turn at once; what was said stays."""
        if self.is_busy:
            await self.session.coordinator.request_cancel(immediate=True)

    def refuse_second_end(self) -> None:
        """Raise Conflict if somebody is ending it already."""
        if self._ended:
            raise Conflict("The session ends already")

    async def end(self) -> None:
        """Stop the turn and end the session for good."""
        self._ended = True
        try:
            async with self._starting:
                await self.interrupt()
                await self._wait()
            await self.session.cleanup()
        finally:
            await asyncio.to_thread(self._delete)

    async def leave(self) -> None:
        """Let go of the session without ending it: its questions stay open, and it is resumed."""
        self._leaving = True
        self._people.leave_open()
        if self._turn is not None:
            self._turn.cancel()
        await self._wait()
        await self.session.cleanup("user_exit")

    async def save(self, *, under_way: bool) -> None:
        """Write what another process needs to go on."""
        if self._leaving:  # what the end of this process does to the conversation is not kept
            return
        async with self._saving:
            self.session.coordinator.session_state[UNDER_WAY] = under_way
            state = await self.session.state()
            info = replace(
                self._info,
                name=str(self.session.coordinator.session_state.get("name") or self._info.name),
                messages=len(state["messages"]),
                tokens=state["stats"].get("total_tokens", 0),
            )
            self._info = await asyncio.to_thread(self._saved.save, info, state)

    async def _run(self, prompt: str) -> None:
        try:
            await self._people.announce_turn()
        finally:
            self._announced.set()
        reply = error = ""
        try:
            reply = await self.session.execute(prompt)
            self._info = replace(self._info, turns=self._info.turns + 1)
        except Exception as failure:  # noqa: BLE001 - whoever asks for the session reads it
            error = describe_error(failure)
            logger.warning("A turn of session %s failed: %s", self._info.id, error)
        try:
            await self.save(under_way=False)
        except (AmplifierError, OSError) as failure:
            error = error or f"It could not be saved: {describe_error(failure)}"
            logger.warning("Session %s could not be saved: %s", self._info.id, error)
        await self._people.announce_end(reply, error)

    async def _on_step(self, event: str, data: Mapping[str, Any]) -> HookResult:
        if data.get("session_id") == self._info.id:
            self._finishing = False
            await self.save(under_way=True)
        return CONTINUE

    async def _on_finish(self, event: str, data: Mapping[str, Any]) -> HookResult:
        if data.get("session_id") == self._info.id:
            self._finishing = True
        return CONTINUE

    def _delete(self) -> None:
        if self._saved.get(self._info.id) is not None:
            self._saved.delete(self._info.id)

    async def _wait(self) -> None:
        if self._turn is not None:
            await asyncio.gather(self._turn, return_exceptions=True)

    async def resume_turn(self) -> None:
        """Go on with the turn that an earlier process was in, if it was."""
        if self.session.coordinator.session_state.pop(UNDER_WAY, False):
            await self.start(GO_ON)
