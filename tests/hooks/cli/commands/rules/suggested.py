"""Suggestions that nobody has to look for."""

from __future__ import annotations

from amplifier_hooks.insight.rule_suggestions import Proposal, Suggestions, Withheld
from amplifier_hooks.insight.rule_suggestions.suggest import Backtest, Support

WITHHELD = Withheld("Bash git push --force", 9, "the command is dangerous")


def make_proposal(name: str) -> Proposal:
    """A rule with its evidence."""
    rule = {
        "name": name,
        "hook": "hooks-rules",
        "tool": "Bash",
        "command": "make test",
        "decision": "allow",
    }
    support = Support(
        approvals=6,
        remembered=2,
        sessions=3,
        days=2,
        people={"ann": 4, "ben\x1b[2J": 2},
        first="2026-11-01T10:00:00Z",
        last="2026-11-09T10:00:00Z",
        examples=("Bash make test",),
        folder="/p",
    )
    test = Backtest(questions=9, saved=6, calls=40)
    return Proposal(rule, support, ("make runs what files say",), test)


def make_suggestions(*names: str, withheld: tuple[Withheld, ...] = ()) -> Suggestions:
    """Rules of these names."""
    proposals = tuple(make_proposal(name) for name in names)
    return Suggestions(proposals, withheld, questions=12, trails=3, since="2026-11-01T09:00:00Z")
