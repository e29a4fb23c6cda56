"""What a report says about a session, and about several."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit import AuditLog, Report, anchor_to_file, create_key, load_verifier
from amplifier_hooks.insight.reports import Evidence, Format, render_report
from amplifier_hooks.insight.reports.document import (
    Bars,
    Chapter,
    Code,
    Folded,
    Heading,
    Link,
    Listing,
    Paragraph,
    Table,
    Timeline,
)
from amplifier_hooks.insight.reports.excerpts import BoundedGroups, BoundedList
from amplifier_hooks.insight.reports.model import (
    Contradiction,
    HookFigures,
    Period,
    Proof,
    SessionFigures,
    check_trail,
)
from amplifier_hooks.insight.reports.sections.actions import (
    describe_actions,
    describe_approvals,
    format_decider,
)
from amplifier_hooks.insight.reports.sections.chapter import (
    SECTIONS,
    describe_session,
    describe_spending,
    describe_summary,
    describe_timeline,
    make_anchor,
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
from amplifier_hooks.insight.reports.sections.report import (
    describe_contradictions,
    describe_overview,
    describe_report,
)
from amplifier_hooks.trails import Note
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import (
    answer,
    ask,
    call,
    decide,
    end,
    event,
    gather,
    note,
    place,
    prompt,
    report_on,
    respond,
    run,
    tell_whole_story,
    write_trail,
)
from tests.support.bodies import make_body


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


@pytest.mark.parametrize(("count", "title"), [(1, "Session 3f0c1a2b"), (2, "2 sessions")])
def test_several_sessions_have_chapters(count: int, title: str) -> None:
    """Behind the overview; one is its own report, and its title is its id."""
    document = describe_report(report_on(*(gather(prompt(n + 1, "a")) for n in range(count))))
    assert document.title == title
    chapters = sum(isinstance(block, Chapter) for block in document.blocks)
    assert chapters == (0 if count == 1 else count)


def test_what_could_not_be_read_and_the_period_are_named() -> None:
    """A reader must know what is not in it."""
    report = report_on()
    report.unreadable.append(("some/trail", "no records"))
    report.empty = 2
    report.period = Period("2026-11-01", "2026-11-02")
    words = read_words(describe_report(report).blocks)
    assert "some/trail: no records" in words
    assert "2 trails had nothing in the chosen time" in words
    assert "from 2026-11-01 on" in words
    assert "before 2026-11-02" in words
    assert "There is nothing to report." in words


def run_session(first: float) -> object:
    denial = answer("guard", "deny", reason="no")
    return gather(
        prompt(first, "go"), call(first + 1, "Bash", {}, denial), end(first + 2), folder="/home/ann"
    )


def test_totals_days_hooks_and_sessions_are_told() -> None:
    """In sentences and tables; which sessions have no chapter is said."""
    report = report_on(*(run_session(n * 10) for n in range(3)), chapters=2)  # type: ignore[arg-type]
    words = read_words(describe_overview(report))
    assert "3 sessions ran on 15 November 2026" in words
    assert "in /home/ann. In 3 turns, agents called tools 3 times: Bash 3." in words
    assert "3\ndenied" in words
    assert "2026-11-15\n3\n3\n3\n0\n0\n0" in words
    assert "guard\n3\n3" in words
    assert "The newest 2 have a chapter below; 1 older one without." in words


def keep(count: int = 1, **more: object) -> BoundedList[Contradiction]:
    kept: BoundedList[Contradiction] = BoundedList(2)
    fields = {
        "time": "2026-11-15T09:00:00Z",
        "turn": 1,
        "session": "s1",
        "hook": "guard",
        "tool": "Bash",
        "id": "c1",
        "about": "rm x",
        "reason": "never",
        "agent": "claude",
        "shown": "result",
        "success": True,
        **more,
    }
    for _ in range(count):
        kept.add(Contradiction(**fields))  # type: ignore[arg-type]
    return kept


def test_each_says_what_who_denied_it_and_who_shows_it() -> None:
    """Nothing is said if there is none."""
    words = read_words(describe_contradictions(keep()))
    assert "1 call that hooks denied ran all the same." in words
    assert "Bash rm x, denied by guard (never): claude reports that it succeeded" in words
    assert "session" not in words.split("\n", 2)[-1]
    assert list(describe_contradictions(keep(0))) == []


def test_of_many_some_are_left_out_and_counted() -> None:
    """With the session, where there are several; one that failed has run as well."""
    kept = keep(5, success=False, hook="", agent="claude")
    words = read_words(describe_contradictions(kept, {"s1": "s1-short"}))
    assert "5 calls that hooks denied ran all the same." in words
    assert "in session s1-short" in words
    assert "denied (never): claude reports that it failed" in words
    assert "3 more" in words


@pytest.mark.parametrize("format", ["md", "html", "json"])
def test_every_format_begins_with_it(format: Format) -> None:
    """Before anything else that a report says."""
    denied = call(2, "Bash", {"command": "rm x"}, answer("guard", "deny", reason="no"))
    body = {"tool": "Bash", "id": "c1", "agent": "claude", "shown": "result", "success": True}
    note = Note(**place(3, "tool:post"), hook="guard", body=make_body("denial_contradicted", body))
    report = report_on(gather(prompt(1, "go"), denied, note))
    text = render_report(report, format)
    first = text.index("contradictions" if format == "json" else "ran all the same")
    assert first < text.index('"made"' if format == "json" else "The session")
    assert first < text.index("guard")
    document = describe_report(report)
    assert "ran all the same" in read_words(document.blocks[1:2])


def test_every_section_can_be_jumped_to() -> None:
    """Each link has its heading, and chapters do not share them."""
    blocks = [*describe_session(tell_whole_story(), 2)]
    links = {
        part.anchor
        for block in blocks
        if isinstance(block, Paragraph)
        for part in block.parts
        if isinstance(part, Link)
    }
    anchors = {block.anchor for block in blocks if isinstance(block, Heading) and block.anchor}
    assert links == anchors == {make_anchor(2, key) for key, _, _ in SECTIONS}


def test_what_went_wrong_comes_early() -> None:
    """Before the sections."""
    words = read_words(describe_session(tell_whole_story("oops"), 1))
    assert words.index("What went wrong (1)") < words.index("\nTime line\ns1-time")


def summarize(session: SessionFigures) -> str:
    return read_words(describe_summary(session))


def test_the_summary_says_who_when_where_and_how_it_ended() -> None:
    """In plain sentences."""
    session = gather(
        prompt(1, "go"),
        respond(2, "claude-sonnet-4", input_tokens=1_000_000),
        run(3, "Bash", {"command": "make"}),
        call(4, "Write", {"file_path": "x"}, answer("guard", "deny", reason="no"), id="c2"),
        end(11),
        folder="/home/ann",
        bundle="shop",
        bundle_file="amplifier.yaml",
    )
    words = summarize(session)
    assert "ran on 15 November 2026 from 09:00:01 to 09:00:11 UTC (10 s) in /home/ann" in words
    assert "with the bundle shop from amplifier.yaml. It ended as planned." in words
    assert "In 1 turn, the agent called tools twice: Bash 1, Write 1." in words
    assert "Of these calls, 1 succeeded and 1 was denied by a hook." in words
    assert "Models used: claude-sonnet-4; 1,000,000 tokens, about $3.00." in words


def test_what_was_denied_asked_and_changed_is_named() -> None:
    """The three things that matter, with their reasons."""
    session = gather(
        call(1, "Bash", {"command": "rm -r /"}, answer("guard", "deny", reason="not here")),
        call(2, "Bash", {"command": "ls"}, answer("tidy", "modify"), id="c2"),
        ask(3),
        decide(4, True),
    )
    words = summarize(session)
    assert "Denied by guard: Bash rm -r /: not here" in words
    assert "Asked by guard: Allow Write? → allowed by ann" in words
    assert "Changed by tidy: Bash ls" in words
    assert "1\nasked\n1 allowed" in words


GO = prompt(1, "go")
FAILING = call(1, "Bash", {}, answer("guard", error="boom"))


@pytest.mark.parametrize(
    ("session", "words"),
    [
        (gather(GO, end(2, "error")), "It ended with an error."),
        (gather(GO, end(2, "odd")), "It ended: odd."),
        (gather(GO), "may still run"),
        # Whoever reads of denials must know that they had no effect.
        (gather(GO, shadow=True), "shadow mode"),
        # Figures of calls are too small.
        (gather(GO, level="decisions"), "decisions alone"),
        # Nobody takes a rule for a person.
        (gather(ask(1), decide(2, False, by="rule:deny")), "refused by the rule deny"),
        # A hook that fails guards nothing.
        (gather(FAILING), "hooks failed once"),
    ],
)
def test_the_summary_says_what_a_reader_must_know(session: SessionFigures, words: str) -> None:
    """The end in words, also one that is not known, and what the figures do not tell."""
    assert words in summarize(session)


def test_a_trail_that_cannot_be_relied_on_is_said_before_everything_else() -> None:
    """Whatever follows may be made up."""
    doubtful, fine = gather(prompt(1, "go")), gather(prompt(1, "go"))
    fine.proof = Proof(Report("consistent", "log", 0, 1))
    assert summarize(doubtful).startswith("The trail could not be verified.")
    assert summarize(fine).startswith("The session")


def test_every_kind_of_thing_has_a_lane() -> None:
    """Turns, models, tools, waits and denials; without anything that takes time, a sentence."""
    (chart,) = describe_timeline(tell_whole_story())
    assert isinstance(chart, Timeline)
    titles = [lane.title for lane in chart.lanes]
    assert titles == ["Turns", "Model", "Tools", "Waiting for people", "Denied"]
    assert all(lane.spans for lane in chart.lanes)
    assert "nothing that takes time" in read_words(describe_timeline(gather()))


def test_models_have_their_tokens_and_their_cost() -> None:
    """The price is a list price, and the report says so; without usage no figure is made up."""
    session = gather(
        prompt(1, "a", turn=1),
        respond(2, "claude-sonnet-4", input_tokens=1_000_000),
        respond(3, "house-model", input_tokens=5),
    )
    words = read_words(describe_spending(session))
    assert "claude-sonnet-4\n1\n1,000,000\n0\n0\n1,000,000\n$3.00" in words
    assert "house-model\n1\n5\n0\n0\n5\nnot known" in words
    assert "not a bill" in words
    assert "For 5 tokens there is no price" in words
    assert "does not say" in read_words(describe_spending(gather()))


def test_turns_are_compared() -> None:
    """If there are several."""
    first = [prompt(1, "a"), respond(2, "local", input_tokens=5)]
    one = gather(*first)
    two = gather(*first, prompt(3, "b"), respond(4, "local", input_tokens=7))
    assert not any(isinstance(block, Bars) for block in describe_spending(one))
    (chart,) = (block for block in describe_spending(two) if isinstance(block, Bars))
    assert [bar.values for bar in chart.bars] == [(5.0,), (7.0,)]
