"""What a backtest found, for people: a summary first, then examples and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amplifier_hooks.agent.session.inspection.trails import shorten_trails
from amplifier_hooks.cli.text.output import Part, print_heading, print_line, print_wrapped
from amplifier_hooks.cli.text.table import Cell, Column, print_table
from amplifier_hooks.text.escape import escape, get_first_line

_HANDED_OVER = {"not_run": "did not run", "not_known": "not known"}
_ASKED_BY_OTHERS = {
    "allowed": "it ran",
    "refused": "it did not run",
    "not_run": "it did not run",
    "not_known": "what came of it is not known",
}

Shorts = Mapping[Path, str]
"""The names of trails, as a command takes them."""
Report = Mapping[str, Any]

_LABELS = {
    "newly_denied": ("newly denied", "bad"),
    "no_longer_denied": ("no longer denied", "warn"),
    "newly_asked": ("newly asked", "warn"),
    "no_longer_asked": ("no longer asked", "note"),
    "changed_input": ("changed input", "note"),
    "newly_injected": ("newly injected", "note"),
    "no_longer_injected": ("no longer injected", "note"),
    "error": ("errors", "bad"),
    "cannot_tell": ("cannot tell", "dim"),
}
_WAS = {
    "continue": "it went on",
    "deny": "denied",
    "ask_user": "a person was asked",
    "inject_context": "it went on, and the agent was told something",
}
_WOULD = {
    "continue": "it would go on",
    "deny": "denied",
    "ask_user": "a person would be asked",
    "inject_context": "it would go on, and the agent would be told something",
}
_SHOWN = 200
_PLACES = 3


def print_findings(report: Report) -> None:
    """Print everything."""
    shorts = shorten_trails(_list_trails(report))
    _print_scope(report, shorts)
    _print_summary(report)
    _print_questions(report)
    for kind in _LABELS:
        _print_kind(report, kind, shorts)
    _print_unclear(report, shorts)
    _print_not_run(report)
    _print_times(report)


def _list_trails(report: Report) -> Iterator[Path]:
    """Every trail that is named somewhere."""
    places = [place for one in report["cannot_tell"] for place in one["places"]]
    examples = [one for kept in report["examples"].values() for one in kept]
    for one in (*report["unreadable"], *examples, *places):
        yield Path(one["trail"])


def _print_scope(report: Report, shorts: Shorts) -> None:
    trails = report["trails"]
    if not report["complete"]:
        text = f"Stopped: {trails['done']} of {trails['all']} sessions were read to their end."
        print_wrapped(0, ("warn", "! "), f"{text} Run the same command again to go on.")
    days = f", {report['first'][:10]} to {report['last'][:10]}" if report["first"] else ""
    counts = f"{_count(report['sessions'], 'session')}, {_count(report['events'], 'event')}{days}"
    print_wrapped(0, counts)
    other = report["baseline"]
    against = "what happened" if other is None else _name_policy(other)
    print_wrapped(0, f"{_name_policy(report['policy'])}, compared with {against}")
    if report["sandbox"] is None:
        why = escape(str(report["no_sandbox_because"]))
        print_wrapped(0, ("warn", "! "), f"The hooks ran without a sandbox: {why}")
    for one in report["unreadable"]:
        name = escape(shorts[Path(one["trail"])])
        print_wrapped(0, ("warn", "! "), f"{name} cannot be judged: {escape(one['why'])}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _name_policy(source: Mapping[str, Any]) -> str:
    names = [Path(one).name for one in (*source["hooks"], *source["rules"])]
    if not source["only"]:
        names.insert(0, Path(source["bundle"]).name if source["bundle"] else "the bundle")
    text = " with ".join([names[0], ", ".join(names[1:])] if len(names) > 1 else names)
    left = f" without {', '.join(source['without'])}" if source["without"] else ""
    return escape(text + left)


def _print_summary(report: Report) -> None:
    found = {kind: number for kind, number in report["differences"].items() if number}
    rows: list[tuple[Cell, ...]] = [
        (((_LABELS[kind][1], _LABELS[kind][0]),), f"{number:,}", _describe_people(report, kind))
        for kind, number in found.items()
    ]
    same = report["events"] - sum(found.values())
    rows.append(("the same", f"{same:,}", ""))
    print_line("")
    print_table(rows, Column(), Column(align="right"), Column("dim"), indent=2)


def _describe_people(report: Report, kind: str) -> str:
    said = report["people"].get(kind)
    if not said:
        return ""
    people = [f"{word} {said[word]:,}" for word in ("allowed", "refused") if said.get(word)]
    rest = [f"{said[word]:,} {text}" for word, text in _HANDED_OVER.items() if said.get(word)]
    parts = [f"people had {' and '.join(people)}"] if people else []
    return f"of these, {', '.join([*parts, *rest])}"


def _print_questions(report: Report) -> None:
    asked = report["questions"]
    if not (asked["then"] or asked["would"]):
        return
    print_line("")
    would = f"{asked['would_per_day']:g}"
    then = f"{asked['then_per_day']:g}"
    were = "were asked" if report["baseline"] is None else "by the other policy"
    text = f"Questions for people: {would} a day would be asked, {then} a day {were}"
    print_wrapped(2, f"{text} ({asked['would']:,} and {asked['then']:,} in all)")


def _print_kind(report: Report, kind: str, shorts: Shorts) -> None:
    examples = report["examples"].get(kind)
    if not examples:
        return
    label, style = _LABELS[kind]
    print_heading(label.capitalize())
    for hook, figures in report["by_hook"].items():
        if figures.get(kind):
            print_wrapped(2, (style, f"{figures[kind]:,} "), f"by {escape(hook)}")
    for example in examples:
        _print_example(example, shorts)
    rest = report["differences"][kind] - len(examples)
    if rest > 0:
        print_wrapped(2, ("dim", f"and {rest:,} more; --examples shows more of them"))


def _print_example(example: Mapping[str, Any], shorts: Shorts) -> None:
    print_line("")
    when = example["time"][:19].replace("T", " ")
    where = f"{shorts[Path(example['trail'])]} record {example['sequence']}"
    what = example["tool"] or example["event"]
    print_wrapped(2, ("dim", f"{when}  "), ("tool", f"{escape(what)}  "), ("dim", escape(where)))
    if example["about"]:
        print_wrapped(4, _shorten(example["about"]))
    for label, text in _list_details(example):
        print_wrapped(4, ("dim", f"{label} "), _shorten(text))


def _list_details(example: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "changes" not in example or example["would"]["action"] != "continue":
        yield "was:  ", _describe_verdict(example["was"], _WAS)
        yield "would:", _describe_verdict(example["would"], _WOULD)
    if "error" in example:
        yield (
            "error:",
            f"{example['error']} ({example['at']})" if example["at"] else example["error"],
        )
    for change in example.get("changes", ()):
        yield f"{escape(change['field'])}:", _describe_change(change)
    if unasked := example.get("not_asked_then"):
        yield "note: ", f"hooks behind it were not asked then: {', '.join(unasked)}"
    if person := example["person"]:
        yield "then: ", _describe_person(person)


def _describe_person(person: Mapping[str, Any]) -> str:
    day = person["time"][:10]
    if to := person.get("to"):
        found = _ASKED_BY_OTHERS[person["state"]]
        return f"handed over to {to} on {day}, which asked its person: {found}"
    who = person["by"] or "a person"
    did = "allowed" if person["allowed"] else "refused"
    comment = f": {person['comment']}" if person["comment"] else ""
    return f"{who} {did} it on {day}{comment}"


def _describe_change(change: Mapping[str, str]) -> str:
    if not change["was"]:
        return f"added: {change['would']}"
    if change["would"]:
        return f"{change['was']} → {change['would']}"
    return f"removed: {change['was']}"


def _describe_verdict(verdict: Mapping[str, Any], words: Mapping[str, str]) -> str:
    text = words.get(verdict["action"], verdict["action"])
    by = f" by {verdict['hook']}" if verdict["hook"] and verdict["action"] != "continue" else ""
    why = verdict["reason"] or next(iter(verdict["asks"]), "")
    return f"{text}{by}: {why}" if why else text + by


def _shorten(text: str) -> str:
    line = get_first_line(text)
    return escape(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")


def _print_unclear(report: Report, shorts: Shorts) -> None:
    if not report["cannot_tell"]:
        return
    print_heading("Cannot tell")
    for one in report["cannot_tell"]:
        about = f" ({escape(one['field'])})" if one["field"] else ""
        text = f"{escape(one['hook'] or 'no hook')}{about}: {escape(one['why'])}"
        print_wrapped(2, ("warn", f"{one['count']:,} "), text)
        shown = [_name_place(place, shorts) for place in one["places"][:_PLACES]]
        more = ", …" if one["count"] > len(shown) else ""
        print_wrapped(4, ("dim", f"{', '.join(shown)}{more}"))


def _name_place(place: Mapping[str, Any], shorts: Shorts) -> str:
    return escape(f"{shorts[Path(place['trail'])]} record {place['sequence']} {place['event']}")


def _print_not_run(report: Report) -> None:
    if not report["not_run"]:
        return
    print_heading("Not run")
    for one in report["not_run"]:
        taken = f"its answers were on record in {one['answers_taken_in']} of {report['sessions']}"
        parts: tuple[Part, ...] = (
            ("tool", escape(one["module"])),
            f": {one['why']}; {taken} sessions",
        )
        print_wrapped(2, *parts)


def _print_times(report: Report) -> None:
    times = {name: one for name, one in report["times"].items() if one["calls"]}
    if not times:
        return
    print_heading("Time of hooks")
    head: list[Cell] = [(("dim", one),) for one in ("hook", "calls", "p50 ms", "p99 ms")]
    rows = [
        [escape(name), f"{one['calls']:,}", *(_write_ms(one[key]) for key in ("p50_ms", "p99_ms"))]
        for name, one in times.items()
    ]
    numbers = [Column(align="right")] * 3
    print_table([head, *rows], Column(overflow="cut end"), *numbers, indent=2)


def _write_ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
