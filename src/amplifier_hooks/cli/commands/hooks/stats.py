"""amplifier hooks stats: what each hook did, counted over trails or while a session runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_audit import Record, read_records
from amplifier_audit.log_directory import open_readable
from amplifier_audit.reader import follow
from amplifier_hooks.agent.session.inspection.trails import shorten_trails
from amplifier_hooks.cli.commands.audit.options import SINCE, report_errors
from amplifier_hooks.cli.commands.audit.records import format_ms
from amplifier_hooks.cli.options import AS_JSON, SELF_TESTS
from amplifier_hooks.cli.text.output import (
    get_width,
    is_terminal,
    print_heading,
    print_line,
    print_wrapped,
)
from amplifier_hooks.cli.text.table import Cell, Column, print_table
from amplifier_hooks.insight.counting import Survey
from amplifier_hooks.text.escape import escape, get_first_line
from amplifier_hooks.trails import read_items

if TYPE_CHECKING:
    from amplifier_hooks.insight.counting import Survey


@click.command()
@click.argument("trails", nargs=-1, metavar="[TRAIL]...")
@SINCE
@click.option("--hook", help="Only this hook, with everything that is known of it.")
@click.option("--shadow", is_flag=True, help="What hooks in shadow mode would have done.")
@click.option("--live", is_flag=True, help="Follow the newest session while it runs.")
@click.option("--everywhere", is_flag=True, help="Sessions of all folders, not only of this one.")
@SELF_TESTS
@AS_JSON
@report_errors
def stats(trails: tuple[str, ...], as_json: bool, live: bool, **options: Any) -> None:
    """Show what each hook did: calls, answers, failures, time, questions and what became of them.

    Without arguments, all sessions that worked in this folder. A hook is called active, or else
    failing (1 of 100 calls and more), dead (every session had it, none called it), slow (p99 over
    100 ms), noisy (people allow 9 of 10 questions and more) or quiet (it never spoke).
    """
    from amplifier_hooks.cli.commands.audit.options import select_recorded

    everywhere = options["everywhere"]
    self_tests = options["self_tests"]
    paths = select_recorded(trails, everywhere, self_tests=self_tests)

    def show(survey: Survey) -> None:
        told = survey.to_dict(options["hook"])
        if as_json:
            click.echo(json.dumps(told, indent=None if live else 2, ensure_ascii=False))
        else:
            print_survey(told, shadow=options["shadow"], hook=options["hook"])

    if live:
        follow_session(paths[-1], options["since"] or "", show, redraws=not as_json)
        return
    survey = _count_trails(paths, options["since"] or "")
    _check_hook(survey, options["hook"])
    show(survey)


def _count_trails(paths: list[Path], since: str) -> Survey:
    from amplifier_hooks.cli.commands.audit.options import show_progress
    from amplifier_hooks.insight.counting import Survey

    survey = Survey(since)
    with show_progress("Counting", len(paths)) as progress:
        for done, path in enumerate(paths):
            progress.update(done)
            survey.read(path)
    return survey


def _check_hook(survey: Survey, hook: str | None) -> None:
    """A name that nobody has heard of is a slip, not a hook that did nothing."""
    if hook is None or hook in survey.found.hooks:
        return
    from difflib import get_close_matches

    names = sorted(survey.found.hooks)
    near = get_close_matches(hook, names, 3) or names[:5]
    have = f"; have {', '.join(near)}" if near else ""
    raise click.UsageError(f"No hook {hook!r} in these sessions{have}")


Figures = Mapping[str, Any]

_STYLES = {
    "failing": "bad",
    "dead": "warn",
    "slow": "warn",
    "noisy": "warn",
    "quiet": "dim",
    "active": "good",
}
_WOULD = {
    "deny": "denied",
    "ask_user": "asked about",
    "modify": "changed",
    "inject_context": "told the agent something at",
}
_QUESTIONS = {
    "handed_over": "questions handed over to another program's prompt",
    "not_run": "questions handed over: what was asked about did not run",
    "not_known": "questions handed over: not known what came of them",
}
_ROOM_FOR_NAME = 24


def print_survey(told: Mapping[str, Any], *, shadow: bool, hook: str | None) -> None:
    """Print everything that was asked for."""
    hooks: Mapping[str, Figures] = told["hooks"]
    _print_scope(told)
    _print_contradictions(told)
    if shadow:
        _print_shadows(hooks)
    elif hook is not None and hook in hooks:
        _print_hook(hook, hooks[hook])
    else:
        _print_hooks(hooks)
    if any(not one["calls_known"] for one in hooks.values()):
        text = "≥: some trails record decisions only, so there were at least this many calls"
        print_wrapped(0, ("dim", text))


def _print_scope(told: Mapping[str, Any]) -> None:
    days = f", {told['first'][:10]} to {told['last'][:10]}" if told["first"] else ""
    print_wrapped(0, f"{_count(max(1, told['trails']), 'session')}{days}")
    shorts = shorten_trails(map(Path, told["unreadable"]))
    for path, why in told["unreadable"].items():
        name = escape(shorts[Path(path)])
        print_wrapped(0, ("warn", "! "), f"{name} was not read to its end: {escape(why)}")


def _print_contradictions(told: Mapping[str, Any]) -> None:
    if number := told["contradicted"]:
        text = f"{_count(number, 'call')} that hooks denied ran all the same: amplifier report"
        print_wrapped(0, ("bad", "✗ "), ("bad", text))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


# The table

_Get = Callable[[Figures], str]

_COLUMNS: tuple[tuple[str, int, _Get], ...] = (
    # The title, its place in the order in which columns find room, and the figure.
    ("calls", 0, lambda one: ("" if one["calls_known"] else "≥") + _number(one["calls"])),
    ("denied", 1, lambda one: _number(one["answers"].get("deny", 0))),
    ("denied, ran", 1, lambda one: _number(one["contradicted"])),
    ("asked", 2, lambda one: _number(one["approvals"]["asked"])),
    ("allowed", 4, lambda one: _number(one["approvals"]["allowed"])),
    ("refused", 6, lambda one: _number(one["approvals"]["refused"])),
    ("expired", 12, lambda one: _number(one["approvals"]["expired"])),
    ("not run", 5, lambda one: _number(one["approvals"]["not_run"])),
    ("not known", 5, lambda one: _number(one["approvals"]["not_known"])),
    ("changed", 8, lambda one: _number(one["answers"].get("modify", 0))),
    ("injected", 9, lambda one: _number(one["answers"].get("inject_context", 0))),
    ("tokens", 13, lambda one: _number(one["injected_tokens"])),
    ("shadow", 7, lambda one: _number(sum(one["shadowed"].values()))),
    ("undone", 11, lambda one: _number(one["undone"])),
    ("failed", 3, lambda one: _number(one["failures"])),
    ("late", 10, lambda one: _number(one["timeouts"])),
    ("p50 ms", 14, lambda one: format_ms(one["p50_ms"])),
    ("p95 ms", 15, lambda one: format_ms(one["p95_ms"])),
    ("p99 ms", 5, lambda one: format_ms(one["p99_ms"])),
)


def _number(value: int) -> str:
    return f"{value:,}" if value else "-"


def _print_hooks(hooks: Mapping[str, Figures]) -> None:
    if not hooks:
        print_line("No hook was registered.")
        return
    order = list(_STYLES)
    ranked = sorted(hooks.items(), key=lambda one: (order.index(one[1]["standing"]), one[0]))
    columns = _choose_columns(hooks)
    head: list[Cell] = [(("dim", text),) for text in ("hook", *(c[0] for c in columns), "")]
    rows = [
        [escape(name), *(get(one) for _, _, get in columns), _name_standing(one)]
        for name, one in ranked
    ]
    print_line("")
    numbers = [Column(align="right")] * len(columns)
    print_table([head, *rows], Column(overflow="cut end"), *numbers, Column())


def _name_standing(one: Figures) -> Cell:
    return ((_STYLES[one["standing"]], one["standing"]),)


def _choose_columns(hooks: Mapping[str, Figures]) -> list[tuple[str, int, _Get]]:
    """The columns that there is room for; those without any figure come last."""
    name = min(_ROOM_FOR_NAME, max(map(len, hooks)))
    room = get_width() - 1 - name - 2 - len("failing") if is_terminal() else 10_000
    chosen: list[tuple[str, int, _Get]] = []
    for column in sorted(_COLUMNS, key=lambda one: (_is_empty(one, hooks), one[1])):
        title, _, get = column
        room -= 2 + max(len(title), *(len(get(one)) for one in hooks.values()))
        if room < 0 and chosen:
            break
        chosen.append(column)
    return [one for one in _COLUMNS if one in chosen]


def _is_empty(column: tuple[str, int, _Get], hooks: Mapping[str, Figures]) -> bool:
    return all(column[2](one) == "-" for one in hooks.values())


# One hook


def _print_hook(name: str, one: Figures) -> None:
    print_line("")
    print_line(("tool", escape(name)), "  ", _name_standing(one)[0])
    facts: list[tuple[int, str]] = [
        *((n, f"answered {escape(action)}") for action, n in one["answers"].items()),
        *((n, f"would have {_say(action)}") for action, n in one["shadowed"].items()),
        (one["unheeded"], "answered behind a denial, without effect"),
        *((n, f"{escape(action)} had no effect") for action, n in one["ignored"].items()),
        (one["failures"], "failed"),
        (one["timeouts"], "took too long"),
        (one["injected_tokens"], "tokens injected"),
        (one["contradicted"], "denied, and ran all the same"),
        *((n, _QUESTIONS.get(word, f"questions {word}")) for word, n in one["approvals"].items()),
        (one["undone"], "let pass and undone by somebody later"),
        (one["sessions"], "of the sessions had it"),
    ]
    times = " / ".join(format_ms(one[key]) for key in ("p50_ms", "p95_ms", "p99_ms"))
    rows: list[tuple[Cell, ...]] = [
        (("" if one["calls_known"] else "≥") + f"{one['calls']:,}", "calls"),
        *((f"{number:,}", text) for number, text in facts if number),
        (times, "ms: p50, p95, p99"),
    ]
    print_table(rows, Column(align="right"), Column("dim"), indent=2)
    _print_examples(one)


# Shadow mode


def _print_shadows(hooks: Mapping[str, Figures]) -> None:
    found = {name: one for name, one in hooks.items() if one["shadowed"]}
    if not found:
        print_wrapped(0, "No hook in shadow mode would have done anything.")
    for name, one in found.items():
        print_heading(escape(name))
        for action, count in sorted(one["shadowed"].items()):
            share = f" of {_count(one['calls'], 'call')}" if one["calls_known"] else ""
            print_wrapped(2, f"would have {_say(action)} {count:,}{share}")
        _print_examples(one)


def _say(action: str) -> str:
    return _WOULD.get(action, f"answered {escape(action)} to")


def _print_examples(one: Figures) -> None:
    shorts = shorten_trails(Path(x["trail"]) for kept in one["examples"].values() for x in kept)
    for examples in one["examples"].values():
        for example in examples:
            when = example["time"][:19].replace("T", " ")
            what = example["tool"] or example["event"]
            where = f"{shorts[Path(example['trail'])]} record {example['sequence']}"
            print_line("")
            parts = ("dim", f"{when}  "), ("tool", f"{escape(what)}  "), ("dim", escape(where))
            print_wrapped(2, *parts)
            if example["about"]:
                print_wrapped(4, escape(get_first_line(example["about"])))
            if example["would"]:
                print_wrapped(4, ("warn", escape(get_first_line(example["would"]))))


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
    survey.add_all(read_items(_watch(read_records(open_readable(path)), seen)))
    drawn = -2

    def pauses(seconds: float) -> None:
        nonlocal drawn
        if drawn != seen[0]:
            drawn = seen[0]
            _draw(survey, show, path, redraws)
        wait(seconds)

    try:
        fresh = (record for record in coming if record["seq"] > seen[0])
        survey.add_all(read_items(_watch(fresh, seen)))
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
