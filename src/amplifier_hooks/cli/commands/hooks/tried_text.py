"""Tried cases for people: a line for each case, or a table of the answers to sample events."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from typing import IO, Any

from amplifier_core.models import HookResult
from amplifier_hooks.cli.commands.hooks.trace_text import DataChange, describe_changes
from amplifier_hooks.cli.text.fragments import cut_end
from amplifier_hooks.cli.text.output import print_heading, print_line, print_wrapped
from amplifier_hooks.cli.text.table import Cell, Column, Table
from amplifier_hooks.insight.cases.case import Case
from amplifier_hooks.insight.cases.comparison import Difference, Outcome
from amplifier_hooks.insight.cases.running import CaseRun, Subject, run_case
from amplifier_hooks.machine.text import to_plain
from amplifier_hooks.text.escape import escape, get_first_line, make_readable

_STREAMS = (1, 2)


@dataclass(slots=True)
class PrintedOutput:
    """The text that was written, once it is over."""

    text: str = ""


@contextmanager
def capture_output() -> Iterator[PrintedOutput]:
    """Keep from the terminal whatever is written to standard output and standard error."""
    printed = PrintedOutput()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        try:
            with _redirect(file):
                yield printed
        finally:
            file.seek(0)
            printed.text = file.read().decode("utf-8", "replace")


@contextmanager
def _redirect(file: IO[bytes]) -> Iterator[None]:
    """Lead Python's streams and those of the process into a file, and back."""
    kept = [os.dup(stream) for stream in _STREAMS]
    text = io.TextIOWrapper(io.FileIO(file.fileno(), "w", closefd=False), write_through=True)
    try:
        for stream in _STREAMS:
            os.dup2(file.fileno(), stream)
        with redirect_stdout(text), redirect_stderr(text):
            yield
    finally:
        text.flush()
        for stream, before in zip(_STREAMS, kept, strict=True):
            os.dup2(before, stream)
            os.close(before)


_STAMPED = frozenset({"timestamp", "session_id"})


@dataclass(frozen=True, slots=True)
class TriedCase:
    """The run of a case, and what was printed."""

    run: CaseRun
    printed: str = ""

    @property
    def name(self) -> str:
        """Of the case."""
        return self.run.case.name

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return self.run.passed


def try_cases(
    cases: Iterable[Case], subject: Subject, config: Mapping[str, Any], limit: float
) -> Iterator[TriedCase]:
    """Run cases one after another."""
    HookResult(action="deny", reason="")  # the first answer of a process takes longer than others
    for case in cases:
        with capture_output() as printed:
            run = run_case(case, subject, config, limit)
        yield TriedCase(run, printed.text)


def list_changes(outcome: Outcome) -> list[DataChange]:
    """What the hooks changed of the data, without what the registry itself adds."""
    changes = describe_changes(outcome.sent, outcome.left)
    return [one for one in changes if one.field not in _STAMPED]


def tried_to_dict(tried: TriedCase) -> dict[str, Any]:
    """A tried case for machines."""
    run = tried.run
    return {
        "name": run.case.name,
        "line": run.case.line,
        "passed": run.passed,
        "problem": run.problem or None,
        "differences": [asdict(one) for one in run.differences],
        "events": [_outcome_to_dict(one) for one in run.outcomes],
        "printed": tried.printed,
    }


def _outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    answer = outcome.result.model_dump(exclude_defaults=True, exclude={"data", "action"})
    return {
        "event": outcome.event,
        "sent": to_plain(dict(outcome.sent)),
        "action": outcome.action,
        "hook": outcome.hook or None,
        **answer,
        "changes": [asdict(one) for one in list_changes(outcome)],
        "failures": [asdict(one) for one in outcome.failures],
        "advice": list(outcome.advice),
        "ms": round(outcome.ms, 3),
    }


_STYLES = {"deny": "bad", "ask_user": "warn", "modify": "note", "inject_context": "note"}
_INDENT = 6
_LONGEST_SENT = 44
_LONGEST_DIFFERENCE = 90
_LONGEST_LINE = 300
_COLUMNS = (Column(overflow="cut end"), Column(), Column("dim", align="right"))
_MOST_PRINTED = 20
"""Lines of what hooks printed; a hook may print without end."""


def print_tried(tried: TriedCase, told: str = "") -> None:
    """Print one case: whether it passed, and if not, why; `told` is the problem of the one before.

    A file that cannot be imported is the same problem for each of its cases.
    """
    run = tried.run
    name = escape(tried.name)
    if tried.passed:
        took = sum(one.ms for one in run.outcomes)
        print_wrapped(2, ("good", "✓ "), name, ("dim", f"  {took:.2f} ms"))
        _print_advice(tried)
        return
    where = "" if run.case.line is None else f"  line {run.case.line}"
    print_wrapped(2, ("bad", "✗ "), name, ("dim", where))
    if len(run.case.steps) > 1:
        step = run.case.steps[run.step]
        print_line(" " * _INDENT, ("dim", f"in step {run.step + 1}, {escape(step.event)}"))
    if run.problem:
        _print_lines("bad", "", "for the same reason" if run.problem == told else run.problem)
    for one in run.differences:
        _print_difference(one)
    _print_advice(tried)
    _print_printed(tried)


