"""Rules are suggested for what people allowed often, and for nothing that anybody refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.insight.rule_checks import StandingGrant
from amplifier_hooks.insight.rule_suggestions import Suggestions, Thresholds, suggest_rules
from amplifier_hooks.insight.rule_suggestions.drafts import Question, Said, read_evidence
from amplifier_hooks.insight.rule_suggestions.suggest import (
    DENIED,
    NOT_ASKED,
    UNANSWERED,
    Backtest,
    Proposal,
    Trial,
    backtest_proposals,
    propose_rules,
    show_call,
    sum_up,
)
from tests.hooks.insight.rule_suggestions.asked import FOLDER, GUARD, make_question, make_several
from tests.support.written_trails import WrittenTrail

RULE = {
    "name": "x",
    "hook": GUARD,
    "tool": "Bash",
    "command": "make test",
    "when": 'tool_input.command == "make test"',
    "decision": "allow",
}


def test_it_allows_what_the_rule_allows_whoever_asked() -> None:
    """A no that another hook got for the same call counts as well."""
    trial = Trial(RULE, Path("/home/ann/project"))
    assert trial.hook == GUARD
    assert trial.allows_question(make_question("Bash", {"command": "make test"}, hook="other"))
    assert not trial.allows_question(make_question("Bash", {"command": "make"}))
    assert not trial.allows_question(
        make_question("Bash", {"command": "make test"}, event="tool:post")
    )
    assert not trial.allows("Bash", {})


def test_a_rule_that_is_no_rule_is_an_error() -> None:
    """Nothing is proposed that could not be loaded."""
    with pytest.raises(ModuleLoadError):
        Trial({**RULE, "when": "no expression ("}, Path("/"))


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


ONE_DAY = Thresholds(approvals=5, sessions=2, days=1)
Call = tuple[str, dict[str, Any], str]


def record(folder: Path, *sessions: list[Call]) -> Suggestions:
    """What sessions suggest in which people were asked about these calls."""
    (folder / "tests").mkdir(parents=True, exist_ok=True)
    trails = []
    for number, calls in enumerate(sessions):
        with WrittenTrail(folder / "audit", f"s{number}", folder) as trail:
            for tool, given, decision in calls:
                trail.ask(tool, given, decision)
        trails.append(trail.path)
    return suggest_rules(trails, ONE_DAY)


def make_calls(*commands: str, decision: str = "Allow once") -> list[Call]:
    """Calls of Bash, all with the same answer."""
    return [("Bash", {"command": one}, decision) for one in commands]


def test_what_people_allowed_often_becomes_a_rule(tmp_path: Path) -> None:
    """With who said so, how often and when, and what it would have saved."""
    found = record(tmp_path, make_calls(*["make test"] * 3), make_calls(*["make test"] * 3, "ls x"))
    (proposal,) = found.proposals
    assert proposal.rule == {
        "name": "make-test",
        "hook": "hooks-production-guard",
        "tool": "Bash",
        "command": "make test",
        "when": 'tool_input.command == "make test" && '
        'tool_input.all(key, key in ["command", "description", "timeout"])',
        "decision": "allow",
    }
    assert (proposal.support.approvals, proposal.support.sessions) == (6, 2)
    assert (proposal.backtest.saved, proposal.backtest.also) == (6, {})
    assert (found.questions, found.trails, found.withheld) == (7, 2, ())


def test_a_standing_rule_that_allows_it_is_named(tmp_path: Path) -> None:
    """So that nobody keeps two rules for one thing without knowing."""
    trails = []
    for session in ("s1", "s2"):
        with WrittenTrail(tmp_path / "audit", session, tmp_path) as trail:
            for _ in range(3):
                trail.ask("Bash", {"command": "make test"})
        trails.append(trail.path)
    grants = [
        StandingGrant("0123456789", "ben", hook, "Bash", "x", input={"command": "make test"})
        for hook in ("hooks-production-guard", "hooks-other")
    ]
    (proposal,) = suggest_rules(trails, ONE_DAY, grants).proposals
    assert proposal.warnings[1:] == ("standing rule 01234567 of ben allows some of it already",)


def test_a_single_no_is_enough(tmp_path: Path) -> None:
    """Whoever said it, and whenever."""
    found = record(
        tmp_path,
        make_calls(*["make test"] * 4),
        [*make_calls(*["make test"] * 4), *make_calls("make test", decision="Deny")],
    )
    assert found.proposals == ()
    assert found.withheld[0].reason.startswith("ann refused it on 20")


def test_a_no_within_a_family_leaves_the_calls_themselves(tmp_path: Path) -> None:
    """The rule gets narrower, instead of letting in what was refused."""
    often = make_calls(*["pytest tests/a.py"] * 5, "pytest tests/b.py", "pytest tests/c.py")
    found = record(tmp_path, often, often, make_calls("pytest tests/d.py", decision="Deny"))
    (proposal,) = found.proposals
    assert 'tool_input.command == "pytest tests/a.py"' in proposal.rule["when"]
    assert found.withheld[0].reason.startswith("ann refused Bash pytest tests/d.py")


def test_a_family_needs_different_files(tmp_path: Path) -> None:
    """Two are not enough to tell what people meant."""
    two = make_calls(*["pytest tests/a.py", "pytest tests/b.py"] * 3)
    assert all("matches" not in one.rule["when"] for one in record(tmp_path, two, two).proposals)
    three = make_calls("pytest tests/a.py", "pytest tests/b.py", "pytest tests/c.py")
    (proposal,) = record(tmp_path / "three", three, three).proposals
    assert "matches" in proposal.rule["when"]


def test_one_session_alone_suggests_nothing(tmp_path: Path) -> None:
    """An agent can ask for the same harmless thing a hundred times in an hour."""
    found = record(tmp_path, make_calls(*["make test"] * 50))
    assert found.proposals == ()
    assert found.withheld[0].reason == "it was in 1 session on 1 day only"


@pytest.mark.parametrize(
    ("sessions", "days", "enough"), [(2, 2, True), (1, 2, False), (2, 1, False)]
)
def test_sessions_and_days_count(sessions: int, days: int, enough: bool) -> None:
    """Five approvals are not enough by themselves."""
    asked: list[Question] = [
        make_question("Bash", {}, session=f"s{at % sessions}", time=f"2026-11-0{at % days + 1}")
        for at in range(5)
    ]
    assert Thresholds().are_met(asked) is enough
    assert not Thresholds().are_met(asked[:4])


def test_dangerous_calls_are_withheld_with_the_reason(tmp_path: Path) -> None:
    """As are secrets, and what rules cannot be narrow about."""
    calls = [
        *make_calls(*["git push --force"] * 3),
        *[("Write", {"file_path": ".env", "content": "x"}, "Allow once")] * 3,
        *make_calls(*["make > log.txt"] * 3),
        *[("mcp__x__go", {"list": [1]}, "Allow once")] * 3,
    ]
    found = record(tmp_path, calls, calls)
    assert found.proposals == ()
    reasons = {one.example: one.reason for one in found.withheld}
    assert "dangerous" in reasons["Bash git push --force"]
    assert "secrets" in reasons["Write .env"]
    assert "writing to a file" in reasons["Bash make > log.txt"]
    assert "no rule can be written" in reasons['mcp__x__go {"list": [1]}']


def test_what_rules_and_nobody_answered_is_no_evidence(tmp_path: Path) -> None:
    """Only a person's own word counts."""
    assert record(tmp_path, *[make_calls(*["make test"] * 5, decision="")] * 2).proposals == ()


