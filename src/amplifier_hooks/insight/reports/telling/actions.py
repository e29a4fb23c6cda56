"""What the agent did: turn by turn, with every call, and the files and commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from amplifier_hooks.insight.reports.model import Call, Outcome, Said, SessionFigures, Turn
from amplifier_hooks.insight.reports.telling.approvals import name_decider
from amplifier_hooks.insight.reports.telling.document import (
    Block,
    Code,
    Column,
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
)
from amplifier_hooks.insight.reports.telling.times import format_clock
from amplifier_hooks.insight.reports.telling.words import (
    format_count,
    format_milliseconds,
    format_times,
    say_left_out,
)

_TONES: dict[Outcome, Tone] = {
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
_WORDS = {
    "refused": "not approved",
    "unknown": "outcome unknown",
    "running": "outcome unknown",
    "not run": "did not run",
}
_MOST_FILES = 40


def tell_actions(session: SessionFigures) -> Iterator[Block]:
    """The turns, and then files and commands."""
    for turn in session.turns.first:
        yield from _tell_turn(turn)
    if session.turns.left_out:
        yield Paragraph(tuple(say_left_out(session.turns.left_out, "turn")), "dim")
    for turn in session.turns.last:
        yield from _tell_turn(turn)
    if not session.turns.count:
        yield Paragraph(("The trail tells of no turn.",))
    yield from _tell_files(session)
    yield from _tell_commands(session)


def _tell_turn(turn: Turn) -> Iterator[Block]:
    who = f" of the sub-agent {turn.agent}" if turn.agent else ""
    name = f"Turn {turn.number}" if turn.prompt else f"Outside of a turn (turn {turn.number})"
    yield Heading(4, f"{name}{who}, {format_clock(turn.started)}")
    if turn.prompt:
        yield Listing("Prompt", turn.prompt)
    first, last = turn.steps.first, turn.steps.last
    yield from (_tell_step(step) for step in (first if last else _drop_answer(first, turn)))
    if turn.steps.left_out:
        yield Paragraph(tuple(say_left_out(turn.steps.left_out, "step")), "dim")
    yield from (_tell_step(step) for step in _drop_answer(last, turn))
    if turn.answer:
        label = "Answer, which a hook withheld" if turn.status == "withheld" else "Answer"
        yield Listing(label, turn.answer)
    if turn.status and turn.status != "withheld":
        yield Paragraph(("The turn ended early: ", Quoted(turn.status), "."), "warn")


def _drop_answer(steps: list[Call | Said], turn: Turn) -> list[Call | Said]:
    """The steps without the answer, which is shown by itself."""
    if steps and isinstance(last := steps[-1], Said) and last.text.text == turn.answer.text.strip():
        return steps[:-1]
    return steps


def _tell_step(step: Call | Said) -> Block:
    if isinstance(step, Said):
        return Listing(f"Said, {format_clock(step.time)}", step.text)
    return Folded(tuple(_summarize_call(step)), tuple(_tell_call(step)))


def _summarize_call(call: Call) -> Iterator[Inline]:
    yield from (Marked(format_clock(call.time), "dim"), " ", Marked(call.tool or "?"))
    if call.about:
        yield from (" ", Code(call.about))
    took = format_milliseconds(call.ms)
    word = _WORDS.get(call.outcome, call.outcome)
    yield from (" ", Marked(word + (f", {took}" if took else ""), _TONES[call.outcome]))
    if call.contradicted:
        yield from (" · ", Marked("although it was denied", "bad"))
    if call.gated:
        yield from (" · ", Marked("approved", "note"))
    if call.changed:
        yield from (" · ", Marked("changed by a hook", "note"))


def _tell_call(call: Call) -> Iterator[Block]:
    if call.by or call.reason:
        yield Paragraph(_explain(call), "bad")
    if call.input:
        yield Listing("Input", call.input)
    if call.result:
        yield Listing("Result", call.result)
    if not call.input and not call.result:
        yield Paragraph(("The trail has neither its input nor its result.",), "dim")


def _explain(call: Call) -> Parts:
    by: Parts = (" by ", *name_decider(call.by)) if call.by else ()
    reason: Parts = (": ", Quoted(call.reason)) if call.reason else ()
    word = "denied" if call.contradicted else _WORDS.get(call.outcome, call.outcome)
    return (word.capitalize(), *by, *reason)


def _tell_files(session: SessionFigures) -> Iterator[Block]:
    for title, files in (("Files written", session.written), ("Files read", session.read)):
        if files:
            yield Heading(4, title)
            yield _list_files(files)
            rest = len(files) - _MOST_FILES
            if rest > 0:
                yield Paragraph((f"And {format_count(rest, 'more file')}.",), "dim")


def _list_files(files: Counter[str]) -> Table:
    rows = tuple(((Code(name),), (format_times(count),)) for name, count in _take_most(files))
    return Table((Column("File"), Column("How often", short=True)), rows)


def _take_most(files: Counter[str]) -> list[tuple[str, int]]:
    return files.most_common(_MOST_FILES)


def _tell_commands(session: SessionFigures) -> Iterator[Block]:
    commands = session.commands
    if not commands.count:
        return
    yield Heading(4, "Commands run")
    rows = tuple(
        (
            (format_clock(call.time),),
            (Code(call.about),),
            (Marked(_WORDS.get(call.outcome, call.outcome), _TONES[call.outcome]),),
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
        yield Paragraph(tuple(say_left_out(commands.left_out, "command")), "dim")
