"""Who may decide: a pure rule over scopes, closed by default."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.errors import NotAllowed
from amplifier_hooks.approvals.models import Decider
from amplifier_hooks.approvals.stores.decisions import refuse_bystander, refuse_unauthorised
from tests.support.stores import make_request, require

SCOPES = ["read", "decide", "admin", "run", "release", "decide:hook=*", "decide:tool=*", "decide:"]


def may(decider: Decider, allows: bool = True, **request: Any) -> bool:
    try:
        refuse_unauthorised(make_request(**request), decider, allows)
    except NotAllowed:
        return False
    return True


@given(st.frozensets(st.sampled_from(SCOPES)), st.booleans())
def test_an_agent_never_decides(scopes: frozenset[str], allows: bool) -> None:
    """Whatever else its credential holds."""
    agent = Decider("agent-1", "api", scopes | {"agent"})
    assert not may(agent, allows)
    with pytest.raises(NotAllowed, match="agents can never decide"):
        refuse_bystander(agent)


@given(st.frozensets(st.sampled_from(SCOPES)))
def test_nobody_decides_without_a_scope_for_it(scopes: frozenset[str]) -> None:
    """Exactly three of these grant it."""
    grants = scopes & {"decide", "decide:hook=*", "decide:tool=*"}
    assert may(Decider("ann", "web", scopes)) is bool(grants)


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        ("decide:hook=production-guard", True),
        ("decide:hook=production-*", True),
        ("decide:hook=Production-guard", False),
        ("decide:hook=production", False),
        ("decide:hook=", False),
        ("decide:tool=Wr?te", True),
        ("decide:tool=Bash", False),
        ("decide:other=*", False),
        ("DECIDE", False),
    ],
)
def test_a_scope_may_be_for_one_hook_or_tool(scope: str, covered: bool) -> None:
    """By a glob that heeds letter case."""
    assert may(Decider("ann", "web", frozenset({scope}))) is covered


@pytest.mark.parametrize("name", ["", "  ", "\t"])
def test_nobody_is_no_decider(name: str) -> None:
    """A name is needed."""
    assert not may(Decider(name, "web"))


@pytest.mark.parametrize("name", ["ann", "ANN", " Ann ", "\uff41nn"])
def test_who_requested_it_cannot_allow_it_under_another_spelling(name: str) -> None:
    """Where that is required; refusing is always possible."""
    facts: dict[str, Any] = {
        "requester": "Ann",
        "requirement": require(requester_may_approve=False),
    }
    assert not may(Decider(name, "web"), **facts)
    assert may(Decider(name, "web"), allows=False, **facts)
    assert may(Decider("bob", "web"), **facts)


def test_a_requirement_may_ask_for_a_further_scope() -> None:
    """Only of who allows."""
    facts: dict[str, Any] = {"requirement": require(scope="release")}
    assert may(Decider("cho", "web", frozenset({"decide", "release"})), **facts)
    assert not may(Decider("ann", "web"), **facts)
    assert may(Decider("ann", "web"), allows=False, **facts)


def test_a_bystander_is_told_so_before_anything_else() -> None:
    """Who has no scope to decide learns nothing about what there is."""
    with pytest.raises(NotAllowed, match="the scope 'decide' is missing"):
        refuse_bystander(Decider("eve", "web", frozenset({"read", "decided", "decide:"})))
    refuse_bystander(Decider("ann", "web", frozenset({"decide:tool=Bash"})))
