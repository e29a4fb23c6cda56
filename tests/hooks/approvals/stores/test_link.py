"""The link of an agent: whatever its other end is, it offers the same, and nothing that decides."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from amplifier_hooks.approvals.client import HttpLink
from amplifier_hooks.approvals.link import AgentLink
from amplifier_hooks.approvals.stores.store import EmbeddedLink


def list_methods(kind: Any) -> dict[str, list[str]]:
    return {
        name: list(inspect.signature(value).parameters)
        for name, value in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


@pytest.mark.parametrize("kind", [EmbeddedLink, HttpLink])
def test_every_link_has_what_the_protocol_asks_for(kind: type) -> None:
    """The same names with the same parameters."""
    wanted, offered = list_methods(AgentLink), list_methods(kind)
    assert {name: offered.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("kind", [AgentLink, EmbeddedLink, HttpLink])
def test_no_link_can_decide(kind: type) -> None:
    """An agent that holds one can ask and report."""
    forbidden = ("decide", "vote", "revoke", "add_token", "approve")
    assert not [name for name in dir(kind) if name.startswith(forbidden)]