def print_samples(tried: Sequence[TriedCase], without: Sequence[str] = ()) -> None:
    """Print what hooks answered to sample events; events with one sample each come last.

    Of those `without` a sample, it is only said that there is none.
    """
    named = _name_samples(tried)
    rows = [_make_row(name, one) for found in named.values() for name, one in found]
    table = Table(_COLUMNS, indent=2).fit(rows)
    for heading, found in named.items():
        print_heading(escape(heading))
        for name, one in found:
            table.print([_make_row(name, one)])
            _print_answer(one)
            _print_advice(one)
            _print_printed(one)
    if without:
        names = escape(", ".join(without))
        print_line("")
        told = f"No samples of {names}: only your code knows the fields. Write a case instead."
        print_wrapped(0, ("warn", "! "), told)


def _name_samples(tried: Sequence[TriedCase]) -> dict[str, list[tuple[str, TriedCase]]]:
    """What is shown under each heading, with its name there: the sample's, or the event's."""
    by_event: dict[str, list[TriedCase]] = {}
    for one in tried:
        by_event.setdefault(one.run.case.steps[0].event, []).append(one)
    varied = {event: found for event, found in by_event.items() if len(found) > 1}
    named = {event: [(one.name, one) for one in found] for event, found in varied.items()}
    if single := [(event, found[0]) for event, found in by_event.items() if len(found) == 1]:
        named["one sample each"] = single
    return named


def print_sums(passed: int, failed: int, of: str = "") -> None:
    """Print the last line of a run of cases; `of` says which they were."""
    print_line("")
    counts = [f"{passed} passed"] if passed else []
    counts += [f"{failed} failed"] if failed else []
    print_line(of, ("bad" if failed else "good", ", ".join(counts)))


def _make_row(name: str, tried: TriedCase) -> list[Cell]:
    sent = cut_end(get_first_line(name), _LONGEST_SENT)
    if tried.run.problem:
        return [sent, (("bad", "no answer"),)]
    outcome = tried.run.outcomes[-1]
    style = "bad" if outcome.failures else _STYLES.get(outcome.action, "dim")
    return [sent, ((style, outcome.action),), f"{outcome.ms:.2f} ms"]


def _print_answer(tried: TriedCase) -> None:
    """What hooks say with their answer, what they change, and how they fail."""
    if tried.run.problem:
        _print_lines("bad", "", tried.run.problem)
    for outcome in tried.run.outcomes[-1:]:
        for label, text in _list_details(outcome):
            print_wrapped(_INDENT, ("dim", f"{escape(label)}: "), _make_line(text))
        for failure in outcome.failures:
            _print_lines("bad", "", str(failure))


def _list_details(outcome: Outcome) -> list[tuple[str, str]]:
    result = outcome.result
    failed = outcome.hook in {one.hook for one in outcome.failures}
    said = [
        ("by", outcome.hook if outcome.listeners > 1 else None),
        ("reason", None if failed else result.reason),
        ("asks", result.approval_prompt),
        ("injects", result.context_injection),
        ("says", result.user_message),
    ]
    changes = [(one.field, str(one)) for one in list_changes(outcome)]
    return [(label, text) for label, text in said if text] + changes


def _print_difference(difference: Difference) -> None:
    line = _make_line(str(difference))
    if len(line) <= _LONGEST_DIFFERENCE:
        print_wrapped(_INDENT, line)
        return
    print_line(" " * _INDENT, f"{escape(difference.field)}:")
    for label, text in (("expected ", difference.expected), ("got      ", difference.got)):
        print_wrapped(_INDENT + 2, ("dim", label), _make_line(text))


def _print_advice(tried: TriedCase) -> None:
    advice = [one for outcome in tried.run.outcomes for one in outcome.advice]
    for one in dict.fromkeys(advice):
        _print_lines("warn", "! ", one)


def _print_printed(tried: TriedCase) -> None:
    lines = make_readable(tried.printed).splitlines()
    for line in lines[:_MOST_PRINTED]:
        print_wrapped(_INDENT, ("dim", "│ "), line)
    if len(lines) > _MOST_PRINTED:
        rest = f"│ … {len(lines) - _MOST_PRINTED} more lines were printed"
        print_line(" " * _INDENT, ("dim", rest))


def _print_lines(style: str, sign: str, text: str) -> None:
    for line in make_readable(text).split("\n"):
        print_wrapped(_INDENT, (style, sign), (style, line))


def _make_line(text: str) -> str:
    return get_first_line(text.replace("\n", " "), _LONGEST_LINE)
