"""A proposal has its evidence and its backtest with it."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.insight.rule_suggestions.proposal import Backtest, Proposal, show_call, sum_up
from tests.hooks.insight.rule_suggestions.asked import make_several


def test_evidence_counts_people_sessions_and_days() -> None:
    """With some of the calls, each once."""
    calls = [("Bash", {"command": f"make {at % 4}"}) for at in range(6)]
    support = sum_up(make_several(calls, Path("/p"), remembered=2))
    assert (support.approvals, support.sessions, support.days) == (6, 6, 6)
    assert (support.remembered, support.people) == (12, {"ann": 6})
    assert (support.first[:10], support.last[:10]) == ("2026-11-01", "2026-11-06")
    assert support.examples == ("Bash make 0", "Bash make 1", "Bash make 2")
    assert Proposal({"name": "x"}, support, ()).name == "x"


def test_a_backtest_keeps_a_few_examples() -> None:
    """And the number of all."""
    test = Backtest()
    for at in range(9):
        test.note("ran", f"call {at % 5}")
    assert test.also["ran"].count == 9
    assert test.also["ran"].examples == ["call 0", "call 1", "call 2"]


def test_a_call_is_shown_by_what_it_is_about() -> None:
    """Its command or its file, else all of its input."""
    assert show_call("Bash", {"command": "ls", "timeout": 3}) == "Bash ls"
    assert show_call("Write", {"file_path": "a"}) == "Write a"
    assert show_call("mcp__x", {"n": 1}) == 'mcp__x {"n": 1}'
