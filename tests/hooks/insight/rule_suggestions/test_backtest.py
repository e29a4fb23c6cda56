"""What a rule would have done is told by running it on everything that was recorded."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.insight.rule_suggestions.backtest import (
    DENIED,
    NOT_ASKED,
    UNANSWERED,
    backtest_proposals,
)
from amplifier_hooks.insight.rule_suggestions.evidence import read_evidence
from amplifier_hooks.insight.rule_suggestions.proposal import Proposal, sum_up
from tests.hooks.insight.rule_suggestions.asked import GUARD
from tests.support.written_trails import WrittenTrail


def write(name: str) -> dict[str, str]:
    """The input of a call of Write."""
    return {"file_path": f"conf/{name}", "content": "x"}


def test_saved_questions_and_everything_that_would_get_in_are_counted(tmp_path: Path) -> None:
    """Also calls that nobody was asked about, that hooks denied, that nobody answered."""
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        trail.ask("Write", write("a.yaml"))
        trail.ask("Write", write("b.yaml"), "")
        trail.ask("Write", write("c.txt"))
        trail.ask("Write", write("d.yaml"), hook="hooks-other")
        trail.call("Write", write("e.yaml"))
        trail.call("Write", write("f.yaml"), action="deny")
        trail.call("Write", write("g.txt"))
        trail.dispatch("tool:pre", {"tool_name": "Write", "tool_input": "broken"})
        trail.dispatch("tool:post", {"tool_name": "Write", "tool_input": write("h.yaml")})
    rule = {
        "name": "x",
        "hook": GUARD,
        "tool": "Write",
        "path": f"{tmp_path}/conf/*.yaml",
        "decision": "allow",
    }
    questions = read_evidence([trail.path]).questions
    proposal = Proposal(rule, sum_up(questions[:1]), ())
    backtest_proposals([proposal], questions, [trail.path])
    test = proposal.backtest
    assert (test.questions, test.saved, test.calls) == (3, 2, 7)
    assert {what: (one.count, one.examples) for what, one in test.also.items()} == {
        UNANSWERED: (1, ["Write conf/b.yaml"]),
        NOT_ASKED: (2, ["Write conf/d.yaml", "Write conf/e.yaml"]),
        DENIED: (1, ["Write conf/f.yaml"]),
    }


def test_without_proposals_no_trail_is_read() -> None:
    """There would be nothing to say."""
    backtest_proposals([], [], [Path("/nowhere")])
