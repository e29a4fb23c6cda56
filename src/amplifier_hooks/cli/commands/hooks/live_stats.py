"""The figures of a session that runs, shown again whenever there is more of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from amplifier_audit import Record, read_records
from amplifier_audit.log_directory import open_readable
from amplifier_audit.reader import follow
from amplifier_hooks.agent.session.inspection.trails import shorten_trails
from amplifier_hooks.cli.text.output import is_terminal, print_line
from amplifier_hooks.insight.counting import Survey
from amplifier_hooks.trails import read_items

PAUSE = 0.5
"""Seconds between two looks at the trail."""

Show = Callable[[Survey], None]


def follow_session(
    path: Path,
    since: str,
    show: Show,
    *,
    redraws: bool = True,
    wait: Callable[[float], object] = time.sleep,
) -> None:
    """Show what a trail tells so far, and again after each change, until Ctrl-C."""
    survey = Survey(since)
    survey.shadows.trail = str(path)
    # The beginning and what comes may overlap: the number of a record tells.
    coming = follow(path, poll=PAUSE, wait=lambda seconds: pauses(seconds))
    seen = [-1]
    survey.take_all(read_items(_watch(read_records(open_readable(path)), seen)))
    drawn = -2

    def pauses(seconds: float) -> None:
        nonlocal drawn
        if drawn != seen[0]:
            drawn = seen[0]
            _draw(survey, show, path, redraws)
        wait(seconds)

    try:
        fresh = (record for record in coming if record["seq"] > seen[0])
        survey.take_all(read_items(_watch(fresh, seen)))
    except KeyboardInterrupt:
        print_line("")


def _watch(records: Iterable[Record], seen: list[int]) -> Iterator[Record]:
    for record in records:
        seen[0] = record["seq"]
        yield record


def _draw(survey: Survey, show: Show, path: Path, redraws: bool) -> None:
    if redraws and is_terminal():
        click.clear()
    show(survey)
    if redraws:
        print_line("")
        short = shorten_trails([path])[path]
        print_line(("dim", f"{short}, while it runs; Ctrl-C ends"))
