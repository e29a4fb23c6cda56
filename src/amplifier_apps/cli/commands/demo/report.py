"""What the demonstration came to: read back from its trail and its files, nothing assumed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_apps.cli.commands.demo.story import AFTER, BEFORE, PRODUCTION, SECRET
from amplifier_apps.cli.text import paper

WORDS = {
    "deny": "denied",
    "ask_user": "asked the person",
    "inject_context": "told the agent",
    "modify": "changed what went through",
}
NEXT = (
    ("amplifier init", "a commented bundle and a first hook of your own"),
    ("amplifier hooks list", "which hooks run, in which order"),
    ("amplifier chat", "talk with a real model (ANTHROPIC_API_KEY or OPENAI_API_KEY)"),
    ("amplifier demo --keep", "and then: amplifier audit show FOLDER"),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that was checked on disk."""

    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class Checked:
    """Everything the report says."""

    hooks: dict[str, Counter[str]]
    facts: tuple[Fact, ...]
    trail: Path


def check(folder: Path, session_id: str) -> Checked:
    """Look at the files and the trail."""
    trail = folder / "audit" / session_id
    return Checked(_hooks(trail), tuple(_facts(folder, trail)), trail)


def _hooks(trail: Path) -> dict[str, Counter[str]]:
    """Each hook's answers, as the trail has them."""
    from amplifier_audit import open_log, read_records
    from amplifier_audit.reader.queries import list_answers

    found: dict[str, Counter[str]] = {}
    for record in read_records(open_log(trail)):
        for answer in list_answers(record):
            if answer.get("action") in WORDS:
                found.setdefault(str(answer.get("hook")), Counter())[str(answer["action"])] += 1
    return found


def _facts(folder: Path, trail: Path) -> list[Fact]:
    project = folder / "project"
    return [
        _clean(project / "greeting.py"),
        _no_secret(folder, trail),
        _production(project / PRODUCTION),
        _proven(folder, trail),
    ]


def ruff() -> str | None:
    """The linter, on the path or beside this Python."""
    return shutil.which("ruff") or shutil.which("ruff", path=str(Path(sys.executable).parent))


def _clean(path: Path) -> Fact:
    linter = ruff()
    if linter is None:
        return Fact(path.exists(), f"{path.name} was written; there is no ruff to lint it")
    command = [linter, "check", "--quiet", "--no-cache", "--isolated", str(path)]
    clean = subprocess.run(command, check=False, capture_output=True).returncode == 0
    text = "the lint error was found and fixed in the same turn"
    return Fact(clean, f"{path.name} is clean: {text}" if clean else f"{path.name} has lint errors")


def _no_secret(folder: Path, trail: Path) -> Fact:
    files = [folder / "transcript.json", *(one for one in trail.rglob("*") if one.is_file())]
    leaks = [one.name for one in files if SECRET.encode() in one.read_bytes()]
    if leaks:
        return Fact(False, f"the key from notes.txt is in {', '.join(leaks)}")
    return Fact(True, f"the key from notes.txt is in no transcript or trail ({len(files)} files)")


def _production(path: Path) -> Fact:
    text = path.read_text(encoding="utf-8")
    outcome = {AFTER: "was written, as allowed", BEFORE: "is untouched: the write was refused"}
    return Fact(text in outcome, f"{PRODUCTION} {outcome.get(text, 'has an unexpected content')}")


def _proven(folder: Path, trail: Path) -> Fact:
    """Verify the trail against the checkpoints that were kept outside it."""
    from amplifier_audit import verify

    report = verify(trail, anchors=_anchors(folder), key=_verifier(folder))
    signed = "signed " if report.signed else ""
    if report.verdict == "proven":
        detail = f"proven to {report.proven_to} by a {signed}checkpoint kept outside"
    else:
        detail = report.verdict
    return Fact(report.verdict == "proven", f"audit trail: {report.size} records, {detail}")


def _anchors(folder: Path) -> list[Any]:
    from amplifier_audit import parse_notes

    path = folder / "outside" / "checkpoints"
    return list(parse_notes(path.read_text(encoding="utf-8"))) if path.exists() else []


def _verifier(folder: Path) -> Any:
    from amplifier_audit import load_verifier

    key = folder / "outside" / "audit.key"
    return load_verifier(str(key)) if key.exists() else None


def tell(checked: Checked, kept: Path | None) -> None:
    """The summary, on one screen."""
    paper.heading("What the hooks did")
    rows = [(hook, _told(answers)) for hook, answers in checked.hooks.items()]
    paper.table(rows, ("tool",), indent=2)
    paper.heading("Checked afterwards")
    for fact in checked.facts:
        paper.say("  ", ("good", "✓ ") if fact.holds else ("bad", "✗ "), fact.text)
    if kept is not None:
        paper.say(("dim", f"  kept in {kept}; trail: amplifier audit show {checked.trail}"))
    paper.heading("Try next")
    paper.table(NEXT, ("tool", "dim"), indent=2)


def _told(answers: Counter[str]) -> str:
    parts = [f"{WORDS[action]} {_times(count)}" for action, count in answers.items()]
    return ", ".join(parts)


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"
