"""The report of the demonstration: read back from its trail and its files, nothing assumed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amplifier_hooks.cli.commands.demo.comparison import Row, compare_files
from amplifier_hooks.cli.commands.demo.story import AFTER, BEFORE, PRODUCTION, SECRET
from amplifier_hooks.cli.program_name import name_program, quote
from amplifier_hooks.cli.text.escape import escape
from amplifier_hooks.cli.text.output import print_heading, print_wrapped
from amplifier_hooks.cli.text.table import Column, print_table

if TYPE_CHECKING:
    from amplifier_audit import Note

WORDS = {
    "deny": "denied",
    "ask_user": "asked the person",
    "inject_context": "told the agent",
    "modify": "changed what went through",
}
NEXT = (
    ("init --offline my-agent", "a bundle and a first hook of your own; needs no key"),
    ("demo --keep", "the same, with its files and its trail to look at"),
    ("events tool:pre", "what a hook is told before a tool runs, and what it can do"),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that was checked on disk."""

    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class Results:
    """Everything the report says."""

    hooks: dict[str, Counter[str]]
    facts: tuple[Fact, ...]
    trail: Path
    comparison: tuple[Row, ...] = ()

    @property
    def all_hold(self) -> bool:
        """Whether every fact holds."""
        return all(fact.holds for fact in self.facts)


def check_results(folder: Path, session_id: str) -> Results:
    """Look at the files and the trail."""
    trail = folder / "audit" / session_id
    facts = _check_facts(folder, trail)
    return Results(_count_answers(trail), facts, trail, compare_files(folder))


def _count_answers(trail: Path) -> dict[str, Counter[str]]:
    """Each hook's answers, as the trail has them."""
    from amplifier_hooks.insight.counting import recount
    from amplifier_hooks.trails import read_history

    found = {
        name: Counter({**counts.answers, "ask_user": counts.asked})
        for name, counts in recount(read_history(trail)).items()
    }
    return {name: +answers for name, answers in found.items() if answers.total()}


def _check_facts(folder: Path, trail: Path) -> tuple[Fact, ...]:
    project = folder / "project"
    return (
        _check_lint(project / "greeting.py"),
        _check_secret(folder, trail),
        _check_production(project / PRODUCTION),
        _check_trail(folder, trail),
    )


def find_ruff() -> str | None:
    """The linter, on the path or beside this Python."""
    return shutil.which("ruff") or shutil.which("ruff", path=str(Path(sys.executable).parent))


def _check_lint(path: Path) -> Fact:
    linter = find_ruff()
    if linter is None:
        return Fact(path.exists(), f"{path.name} was written; there is no ruff to lint it")
    command = [linter, "check", "--quiet", "--no-cache", "--isolated", str(path)]
    clean = subprocess.run(command, check=False, capture_output=True).returncode == 0
    text = "the lint error was found and fixed in the same turn"
    return Fact(clean, f"{path.name} is clean: {text}" if clean else f"{path.name} has lint errors")


def _check_secret(folder: Path, trail: Path) -> Fact:
    files = [folder / "transcript.json", *(one for one in trail.rglob("*") if one.is_file())]
    leaks = [one.name for one in files if SECRET.encode() in one.read_bytes()]
    if leaks:
        return Fact(False, f"the key from notes.txt is in {', '.join(leaks)}")
    return Fact(True, f"the key from notes.txt is in no transcript or trail ({len(files)} files)")


def _check_production(path: Path) -> Fact:
    text = path.read_text(encoding="utf-8")
    outcome = {AFTER: "was written, as allowed", BEFORE: "is untouched: the write was refused"}
    return Fact(text in outcome, f"{PRODUCTION} {outcome.get(text, 'has an unexpected content')}")


def _check_trail(folder: Path, trail: Path) -> Fact:
    """Verify the trail against the checkpoints that were kept outside it."""
    from amplifier_audit import verify

    report = verify(trail, anchors=_read_anchors(folder), key=_load_key(folder))
    signed = "signed " if report.signed else ""
    if report.verdict == "proven":
        detail = f"proven to {report.proven_to} by a {signed}checkpoint kept outside"
    else:
        detail = report.verdict
    return Fact(report.verdict == "proven", f"audit trail: {report.size} records, {detail}")


def _read_anchors(folder: Path) -> list[Note]:
    from amplifier_audit import read_checkpoints

    path = folder / "outside" / "checkpoints"
    return read_checkpoints(path) if path.exists() else []


def _load_key(folder: Path) -> Any:
    from amplifier_audit import load_verifier

    key = folder / "outside" / "audit.key"
    return load_verifier(str(key)) if key.exists() else None


def print_report(results: Results, kept: Path | None) -> None:
    """Print the summary, on one screen; `kept` is the folder, if it stays."""
    print_heading("What the hooks did")
    rows = [(escape(hook), _describe(answers)) for hook, answers in results.hooks.items()]
    print_table(rows, Column("tool"), Column(), indent=2)
    print_heading("Before and after")
    print_table(results.comparison, Column("dim"), Column(), indent=2)
    print_heading("Checked afterwards")
    for fact in results.facts:
        print_wrapped(2, ("good", "✓ ") if fact.holds else ("bad", "✗ "), fact.text)
    _print_next(results.trail, kept)


def _print_next(trail: Path, kept: Path | None) -> None:
    """Commands that can be pasted where the person stands."""
    program = name_program()
    print_heading("Try next")
    if kept is not None:
        print_wrapped(2, ("tool", f"{program} audit show {quote(str(trail))}"))
    rows = [(f"{program} {arguments}", remark) for arguments, remark in NEXT]
    print_table(rows, Column("tool"), Column("dim"), indent=2)
    if kept is not None:
        print_wrapped(2, ("dim", f"Everything is kept in {kept}"))


def _describe(answers: Counter[str]) -> str:
    return ", ".join(f"{WORDS[action]} {_count(times)}" for action, times in answers.items())


def _count(times: int) -> str:
    return "once" if times == 1 else "twice" if times == 2 else f"{times} times"
