"""Deciding: the same for requests and for sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_hooks.approvals.errors import NotAllowed
from amplifier_hooks.approvals.models import Approval, Choice
from amplifier_hooks.server.callers import Caller

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store


async def decide(store: Store, caller: Caller, id: str, choice: Choice) -> Approval:
    """Decide as the person whose credential it is."""
    if not caller.may("decide"):
        raise NotAllowed("This needs a credential with the scope 'decide'.")
    return await store.approvals.decide(id, choice, caller.as_decider())
