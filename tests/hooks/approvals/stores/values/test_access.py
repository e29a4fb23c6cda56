"""Scopes and identities."""

from __future__ import annotations

from amplifier_hooks.approvals.stores.approvals.rights import refuse_bystander
from amplifier_hooks.approvals.stores.values.access import AGENT, DECIDE, READ, SCOPES, Identity
from amplifier_hooks.approvals.stores.values.approval import Decider


def test_an_identity_has_no_scope_unless_it_is_given() -> None:
    """Nobody may anything by default."""
    assert Identity("ann").scopes == frozenset()


def test_the_named_scopes_are_the_known_ones() -> None:
    """And the one that decides is what a person has by default who stands at the machine."""
    assert {AGENT, DECIDE, READ} < SCOPES
    refuse_bystander(Decider("ann", "cli"))
