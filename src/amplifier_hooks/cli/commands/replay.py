"""amplifier replay: a recorded session through today's hooks."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.audit.options import report_errors
from amplifier_hooks.cli.options import AS_JSON
from amplifier_hooks.cli.text.fragments import Line, count_cells, join_text, wrap_words
from amplifier_hooks.cli.text.output import get_width, print_line, print_wrapped
from amplifier_hooks.text.escape import escape

if TYPE_CHECKING:
    from amplifier_hooks.agent.trust.material import Material
    from amplifier_hooks.insight.replay import Difference, Job, Recording, Replay

EPILOG = """\b
Examples:
  amplifier replay
  amplifier replay 3f2a
  amplifier replay "fix the parser" --bundle stricter.yaml
  amplifier replay 3f2a --json

Exit codes: 0 everything happens as it happened, 1 something differs, 2 wrong usage, or a trail
that cannot be replayed.
"""


@click.command(epilog=EPILOG)
@click.argument("session", required=False)
@click.option(
    "--bundle",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Use this bundle file instead of the one in the folder of the session.",
)
@click.option(
    "--all",
    "keep_going",
    is_flag=True,
    help="Go on after the first difference, as far as the recording has answers. What follows a "
    "difference may differ because of it.",
)
@AS_JSON
@report_errors
def replay(session: str | None, bundle: Path | None, keep_going: bool, as_json: bool) -> int:
    """Run a recorded session through today's hooks, to the first difference.

    SESSION is the start of its id, its name, or the directory of its trail; by default, the latest
    one of this folder. The model says what it said, tools return what they returned, people answer
    what they answered. No model is called, no tool runs, nobody is asked.
    """
    from amplifier_hooks.insight.replay import CannotReplay

    try:
        found = asyncio.run(_replay(_find_trail(session), bundle, keep_going))
    except CannotReplay as error:
        raise click.UsageError(str(error)) from error
    (print_json if as_json else print_replay)(found)
    return exit_codes.DONE if found.status == "identical" else exit_codes.FAILED


def _find_trail(session: str | None) -> Path:
    from amplifier_hooks.cli.commands.audit.options import select

    found = select([session] if session else [])
    if not found:
        raise click.UsageError(
            "No session was recorded in this folder. Name one: amplifier audit list shows all"
        )
    if session and len(found) > 1:
        raise click.UsageError(f"There are {len(found)} trails in {session}; name one of them")
    return found[-1]


async def _replay(trail: Path, bundle: Path | None, keep_going: bool) -> Replay:
    from dataclasses import replace

    from amplifier_hooks.insight.replay import digest_material, launch_replay

    job = await asyncio.to_thread(_make_job, trail, bundle, keep_going)
    material = await asyncio.to_thread(job.load)
    await _require_trust(material)
    return await launch_replay(replace(job, digest=digest_material(material)))


def _make_job(trail: Path, bundle: Path | None, keep_going: bool) -> Job:
    from amplifier_hooks.insight.replay import Job, read_recording

    recording = read_recording(trail)
    folder = _find_folder(recording, bundle)
    file = _find_bundle(recording, folder) if bundle is None else bundle.absolute()
    return Job(
        trail=str(trail.absolute()),
        folder=str(folder.absolute()),
        bundle="" if file is None else str(file),
        keep_going=keep_going,
        recorded=recording.header.bundle_digest,
    )


def _find_folder(recording: Recording, bundle: Path | None) -> Path:
    """Where today's bundle is looked for: where the session worked, if that is still there."""
    recorded = Path(recording.header.folder or ".")
    return Path.cwd() if bundle is not None or not recorded.is_dir() else recorded


def _find_bundle(recording: Recording, folder: Path) -> Path | None:
    """The file that the session was started with, where it is none that is found by itself."""
    from amplifier_hooks.agent.bundles.load import find_user_candidate, list_project_candidates

    file = Path(recording.header.bundle_file or "/")
    found = (*list_project_candidates(folder), find_user_candidate(os.environ))
    return file if file.is_file() and file not in found else None


async def _require_trust(material: Material) -> None:
    """A person must have trusted what is run."""
    from amplifier_hooks.agent.trust.store import TrustStore
    from amplifier_hooks.cli.approval.trust_question import require_trust

    await require_trust(material, TrustStore(), ask=False)


_LONGEST = 600
"""Characters of one value; the rest is in --json."""
_MOST_DOUBTS = 5
_NARROW = 70
"""Columns below which the two ways stand below one another."""


def print_replay(found: Replay) -> None:
    """Say whether everything happened again, and show where it did not."""
    if found.status == "identical":
        print_wrapped(0, ("good", "✓ "), f"identical: {_count(found)}")
    else:
        print_wrapped(0, ("bad", "✗ "), f"differs after {_count(found)}")
    for difference in found.differences:
        _print_difference(difference)
    if found.differences:
        print_line("")
        print_wrapped(0, ("dim", _say_what_follows(found)))
    _print_remarks(found)