NAMES = st.sampled_from(["a", "b", "c", "token", "../g"])
COMMANDS = st.one_of(
    st.sampled_from(["make test", "git push --force", "cat .env", "make > x", "curl x | sh", "ls"]),
    NAMES.map(lambda name: f"pytest tests/{name}.py"),
    NAMES.map(lambda name: f"make {name}"),
).map(lambda command: ("Bash", {"command": command}))
EDITS = st.tuples(st.sampled_from(["conf", "conf/x", ".github"]), NAMES).map(
    lambda place: ("Write", {"file_path": f"{place[0]}/{place[1]}.yaml", "content": "x"})
)
ASKED = st.lists(
    st.tuples(
        st.one_of(COMMANDS, EDITS),
        st.sampled_from(["yes"] * 8 + ["no", "nothing"]),
        st.sampled_from(["hooks-a", "hooks-b"]),
    ),
    min_size=6,
    max_size=25,
)
FORBIDDEN: list[tuple[str, dict[str, Any]]] = [
    ("Bash", {"command": "git push --force"}),
    ("Bash", {"command": "cat .env"}),
    ("Bash", {"command": "curl x | sh"}),
    ("Bash", {"command": "pytest tests/token.py"}),
    ("Write", {"file_path": "conf/token.yaml", "content": "y"}),
]


@given(ASKED)
@settings(max_examples=12)
def test_no_rule_allows_what_somebody_refused(asked: list[tuple[Any, Said, str]]) -> None:
    """Nor what is dangerous, nor with less evidence than was asked for, whatever the answers."""
    needed = Thresholds(approvals=2, sessions=1, days=1)
    questions = [
        make_question(tool, given, said=said, hook=hook) for (tool, given), said, hook in asked
    ]
    proposals, _ = propose_rules(questions, needed)
    for proposal in proposals:
        trial = Trial(proposal.rule, Path(FOLDER))
        covered = [one for one in questions if trial.allows_question(one)]
        assert all(one.said != "no" for one in covered)
        own = [one for one in covered if one.said == "yes" and one.hook == trial.hook]
        assert len(own) >= proposal.support.approvals >= needed.approvals
        assert not any(trial.allows(tool, given) for tool, given in FORBIDDEN)
