"""Deciding: the same for requests and for sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amplifier_apps.web.callers import Caller
from amplifier_apps.web.wire.bodies import DecisionBody
from amplifier_foundation.stores.errors import NotAllowed
from amplifier_foundation.stores.values.approval import Approval

if TYPE_CHECKING:
    from amplifier_foundation.stores.store import Store


async def decide(store: Store, caller: Caller, id: str, body: DecisionBody) -> Approval:
    """Decide as the person whose credential it is."""
    if not caller.may("decide"):
        raise NotAllowed("This needs a credential with the scope 'decide'.")
    return await store.approvals.decide(id, body.to_choice(), caller.as_decider())
