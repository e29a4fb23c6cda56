"""Scopes and identities."""

from __future__ import annotations

from amplifier_hooks.approvals.models import AGENT, DECIDE, READ, SCOPES, Decider, Identity
from amplifier_hooks.approvals.stores.decisions import refuse_bystander


def test_an_identity_has_no_scope_unless_it_is_given() -> None:
    """Nobody may anything by default."""
    assert Identity("ann").scopes == frozenset()


def test_the_named_scopes_are_the_known_ones() -> None:
    """And the one that decides is what a person has by default who stands at the machine."""
    assert {AGENT, DECIDE, READ} < SCOPES
    refuse_bystander(Decider("ann", "cli"))
