"""Who approved what: each question, what exactly would run, and who decided."""

from __future__ import annotations

from collections.abc import Iterator

from amplifier_hooks.insight.reports.model import Question, SessionFigures
from amplifier_hooks.insight.reports.telling.document import (
    Block,
    Card,
    Code,
    Facts,
    Listing,
    Marked,
    Paragraph,
    Parts,
    Quoted,
    Tone,
)
from amplifier_hooks.insight.reports.telling.times import format_clock
from amplifier_hooks.insight.reports.telling.words import format_count, format_seconds, say_left_out

_TONES: dict[str, Tone] = {
    "allowed": "good",
    "refused": "bad",
    "expired": "warn",
    "cancelled": "warn",
    "remembered": "dim",
    "open": "warn",
    "not_run": "dim",
    "not_known": "warn",
}
_WORDS = {
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


def tell_approvals(session: SessionFigures) -> Iterator[Block]:
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
    yield from (_tell_question(one) for one in questions.kept.first)
    if questions.kept.left_out:
        yield Paragraph(tuple(say_left_out(questions.kept.left_out, "question")), "dim")
    yield from (_tell_question(one) for one in questions.kept.last)


def _tell_question(one: Question) -> Block:
    tone = _TONES[one.outcome]
    title: Parts = (
        Marked(_WORDS[one.outcome], tone),
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
    blocks.append(Facts(tuple(_list_facts(one))))
    return Card(tuple(blocks), tone)


def name_decider(by: str) -> Parts:
    """A person, or the rule that decided in their place."""
    return ("the rule ", Code(by.removeprefix("rule:"))) if by.startswith("rule:") else (Code(by),)


def _list_handover(one: Question) -> Iterator[tuple[str, Parts]]:
    if one.to:
        yield "Handed over", ("to ", Code(one.to), ", which asks its own person")
    if one.evidence:
        shown = _EVIDENCE.get(one.evidence)
        yield "Shown by", (shown,) if shown else (Quoted(one.evidence),)


def _list_facts(one: Question) -> Iterator[tuple[str, Parts]]:
    yield "Asked", (format_clock(one.asked),)
    yield from _list_handover(one)
    if one.decided and one.outcome != "remembered" and not one.evidence:
        waited = f", after {format_seconds(one.waited)}" if one.waited is not None else ""
        yield "Decided", (f"{format_clock(one.decided)}{waited}",)
    if one.by:
        yield "By", name_decider(one.by)
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
