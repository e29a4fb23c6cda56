"""People elsewhere: the links to them that a bundle names, and what a session does with those."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from amplifier_core.approval import AnyApprovalSystem
from amplifier_core.mount_plan import list_ways
from amplifier_core.trail import AuditSink
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.approvals.link import AgentLink
from amplifier_hooks.approvals.models import Approval, Requirement, SessionEntry
from amplifier_hooks.approvals.policy import PolicyApproval
from amplifier_hooks.approvals.remote import Patience, RemoteApproval, WaitingList
from amplifier_hooks.approvals.reporting import Claims, Publisher, ReportingSink
from amplifier_hooks.approvals.request import Asker
from amplifier_hooks.approvals.session_index import SessionIndex
from amplifier_hooks.approvals.several import SeveralApprovals
from amplifier_hooks.machine.locations import get_user_name

REPORTED = "reported_records"
# A process that was killed did not save how far it had come; numbers must not be used twice.
_GAP = 1_000


class Elsewhere:
    """The people whom a session asks elsewhere, and to whom it reports."""

    def __init__(
        self,
        section: Mapping[str, Any],
        links: list[AgentLink],
        folder: Path,
        *,
        hosted: bool = False,
        user: str = "",
        self_test: bool = False,
    ) -> None:
        requirement = Requirement(
            persons=section.get("persons", 1),
            requester_may_approve=section.get("requester_may_approve", True),
            scope=section.get("scope", ""),
        )
        person = user or get_user_name()
        self._asker = Asker(platform.node(), person, folder.absolute(), requirement)
        self._ways = list_ways(section)
        self._links = links
        self._hosted = hosted
        # Questions of a self-test are put, to see that they can be; nothing else of it is told.
        self._publishes = not self_test
        self._remotes = [RemoteApproval(link, self._asker) for link in links]
        self._waiting = WaitingList()
        self._several: list[SeveralApprovals] = []
        self._sink: ReportingSink | None = None
        self._index: SessionIndex | None = None
        self.on_waiting: Callable[[Approval], None] = lambda approval: None
        """Hears of each question that waits for a person now, where it was asked."""

    def speak_for(self, user: str) -> None:
        """Ask on behalf of that person from here on: who started it may be barred from allowing."""
        self._asker = replace(self._asker, user=user)
        for remote in self._remotes:
            remote.asker = self._asker

    def wait_briefly(self, patience: Patience) -> None:
        """Where nobody sits in front of the agent: refuse soon, and leave the question open."""
        for remote in self._remotes:
            remote.patience = patience

    def place(self, system: AnyApprovalSystem | None) -> AnyApprovalSystem | None:
        """The approval system with these people in it: behind a policy, beside the terminal."""
        if isinstance(system, PolicyApproval):
            system.refer(self._join)
            return system
        return self._join(system)

    def _join(self, here: AnyApprovalSystem | None) -> AnyApprovalSystem:
        beside = here if "terminal" in self._ways else None
        if beside is None and len(self._remotes) == 1:
            return self._remotes[0]
        several = SeveralApprovals(beside, self._remotes)
        self._several.append(several)
        return several

    def report(self, sink: AuditSink | None, resume: Mapping[str, Any] | None) -> AuditSink:
        """The sink that claims and publishes what goes to the session's own."""
        before = ((resume or {}).get("session_state") or {}).get(REPORTED)
        first = before + _GAP + 1 if isinstance(before, int) else 1 + _GAP * bool(resume)
        publishers = [Publisher(link) for link in self._links if self._publishes]
        self._sink = ReportingSink(sink, Claims(self._remotes), publishers, numbered_from=first)
        return self._sink

    def attach(self, session: AssembledSession, bundle: Bundle) -> None:
        """Follow a session, speak to its person, and mask what it masks."""
        coordinator = session.coordinator

        async def tell(text: str) -> None:
            await coordinator.show(text, "info", "approval")

        for remote in self._remotes:
            remote.scrub = coordinator.scrub
            remote.tell = tell
            remote.on_waiting = self._note_waiting
        coordinator.register_capability("approval.find", self._waiting.find)
        for several in self._several:
            several.tell = tell
        if self._publishes:
            self._index_session(session, bundle)

    def _note_waiting(self, approval: Approval) -> None:
        self._waiting.add(approval)
        self.on_waiting(approval)

    def _index_session(self, session: AssembledSession, bundle: Bundle) -> None:
        entry = SessionEntry(
            id=session.session_id,
            machine=self._asker.machine,
            user=self._asker.user,
            bundle=bundle.name,
            working_dir=str(self._asker.folder),
            created=time.time(),
            hosted=self._hosted,
        )
        self._index = SessionIndex(self._links, entry, session.read_messages)
        self._index.attach(session.coordinator)
        self._index.after_turn = partial(self._note_number, session.coordinator.session_state)

    def _note_number(self, state: dict[str, Any]) -> None:
        if self._sink is not None:
            state[REPORTED] = self._sink.last_number

    async def announce_turn(self) -> None:
        """Tell people there that a turn begins, before it does."""
        if self._index is not None:
            await self._index.announce_turn()

    async def announce_end(self, reply: str = "", error: str = "") -> None:
        """Tell people there that a turn is over, and how it ended."""
        if self._index is not None:
            await self._index.announce_end(reply, error)

    def leave_open(self) -> None:
        """Withdraw nothing and end nothing there: another process goes on with the session."""
        for remote in self._remotes:
            remote.leaves_open = True
        if self._index is not None:
            self._index.stop()

    async def close(self) -> None:
        """Close questions that are open, send what is left, and end the links."""
        closing = [remote.close() for remote in self._remotes]
        closing += [one.close() for one in (self._index, self._sink) if one is not None]
        await asyncio.gather(*closing, return_exceptions=True)  # one that hangs holds up no other
        for link in self._links:
            await link.close()


async def reach_people(
    section: Mapping[str, Any], folder: Path, *, self_test: bool = False
) -> Elsewhere | None:
    """Open the links that `approval` names; None if people are asked at the terminal only."""
    links: list[AgentLink] = []
    for way in list_ways(section):
        if way == "store":
            links.append(await _open_embedded(section.get("store")))
        elif way == "server":
            links.append(_connect(str(section["server"]), str(section["token"])))
    return Elsewhere(section, links, folder, self_test=self_test) if links else None


async def _open_embedded(url: str | None) -> AgentLink:
    # A session that asks at the terminal does not pay for a database.
    from amplifier_hooks.approvals.stores.store import open_store

    store = await open_store(url)
    await store.approvals.mark_lost()  # what an earlier process left behind
    return store.as_link(owned=True)


def _connect(server: str, token: str) -> AgentLink:
    from amplifier_hooks.approvals.client import HttpLink

    return HttpLink(server, token)
