"""What the sections of a session's chapter say."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit import AuditLog, anchor_to_file, create_key, load_verifier
from amplifier_hooks.insight.reports import Evidence
from amplifier_hooks.insight.reports.document import Bars, Code, Folded, Listing, Table
from amplifier_hooks.insight.reports.excerpts import BoundedGroups
from amplifier_hooks.insight.reports.model import HookFigures, check_trail
from amplifier_hooks.insight.reports.sections.actions import (
    describe_actions,
    describe_approvals,
    format_decider,
)
from amplifier_hooks.insight.reports.sections.hooks import (
    MOST_HOOKS,
    describe_hook_figures,
    describe_hooks,
)
from amplifier_hooks.insight.reports.sections.proof import (
    describe_proof,
    describe_unknown,
    describe_verdict,
)
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import (
    answer,
    ask,
    call,
    decide,
    event,
    gather,
    note,
    prompt,
    respond,
    run,
    write_trail,
)


def test_a_turn_is_told_from_prompt_to_answer() -> None:
    """What was said last is the answer, and is told once."""
    session = gather(
        prompt(1, "fix it"),
        respond(2, "local", "I look."),
        run(3, "Bash", {"command": "make"}, "built"),
        respond(4, "local", "Fixed."),
        event(5, "prompt:answer", {"response": "Fixed."}),
    )
    blocks = [*describe_actions(session)]
    words = read_words(blocks)
    order = [words.index(one) for one in ("fix it", "I look.", "Bash", "built", "Fixed.")]
    assert order == sorted(order)
    assert words.count("Fixed.") == 1
    assert next(one.label for one in blocks if isinstance(one, Listing)) == "Prompt"


def test_a_call_can_be_opened_and_shows_why_it_was_denied() -> None:
    """Input and reason are inside."""
    session = gather(call(1, "Bash", {"command": "rm"}, answer("guard", "deny", reason="no")))
    (folded,) = (one for one in describe_actions(session) if isinstance(one, Folded))
    assert "denied" in read_words([folded])
    assert "Denied by guard: no" in read_words(folded.body)


def test_files_and_commands_are_listed() -> None:
    """With how often, and how they ended."""
    session = gather(
        run(1, "Write", {"file_path": "a.py"}),
        run(2, "Write", {"file_path": "a.py"}),
        run(3, "Bash", {"command": "make"}),
    )
    words = read_words(describe_actions(session))
    assert "Files written\nFile\nHow often\na.py\ntwice" in words
    assert "Commands run" in words


def test_what_was_left_out_is_said() -> None:
    """Between the first turns and the last."""
    session = gather(*(prompt(n / 10, f"prompt {n}", turn=n) for n in range(1, 101)))
    words = read_words(describe_actions(session))
    assert "60 turns are left out here." in words
    assert words.index("prompt 20") < words.index("left out") < words.index("prompt 81")


def test_a_trail_without_turns_says_so() -> None:
    """Nothing is not the same as nothing known."""
    assert "no turn" in read_words(describe_actions(gather()))


def test_a_question_shows_what_would_run_and_who_decided() -> None:
    """With how, when, how long it took, and the comment."""
    session = gather(ask(1), decide(31, True, comment="go on", edited=True))
    words = read_words(describe_approvals(session))
    assert "Allow Write?" in words
    assert "What exactly would run: Write\nfile_path: app.conf" in words
    assert "Decided\n09:00:31, after 30 s" in words
    assert "By\nann" in words
    assert "How\na person decided" in words
    assert "Comment\ngo on" in words
    assert "changed the input" in words
    assert "the agent waited 30 s" in words


def test_expired_and_open_questions_are_told() -> None:
    """Nobody decided."""
    session = gather(ask(1), decide(9, False, stage="expired", how="timeout"), ask(10, digest="d2"))
    words = read_words(describe_approvals(session))
    assert "Expired: nobody decided in time" in words
    assert "No answer in the trail" in words


def test_a_way_of_deciding_that_is_not_known_is_shown() -> None:
    """As the trail has it."""
    assert "How\noracle" in read_words(
        describe_approvals(gather(ask(1), decide(2, True, how="oracle")))
    )


def test_a_rule_that_decided_is_named() -> None:
    """By its name, and as a rule."""
    assert format_decider("rule:deny") == ("the rule ", Code("deny"))
    assert format_decider("ann") == (Code("ann"),)


def test_without_questions_it_says_so() -> None:
    """Nobody was asked."""
    assert read_words(describe_approvals(gather())) == "Nobody was asked."


def test_the_hooks_that_did_most_come_first() -> None:
    """The chart has only those that said something."""
    session = gather(
        call(1, "Bash", {}, answer("quiet"), answer("guard", "deny", reason="no")),
        call(2, "Bash", {}, answer("quiet")),
    )
    blocks = [*describe_hooks(session)]
    (chart,) = (one for one in blocks if isinstance(one, Bars))
    assert [bar.label for bar in chart.bars] == ["guard"]
    table = next(one for one in blocks if isinstance(one, Table))
    rows = [[read_words([cell]) for cell in row] for row in table.rows]  # type: ignore[list-item]
    assert [row[:3] for row in rows] == [["guard", "1", "1"], ["quiet", "2", "–"]]


def test_a_question_is_counted_as_the_person_saw_it() -> None:
    """Once, although the hook is called again after the answer."""
    asking = answer("guard", "ask_user")
    session = gather(
        call(1, "Write", {}, asking),
        ask(1),
        decide(2, True),
        call(3, "Write", {}, asking, again=True),
    )
    (chart,) = (one for one in describe_hooks(session) if isinstance(one, Bars))
    assert chart.bars[0].values == (0.0, 1.0, 0.0, 0.0, 0.0)


def test_a_value_that_a_hook_added_was_nothing_before() -> None:
    """An empty box says less."""
    added = event(1, "tool:post", {}, answer("h", "modify"), left={"note": "new"})
    assert "note, before\n(nothing)\nnote, after\nnew" in read_words(describe_hooks(gather(added)))


def test_a_hook_without_a_figure_has_no_bar() -> None:
    """It asked, and nobody was asked."""
    asking = call(1, "Write", {}, answer("guard", "ask_user"))
    assert not any(isinstance(one, Bars) for one in describe_hooks(gather(asking)))


def test_each_change_shows_what_was_before_and_after() -> None:
    """An older trail does not have it, and the report says so."""
    data = {"tool_result": "key 1234"}
    told = event(1, "tool:post", data, answer("h", "modify"), left={"tool_result": "key ***"})
    older = event(2, "tool:post", data, answer("h", "modify"))
    words = read_words(describe_hooks(gather(told, older)))
    assert "tool_result, before\nkey 1234\ntool_result, after\nkey ***" in words
    assert words.count("not in the trail") == 1


def test_a_trail_with_decisions_alone_explains_its_figures() -> None:
    """Calls that ended in a plain continue are not in it."""
    resolved = note(1, "action_resolved", {"action": "deny"}, hook="guard", event="tool:pre")
    assert "decisions alone" in read_words(describe_hooks(gather(resolved)))


def test_many_hooks_are_told_in_a_page() -> None:
    """And the rest is counted."""
    hooks: BoundedGroups[HookFigures] = BoundedGroups(HookFigures, 100)
    for number in range(MOST_HOOKS + 5):
        hooks.group(f"hook-{number}").counts.calls += 1
    assert "5 hooks are left out here." in read_words(describe_hook_figures(hooks))


pytest.importorskip("cryptography")


def tell(path: Path, evidence: Evidence | None = None, key: str = "") -> str:
    session = gather()
    session.proof, session.key = check_trail(path, evidence or Evidence()), key
    return read_words(describe_proof(session))


def test_a_trail_without_evidence_is_consistent_and_not_more(tmp_path: Path) -> None:
    """Neither signed nor anchored; the command to check it is there."""
    path = write_trail(tmp_path)
    words = tell(path)
    assert "The trail is consistent, not proven." in words
    assert "Not anchored" in words
    assert "The trail is not signed." in words
    assert f"amplifier audit verify {path}" in words
    assert f"python -m amplifier_audit verify {path}" in words


def test_a_signed_and_anchored_trail_is_proven(tmp_path: Path) -> None:
    """The report says how far, and how to check it with the same evidence."""
    signer = create_key(tmp_path / "audit.key")
    anchor = tmp_path / "checkpoints"
    log = AuditLog(tmp_path / "log", name="log", signer=signer, anchors=(anchor_to_file(anchor),))
    log.append("error", {"what": "x"})
    log.close_now()
    evidence = Evidence((str(anchor),), load_verifier(signer.public), signer.public)
    words = tell(tmp_path / "log", evidence, key=signer.public)
    assert "The trail is proven." in words
    assert "agree with a checkpoint that was kept outside of the trail" in words
    assert "are signed with the key" in words
    assert f"--key {signer.public} --anchor {anchor}" in words
    assert "signatures were not checked" in tell(tmp_path / "log", key=signer.public)


def test_a_changed_trail_says_exactly_where(tmp_path: Path) -> None:
    """The record, the file and the byte; the report warns of itself."""
    path = write_trail(tmp_path)
    segment = path / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes().replace(b"rm 0", b"rm 1"))
    words = tell(path)
    assert "do not rely on this report" in words
    assert "at record 3 (00000000.jsonl, byte " in words


def test_what_cannot_be_verified_is_not_called_good(tmp_path: Path) -> None:
    """The verdict has the reason."""
    proof = check_trail(tmp_path / "none", Evidence())
    words = "".join(one if isinstance(one, str) else one.text for one in describe_verdict(proof))
    assert words.startswith("The trail could not be verified.")
    assert "none" in words


def test_what_the_trail_lacks_is_listed_with_the_reason() -> None:
    """Where, why, and how often."""
    session = gather(
        event(1, "tool:pre", {}, missing={"tool_input": "redacted"}, masked=("tool_name",)),
        event(2, "tool:pre", {}, missing={"tool_input": "redacted"}),
        ask(3),
        run(4, "Bash", {})[:2],
    )
    words = read_words(describe_unknown(session))
    assert "2 values are not in the trail (redacted): tool:pre tool_input." in words
    assert "Secrets were masked once, in tool:pre tool_name." in words
    assert "How 1 call ended" in words
    assert "What became of 1 question." in words


def test_records_that_were_left_out_are_counted() -> None:
    """They stand behind the end that was verified."""
    session = gather()
    session.gaps.unverified = 2
    assert "2 records behind the end" in read_words(describe_unknown(session))


def test_trails_that_hold_little_explain_themselves() -> None:
    """Decisions alone, or commitments instead of values."""
    assert "decisions alone" in read_words(describe_unknown(gather(level="decisions")))
    assert "commitments" in read_words(describe_unknown(gather(values="committed")))


def test_many_places_are_counted() -> None:
    """Eight are named."""
    missing = {f"field{number:02}": "redacted" for number in range(20)}
    words = read_words(describe_unknown(gather(event(1, "tool:pre", {}, missing=missing))))
    assert "and 12 other places" in words
