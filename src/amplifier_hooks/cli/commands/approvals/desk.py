"""Where a person decides from a shell: at a store, or at a server in front of one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from amplifier_core.errors import AmplifierError
from amplifier_hooks.machine.snapshot import read_regular
from amplifier_hooks.machine.user import find_data_home

if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Approval, ApprovalFilter, Choice, StandingRule
    from amplifier_hooks.approvals.stores.store import Store

    # Within a class, `list` is its method.
    Approvals = list[Approval]
    Rules = list[StandingRule]

TOKEN = "AMPLIFIER_TOKEN"
TOKEN_FILE = "AMPLIFIER_TOKEN_FILE"


class NoCredential(AmplifierError):
    """Nobody can tell who is deciding."""


class Desk(Protocol):
    """What a person can do from here."""

    async def get(self, approval_id: str) -> Approval: ...

    async def list(self, wanted: ApprovalFilter) -> tuple[Approvals, str]: ...

    async def decide(self, approval_id: str, choice: Choice) -> Approval: ...

    async def list_rules(self, *, include_ended: bool = False) -> Rules: ...

    async def revoke_rule(self, rule_id: str) -> StandingRule: ...

    def watch(self) -> AsyncIterator[Approval]: ...

    async def close(self) -> None: ...


@asynccontextmanager
async def open_desk(
    store: str | None, server: str | None, token_file: Path | None = None
) -> AsyncIterator[Desk]:
    """The server if one is named, else the store."""
    desk: Desk
    if server is not None:
        from amplifier_hooks.approvals.client import PeopleClient

        desk = PeopleClient(server, read_token(token_file))
    else:
        from amplifier_hooks.approvals.stores.store import open_store

        desk = StoreDesk(await open_store(store))
    try:
        yield desk
    finally:
        await desk.close()


def read_token(file: Path | None = None) -> str:
    """A person's token: from the file that is named, the environment, or the usual file."""
    if file is None and os.environ.get(TOKEN):
        return os.environ[TOKEN]
    named = os.environ.get(TOKEN_FILE)
    path = file or (Path(named) if named else find_data_home() / "amplifier" / "token")
    try:
        return read_regular(path).decode().strip()
    except OSError as error:
        why = error.strerror or error
        raise NoCredential(
            f"No token for the server: set {TOKEN}, or write one to {path} ({why}). "
            "amplifier tokens add NAME --scope read --scope decide makes one"
        ) from error


class StoreDesk:
    """A person at a store; who they are is who runs this process."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, approval_id: str) -> Approval:
        """One approval, as it is now."""
        await self._sweep()
        return await self._store.approvals.get(approval_id)

    async def list(self, wanted: ApprovalFilter) -> tuple[Approvals, str]:
        """Approvals, and where the next ones begin."""
        await self._sweep()
        return await self._store.approvals.list(wanted)

    async def decide(self, approval_id: str, choice: Choice) -> Approval:
        """Decide; Conflict if somebody was first."""
        from amplifier_hooks.approvals.models import Decider
        from amplifier_hooks.machine.user import get_user_name

        person = Decider(get_user_name(), "cli")
        return await self._store.approvals.decide(approval_id, choice, person)

    async def list_rules(self, *, include_ended: bool = False) -> Rules:
        """The standing rules."""
        return await self._store.rules.list(include_ended)

    async def revoke_rule(self, rule_id: str) -> StandingRule:
        """Take a rule back."""
        from amplifier_hooks.machine.user import get_user_name

        return await self._store.rules.revoke(rule_id, get_user_name())

    async def watch(self) -> AsyncIterator[Approval]:
        """Every pending approval, then each one that changes."""
        from amplifier_hooks.approvals.models import ApprovalFilter

        seen: dict[str, Approval] = {}
        async with self._store.listen() as changes:
            while True:
                pending, _ = await self.list(ApprovalFilter(status=("pending",), limit=500))
                for approval in await self._find_news(pending, seen):
                    yield approval
                # A change is a hint; without one, time alone ends a question.
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await anext(changes)

    async def _find_news(self, pending: Approvals, seen: dict[str, Approval]) -> Approvals:
        waiting = {approval.id: approval for approval in pending}
        ended = [await self._store.approvals.get(one) for one in seen if one not in waiting]
        fresh = [
            approval
            for approval in pending
            if approval.id not in seen or approval.votes != seen[approval.id].votes
        ]
        seen.clear()
        seen.update(waiting)
        return [*ended, *fresh]

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()

    async def _sweep(self) -> None:
        """Nobody else may look after this store."""
        await self._store.approvals.expire_overdue()
        await self._store.approvals.mark_lost()