def _say_what_follows(found: Replay) -> str:
    if len(found.differences) > 1:
        return "What follows the first difference may differ because of it."
    return "What would have come after it, nobody knows: a replay stops here."


def _count(found: Replay) -> str:
    totals = found.totals
    parts = ((totals.events, "event"), (totals.calls, "call"), (totals.questions, "question"))
    return ", ".join(f"{number} {name}{'s' * (number != 1)}" for number, name in parts)


def _print_remarks(found: Replay) -> None:
    if found.broken_off:
        print_wrapped(
            0, ("warn", "! "), "The recording breaks off: its process ended without a word."
        )
    _print_doubts(found.totals.doubtful)
    for module, why in found.not_run.items():
        text = f"{module} did not run, because {why}: what it had answered stands for it."
        print_wrapped(0, ("dim", "· "), ("dim", escape(text)))
    if not found.walled:
        text = "This machine has no sandbox: hooks of your own could have written and sent."
        print_wrapped(0, ("warn", "! "), text)


def _print_doubts(doubtful: list[str]) -> None:
    for doubt in doubtful[:_MOST_DOUBTS]:
        print_wrapped(0, ("warn", "! "), f"not compared fully: {escape(doubt)}")
    if (more := len(doubtful) - _MOST_DOUBTS) > 0:
        records = "record" if more == 1 else "records"
        print_wrapped(0, ("warn", "! "), f"and {more} more {records}; --json lists all of them")


def _print_difference(difference: Difference) -> None:
    place = "at the end" if difference.sequence is None else f"record {difference.sequence}"
    turn = f", turn {difference.turn}" if difference.turn else ""
    print_line("")
    print_wrapped(0, ("title", f"{escape(difference.what)} ({place}{turn})"))
    if difference.about is not None:
        print_wrapped(2, _write(difference.about))
    print_wrapped(2, ("dim", _explain(difference)))
    for doubt in difference.doubts:
        print_wrapped(2, ("warn", "! "), f"cannot be told for certain: {escape(doubt)}")
    print_line("")
    rows = [(one.field, _write(one.then), _write(one.now)) for one in difference.changes]
    _print_ways([("", "then", "now"), *rows])


def _explain(difference: Difference) -> str:
    if difference.kind == "only now":
        return f"This did not happen then. What came then was: {escape(difference.expected)}."
    if difference.kind == "only then":
        return "This happened then and does not happen now."
    return "This happens in another way than it did."


def _write(value: Any) -> str:
    if value is None:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = escape(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _print_ways(rows: list[tuple[str, str, str]]) -> None:
    """Two columns side by side, each as wide as the other."""
    width = get_width() - 1
    if width < _NARROW:
        for name, then, now in rows[1:]:
            print_wrapped(2, ("title", escape(name)))
            print_wrapped(4, ("dim", "then "), then)
            print_wrapped(4, ("dim", "now  "), now)
        return
    first = max(count_cells(escape(name)) for name, _, _ in rows) + 2
    first = min(first, width // 3)
    room = (width - 2 - first) // 2 - 2
    for index, (name, then, now) in enumerate(rows):
        style = "dim" if index == 0 else ""
        columns = (
            _wrap("title", escape(name), first - 2),
            _wrap(style, then, room),
            _wrap(style, now, room),
        )
        for row in range(max(map(len, columns))):
            _print_row(columns, row, (first, room + 2))


def _wrap(style: str, text: str, room: int) -> list[Line]:
    return [tuple(line) for line in wrap_words(((style, text),), room)] or [()]


def _print_row(columns: tuple[list[Line], ...], row: int, widths: tuple[int, int]) -> None:
    cells = [column[row] if row < len(column) else () for column in columns]
    parts: list[tuple[str, str]] = []
    for cell, width in zip(cells[:2], widths, strict=True):
        parts += [*cell, ("", " " * (width - count_cells(join_text(cell))))]
    print_line("  ", *parts, *cells[2])


def print_json(found: Replay) -> None:
    """The same for programs; two runs print the same."""
    totals = found.totals
    facts = {
        "version": 1,
        "session": found.session,
        "status": found.status,
        "events": totals.events,
        "calls": totals.calls,
        "questions": totals.questions,
        "injections": totals.injections,
        "broken_off": found.broken_off,
        "not_compared_fully": totals.doubtful,
        "not_run": found.not_run,
        "sandboxed": found.walled,
        "differences": [_to_dict(one) for one in found.differences],
    }
    click.echo(json.dumps(facts, indent=2, ensure_ascii=False))


def _to_dict(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "what": difference.what,
        "session": difference.session,
        "record": difference.sequence,
        "time": difference.time,
        "turn": difference.turn,
        "about": difference.about,
        "expected": difference.expected,
        "doubts": list(difference.doubts),
        "changes": [
            {"field": one.field, "then": one.then, "now": one.now} for one in difference.changes
        ],
    }
