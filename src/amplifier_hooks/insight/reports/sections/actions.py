"""Actions of the agent, turn by turn, with who approved them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from amplifier_hooks.insight.reports.document import (
    Block,
    Card,
    Code,
    Column,
    Facts,
    Folded,
    Heading,
    Inline,
    Listing,
    Marked,
    Paragraph,
    Parts,
    Quoted,
    Table,
    Tone,
    describe_left_out,
    format_clock,
    format_count,
    format_milliseconds,
    format_seconds,
    format_times,
)
from amplifier_hooks.insight.reports.model import (
    AgentText,
    Call,
    Outcome,
    Question,
    SessionFigures,
    Turn,
)

_OUTCOME_TONES: dict[Outcome, Tone] = {
    "done": "good",
    "failed": "warn",
    "denied": "bad",
    "refused": "bad",
    "stopped": "warn",
    "unknown": "warn",
    "running": "warn",
    "not run": "dim",
    "not started": "dim",
}
_OUTCOME_WORDS = {
    "refused": "not approved",
    "unknown": "outcome unknown",
    "running": "outcome unknown",
    "not run": "did not run",
}
_MOST_FILES = 40


def describe_actions(session: SessionFigures) -> Iterator[Block]:
    """The turns, and then files and commands."""
    for turn in session.turns.first:
        yield from _describe_turn(turn)
    if session.turns.left_out:
        yield Paragraph(tuple(describe_left_out(session.turns.left_out, "turn")), "dim")
    for turn in session.turns.last:
        yield from _describe_turn(turn)
    if not session.turns.count:
        yield Paragraph(("The trail tells of no turn.",))
    yield from _describe_files(session)
    yield from _describe_commands(session)


def _describe_turn(turn: Turn) -> Iterator[Block]:
    who = f" of the sub-agent {turn.agent}" if turn.agent else ""
    name = f"Turn {turn.number}" if turn.prompt else f"Outside of a turn (turn {turn.number})"
    yield Heading(4, f"{name}{who}, {format_clock(turn.started)}")
    if turn.prompt:
        yield Listing("Prompt", turn.prompt)
    first = turn.steps.first
    last = turn.steps.last
    yield from (_describe_step(step) for step in (first if last else _drop_answer(first, turn)))
    if turn.steps.left_out:
        yield Paragraph(tuple(describe_left_out(turn.steps.left_out, "step")), "dim")
    yield from (_describe_step(step) for step in _drop_answer(last, turn))
    if turn.answer:
        label = "Answer, which a hook withheld" if turn.status == "withheld" else "Answer"
        yield Listing(label, turn.answer)
    if turn.status and turn.status != "withheld":
        yield Paragraph(("The turn ended early: ", Quoted(turn.status), "."), "warn")


def _drop_answer(steps: list[Call | AgentText], turn: Turn) -> list[Call | AgentText]:
    """The steps without the answer, which is shown by itself."""
    if (
        steps
        and isinstance(last := steps[-1], AgentText)
        and last.text.text == turn.answer.text.strip()
    ):
        return steps[:-1]
    return steps


def _describe_step(step: Call | AgentText) -> Block:
    if isinstance(step, AgentText):
        return Listing(f"Said, {format_clock(step.time)}", step.text)
    return Folded(tuple(_summarize_call(step)), tuple(_describe_call(step)))


def _summarize_call(call: Call) -> Iterator[Inline]:
    yield from (Marked(format_clock(call.time), "dim"), " ", Marked(call.tool or "?"))
    if call.about:
        yield from (" ", Code(call.about))
    took = format_milliseconds(call.ms)
    word = _OUTCOME_WORDS.get(call.outcome, call.outcome)
    yield from (" ", Marked(word + (f", {took}" if took else ""), _OUTCOME_TONES[call.outcome]))
    if call.contradicted:
        yield from (" · ", Marked("although it was denied", "bad"))
    if call.gated:
        yield from (" · ", Marked("approved", "note"))
    if call.changed:
        yield from (" · ", Marked("changed by a hook", "note"))


def _describe_call(call: Call) -> Iterator[Block]:
    if call.by or call.reason:
        yield Paragraph(_explain_outcome(call), "bad")
    if call.input:
        yield Listing("Input", call.input)
    if call.result:
        yield Listing("Result", call.result)
    if not call.input and not call.result:
        yield Paragraph(("The trail has neither its input nor its result.",), "dim")


def _explain_outcome(call: Call) -> Parts:
    by: Parts = (" by ", *format_decider(call.by)) if call.by else ()
    reason: Parts = (": ", Quoted(call.reason)) if call.reason else ()
    word = "denied" if call.contradicted else _OUTCOME_WORDS.get(call.outcome, call.outcome)
    return (word.capitalize(), *by, *reason)


def _describe_files(session: SessionFigures) -> Iterator[Block]:
    for title, files in (("Files written", session.written), ("Files read", session.read)):
        if files:
            yield Heading(4, title)
            yield _list_files(files)
            rest = len(files) - _MOST_FILES
            if rest > 0:
                yield Paragraph((f"And {format_count(rest, 'more file')}.",), "dim")


def _list_files(files: Counter[str]) -> Table:
    rows = tuple(((Code(name),), (format_times(count),)) for name, count in _list_most_used(files))
    return Table((Column("File"), Column("How often", short=True)), rows)


def _list_most_used(files: Counter[str]) -> list[tuple[str, int]]:
    return files.most_common(_MOST_FILES)


def _describe_commands(session: SessionFigures) -> Iterator[Block]:
    commands = session.commands
    if not commands.count:
        return
    yield Heading(4, "Commands run")
    rows = tuple(
        (
            (format_clock(call.time),),
            (Code(call.about),),
            (Marked(_OUTCOME_WORDS.get(call.outcome, call.outcome), _OUTCOME_TONES[call.outcome]),),
            (format_milliseconds(call.ms),),
        )
        for call in commands
    )
    columns = (
        Column("Time", short=True),
        Column("Command"),
        Column("Outcome", short=True),
        Column("Took", number=True),
    )
    yield Table(columns, rows)
    if commands.left_out:
        yield Paragraph(tuple(describe_left_out(commands.left_out, "command")), "dim")


_ANSWER_TONES: dict[str, Tone] = {
    "allowed": "good",
    "refused": "bad",
    "expired": "warn",
    "cancelled": "warn",
    "remembered": "dim",
    "open": "warn",
    "not_run": "dim",
    "not_known": "warn",
}
_ANSWER_WORDS = {
    "allowed": "Allowed",
    "refused": "Refused",
    "expired": "Expired: nobody decided in time",
    "cancelled": "Withdrawn before anybody decided",
    "remembered": "Not asked again: decided before",
    "open": "No answer in the trail",
    "not_run": "Did not run",
    "not_known": "Not known",
}
STATES = {"not_run": "did not run", "not_known": "not known"}
"""The words for what came of a question, where they are not its name."""

_EVIDENCE = {
    "result": "its result: it ran",
    "failure": "its failure: it ran",
    "stop": "no result by the time that the agent stopped",
    "next prompt": "no result by the next prompt",
    "session end": "no result by the end of the session",
    "denied": "it was denied after that",
    "request": "the request to a model that followed",
    "reply": "the reply of a model that followed",
}
_HOW = {
    "person": "a person decided",
    "timeout": "nobody decided in time",
    "nobody": "there was nobody to ask",
    "error": "the question could not be asked",
    "invalid": "the answer was none of the options",
    "cache": "as decided before in this session",
    "rule": "a rule decided",
    "handed_over": "another program asked its own person",
}


_HANDED_OVER = (
    "handed over to the prompt of another program. What its person said is known only where "
    "the trail shows that the call ran, or that it did not."
)


def describe_approvals(session: SessionFigures) -> Iterator[Block]:
    """All questions, in order."""
    questions = session.questions
    if not questions.kept.count:
        yield Paragraph(("Nobody was asked.",))
        return
    waited = format_seconds(questions.waited)
    yield Paragraph(
        (f"{format_count(questions.asked, 'question')}; the agent waited {waited} for people.",)
    )
    if questions.handed_over:
        verb = "was" if questions.handed_over == 1 else "were"
        handed = f"{format_count(questions.handed_over, 'question')} {verb}"
        yield Paragraph((f"{handed} {_HANDED_OVER}",))
    yield from (_describe_question(one) for one in questions.kept.first)
    if questions.kept.left_out:
        yield Paragraph(tuple(describe_left_out(questions.kept.left_out, "question")), "dim")
    yield from (_describe_question(one) for one in questions.kept.last)


def _describe_question(one: Question) -> Block:
    tone = _ANSWER_TONES[one.outcome]
    title: Parts = (
        Marked(_ANSWER_WORDS[one.outcome], tone),
        " · ",
        Code(one.hook),
        " at ",
        Code(one.event),
    )
    blocks: list[Block] = [Paragraph(title)]
    if one.prompt:
        blocks.append(Listing("Question", one.prompt))
    if one.input:
        what = f"What exactly would run: {one.tool}" if one.tool else "What exactly would happen"
        blocks.append(Listing(what, one.input))
    blocks.append(Facts(tuple(_list_question_facts(one))))
    return Card(tuple(blocks), tone)


def format_decider(by: str) -> Parts:
    """A person, or the rule that decided in their place."""
    return ("the rule ", Code(by.removeprefix("rule:"))) if by.startswith("rule:") else (Code(by),)


def _list_handover(one: Question) -> Iterator[tuple[str, Parts]]:
    if one.to:
        yield "Handed over", ("to ", Code(one.to), ", which asks its own person")
    if one.evidence:
        shown = _EVIDENCE.get(one.evidence)
        yield "Shown by", (shown,) if shown else (Quoted(one.evidence),)


def _list_question_facts(one: Question) -> Iterator[tuple[str, Parts]]:
    yield "Asked", (format_clock(one.asked),)
    yield from _list_handover(one)
    if one.decided and one.outcome != "remembered" and not one.evidence:
        waited = f", after {format_seconds(one.waited)}" if one.waited is not None else ""
        yield "Decided", (f"{format_clock(one.decided)}{waited}",)
    if one.by:
        yield "By", format_decider(one.by)
    if one.how:
        yield "How", (_HOW[one.how],) if one.how in _HOW else (Code(one.how),)
    if one.decision:
        yield "Choice", (Quoted(one.decision),)
    if one.comment:
        yield "Comment", (Quoted(one.comment),)
    if one.edited:
        yield "Edited", ("The person changed the input before allowing it.",)
    if one.digest:
        yield "Digest", (Code(one.digest),)
