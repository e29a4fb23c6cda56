"""amplifier replay: a recorded session runs again, through today's hooks."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.audit.options import report_errors
from amplifier_hooks.cli.options import AS_JSON

if TYPE_CHECKING:
    from amplifier_hooks.agent.trust.material import Material
    from amplifier_hooks.insight.replay import Job, Recording, Replay

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
    from amplifier_hooks.cli.commands.replay.text import print_json, print_replay
    from amplifier_hooks.insight.replay import CannotReplay

    try:
        found = asyncio.run(_replay(_find_trail(session), bundle, keep_going))
    except CannotReplay as error:
        raise click.UsageError(str(error)) from error
    (print_json if as_json else print_replay)(found)
    return exit_codes.DONE if found.status == "identical" else exit_codes.FAILED


def _find_trail(session: str | None) -> Path:
    from amplifier_hooks.cli.commands.audit.trails import select

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
