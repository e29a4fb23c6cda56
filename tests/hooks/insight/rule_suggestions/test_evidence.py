"""What people said is read from trails: their own word, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.insight.rule_suggestions.drafts import Question, read_evidence
from tests.support.written_trails import WrittenTrail

CALL = {"command": "make"}


def test_each_question_has_what_was_said(tmp_path: Path) -> None:
    """A yes, a no, or nothing: nobody, a rule, or a person who let something else run."""
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        trail.ask("Bash", {"command": "a"})
        trail.ask("Bash", {"command": "b"}, "Deny", by="ben")
        trail.ask("Bash", {"command": "c"}, "")
        trail.ask("Bash", {"command": "d"}, by="rule:x", how="rule")
        trail.ask("Bash", {"command": "e"}, edited=True)
        trail.ask("Bash", {"command": "f"}, "Allow always")
    found = read_evidence([trail.path])
    assert [(one.said, one.by) for one in found.questions] == [
        ("yes", "ann"),
        ("no", "ben"),
        ("nothing", ""),
        ("nothing", ""),
        ("nothing", "ann"),
        ("yes", "ann"),
    ]
    assert [one.remembered for one in found.questions] == [0, 0, 0, 0, 0, 1]
    assert {(one.folder, one.session) for one in found.questions} == {(str(tmp_path), "s1")}
    assert found.trails == [trail.path]
    assert found.since[:2] == "20"


def test_where_another_program_asked_only_what_it_showed_was_said(tmp_path: Path) -> None:
    """It ran: yes; it did not: not run; else nothing. An older "allowed" is none."""
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        for command, state in (("a", "allowed"), ("b", "not_run"), ("c", "")):
            trail.hand_over("Bash", {"command": command}, state)
        trail.ask("Bash", {"command": "d"}, by="rule:handed over to claude", how="rule")
    found = read_evidence([trail.path]).questions
    assert sorted((one.input["command"], one.said, one.by) for one in found) == [
        ("a", "yes", "the prompt of claude"),
        ("b", "not run", "the prompt of claude"),
        ("c", "nothing", ""),
        ("d", "nothing", ""),
    ]


def test_the_same_question_twice_counts_twice(tmp_path: Path) -> None:
    """Each time, a person has said it."""
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        trail.ask("Bash", CALL)
        trail.ask("Bash", CALL, "Deny")
    assert [one.said for one in read_evidence([trail.path]).questions] == ["yes", "no"]


def test_a_trail_that_was_changed_is_no_evidence(tmp_path: Path) -> None:
    """Somebody may have written approvals into it that nobody gave."""
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        trail.ask("Bash", CALL, "Deny")
    for segment in trail.path.glob("*.jsonl"):
        segment.write_bytes(segment.read_bytes().replace(b'"Deny"', b'"Allo"'))
    found = read_evidence([trail.path])
    assert (found.questions, found.trails, found.tampered) == ([], [], [trail.path])


@pytest.mark.parametrize(
    "given",
    [{"command": "curl -H [REDACTED:token]"}, {"command": {"$commitment": "00"}}, "text", None],
)
def test_an_input_with_gaps_is_not_complete(tmp_path: Path, given: object) -> None:
    """What the trail does not have cannot become a rule."""
    with WrittenTrail(tmp_path / "audit", "s1", tmp_path) as trail:
        trail.ask("Bash", given)
    (question,) = read_evidence([trail.path]).questions
    assert not question.complete


def test_a_question_can_be_asked_again() -> None:
    """By its own hook, or by another."""
    question = Question("h", "tool:pre", "Bash", CALL, "2026-11-01T00:00:00Z", "s", "/p")
    assert question.to_question().hook == "h"
    assert question.to_question("other").hook == "other"
    assert question.day == "2026-11-01"
