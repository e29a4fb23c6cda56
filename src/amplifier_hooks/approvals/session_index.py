"""The entry of a session in the index: what it is, what it does now, and its conversation."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from amplifier_core import events
from amplifier_core.interfaces import Host
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.utils import describe_error
from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.approvals.link import AgentLink
from amplifier_hooks.approvals.models import SessionEntry, SessionStatus
from amplifier_hooks.modules.registration import Removal, subscribe

logger = logging.getLogger(__name__)

NAME = "reporting"
LAST = 1_000_000
# Seconds between signs of life; a server that hears of none for longer calls a session lost.
HEARTBEAT = 20.0
GRACE = 3.0
LONGEST_REPLY = 8_000
OVER = ("ended", "failed")

Messages = Sequence[Mapping[str, Any]]
ReadMessages = Callable[[], Awaitable[Messages]]


class SessionIndex:
    """Keeps the entries of a session and its sub-agents up to date, beside the agent."""

    def __init__(
        self, links: Sequence[AgentLink], entry: SessionEntry, read_messages: ReadMessages
    ) -> None:
        self._links = tuple(links)
        self._root = entry.id
        self._entries = {entry.id: entry}
        self.after_turn: Callable[[], None] = lambda: None
        self._read_messages = read_messages
        self._questions: list[tuple[Any, ...]] = []
        self._news: dict[str, Messages | None] = {}
        self._woken = asyncio.Event()
        self._stopped = False
        self._saving = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def attach(self, host: Host) -> Removal:
        """Follow a session from its start."""
        handlers = {
            events.SESSION_START: self._on_start,
            events.EXECUTION_START: self._on_turn,
            events.EXECUTION_COMPLETE: self._on_complete,
            events.APPROVAL_REQUIRED: self._on_question,
            events.APPROVAL_GRANTED: self._on_answer,
            events.APPROVAL_DENIED: self._on_answer,
            events.ERROR_ORCHESTRATION: self._on_error,
            events.SESSION_END: self._on_end,
        }
        self._host = host
        return subscribe(host, NAME, LAST, list(handlers.items()))

    async def announce_turn(self) -> None:
        """Say now that a turn begins; who asks about it afterwards does not find it idle."""
        self._note({}, status="running", error="")
        await self._save_news()

    async def announce_end(self, reply: str = "", error: str = "") -> None:
        """Say now that a turn is over, also one that never reached the loop."""
        shown = {"reply": reply, "error": error}
        texts = {key: str(self._host.scrub(one))[:LONGEST_REPLY] for key, one in shown.items()}
        self._note({}, status="idle", **texts)
        await self._save_news()

    def stop(self) -> None:
        """Leave the entries as they are: another process goes on with the session."""
        self._stopped = True
        self._news.clear()

    async def close(self, grace: float = GRACE) -> None:
        """Save what is not saved yet, for no longer than `grace` seconds."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        try:
            async with asyncio.timeout(grace):
                await self._save_news()
        except TimeoutError:
            logger.warning("The end of the session is not in the index: it takes too long")

    # Events

    async def _on_start(self, event: str, data: dict[str, Any]) -> HookResult:
        return self._note(data, status="idle")

    async def _on_turn(self, event: str, data: dict[str, Any]) -> HookResult:
        return self._note(data, status="running", error="")

    async def _on_complete(self, event: str, data: dict[str, Any]) -> HookResult:
        turns = self._find(data).turns + 1
        reply = str(self._host.scrub(data.get("response") or ""))[:LONGEST_REPLY]
        self._note(data, status="idle", turns=turns, reply=reply)
        self.after_turn()
        return await self._note_messages(data)

    async def _on_error(self, event: str, data: dict[str, Any]) -> HookResult:
        why = str(self._host.scrub((data.get("error") or {}).get("message") or "it failed"))
        return self._note(data, status="idle", error=why[:LONGEST_REPLY])

    async def _on_question(self, event: str, data: dict[str, Any]) -> HookResult:
        self._questions.append(_identify(data))
        self._note_waiting(data)
        return await self._note_messages({})

    async def _on_answer(self, event: str, data: dict[str, Any]) -> HookResult:
        with suppress(ValueError):  # what a person remembered was not asked
            self._questions.remove(_identify(data))
        self._note_waiting(data)
        return CONTINUE

    def _note_waiting(self, data: Mapping[str, Any]) -> None:
        """A session waits while one of its questions is open, or one of a sub-agent's."""
        session = self._find(data).id
        is_open = any(one[0] == session for one in self._questions)
        self._note(data, status="waiting" if is_open else "running")
        if session != self._root:
            self._note({}, status="waiting" if self._questions else "running")

    async def _on_end(self, event: str, data: dict[str, Any]) -> HookResult:
        reason = str(data.get("reason"))
        failed = reason in ("error", "timeout")
        return self._note(
            data, status="failed" if failed else "ended", error=reason if failed else ""
        )

    # Entries

    def _find(self, data: Mapping[str, Any]) -> SessionEntry:
        session_id = str(data.get("session_id") or self._root)
        root = self._entries[self._root]
        if session_id not in self._entries:
            own = {"id": session_id, "parent_id": self._root, "name": "", "turns": 0, "reply": ""}
            self._entries[session_id] = root.model_copy(update={**own, "created": time.time()})
        return self._entries[session_id]

    def _note(
        self, data: Mapping[str, Any], *, status: SessionStatus, **changes: Any
    ) -> HookResult:
        if self._stopped:
            return CONTINUE
        entry = self._find(data).model_copy(update={"status": status, **changes})
        if entry.id == self._root:
            name = str(self._host.session_state.get("name") or entry.name)
            entry = entry.model_copy(update={"name": name})
        self._entries[entry.id] = entry
        self._news.setdefault(entry.id, None)
        self._wake()
        return CONTINUE

    async def _note_messages(self, data: Mapping[str, Any]) -> HookResult:
        if not self._stopped and str(data.get("session_id") or self._root) == self._root:
            self._news[self._root] = self._host.scrub(list(await self._read_messages()))
            self._wake()
        return CONTINUE

    # Saving

    def _wake(self) -> None:
        self._woken.set()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            await self._save_news()
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await self._woken.wait()
            except TimeoutError:
                alive = (one for one in self._entries.values() if one.status not in OVER)
                self._news = {**dict.fromkeys((one.id for one in alive), None), **self._news}

    async def _save_news(self) -> None:
        """Save what is new; what cannot be saved now is tried again with the next sign of life."""
        async with self._saving:
            await self._save_all()

    async def _save_all(self) -> None:
        while self._news:
            session_id, messages = next(iter(self._news.items()))
            entry = self._entries[session_id]
            saved = [await self._save(link, entry, messages) for link in self._links]
            if not all(saved):
                return
            if self._entries[session_id] is entry and self._news[session_id] is messages:
                del self._news[session_id]

    async def _save(self, link: AgentLink, entry: SessionEntry, messages: Messages | None) -> bool:
        try:
            await link.save_session(entry, messages)
        except StoreError as error:
            logger.debug("The session is not in the index yet: %s", describe_error(error))
            return False
        return True


def _identify(data: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(data.get(key) for key in ("session_id", "hook", "prompt", "digest"))
