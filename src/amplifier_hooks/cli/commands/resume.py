"""Going on with a saved session: in its own folder, with its own bundle, saying what changed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amplifier_core.errors import AmplifierError, SessionStateError
from amplifier_hooks.agent.bundles.load import list_project_candidates
from amplifier_hooks.agent.trust.comparison import compare_outlines, describe, select
from amplifier_hooks.cli.person import confirm, is_at_terminal

if TYPE_CHECKING:
    from amplifier_hooks.agent.session.saved_sessions import SavedSession, SessionStore
    from amplifier_hooks.agent.trust.material import Material

LAST_LINES = 20
"""Lines of the last answer that are shown."""
_PROMPT_LINES = 3


@dataclass(frozen=True, slots=True)
class Resumption:
    """A session to go on with, the bundle it uses, and what the person should know."""

    saved: SavedSession | None = None
    bundle: Path | None = None
    moved_to: Path | None = None


async def prepare_resume(
    store: SessionStore, wanted: str | None, bundle: Path | None
) -> Resumption:
    """Load the session and enter its folder; without its folder or bundle, a person decides.

    A bundle that was named is used, whatever the session had.
    """
    if wanted is None:
        return Resumption(bundle=bundle)
    return _enter(await asyncio.to_thread(_load, store, wanted), bundle)


def _load(store: SessionStore, wanted: str) -> SavedSession:
    from amplifier_hooks.agent.session.inspection.trails import find_saved

    return store.load(find_saved(store, wanted).id)


def _enter(saved: SavedSession, bundle: Path | None) -> Resumption:
    named = None if bundle is None else bundle.absolute()
    folder = _choose_folder(saved, named)
    if folder is not None:
        os.chdir(folder)
    return Resumption(saved, named or _choose_bundle(saved), folder)


def _choose_folder(saved: SavedSession, named: Path | None) -> Path | None:
    """The folder to go to; None to stay here."""
    own = saved.info.working_dir
    if not own or Path(own) == Path.cwd():
        return None
    if Path(own).is_dir():
        return Path(own)
    if named is None:
        _require_yes(
            f"The folder of this session is gone: {own}",
            f"go on here, in {Path.cwd()}, with the bundle of this folder",
        )
    return None


def _choose_bundle(saved: SavedSession) -> Path | None:
    """The bundle that the session had; None for the one that the folder has anyway."""
    own = saved.info.bundle
    if not own:
        return None
    path = Path(own)
    usual = list_project_candidates(Path.cwd())
    if path.is_file():
        return None if path in usual else path
    left = next((one for one in usual if one.is_file()), None)
    instead = f"with {left}" if left else "with the packaged bundle"
    _require_yes(f"The bundle of this session is gone: {own}", f"go on {instead}")
    return None


def _require_yes(what: str, instead: str) -> None:
    """Ask the person at the terminal; where there is nobody, the session does not go on."""
    if not is_at_terminal(sys.stderr):
        raise SessionStateError(f"{what}. To {instead}, name a bundle with --bundle.")
    click.echo(f"{what}.", err=True)
    if not confirm(f"{instead[0].upper()}{instead[1:]}?", "--bundle", err=True):
        raise SessionStateError("Nothing was run; the session is unchanged.")


# What changed since


def list_news(resumption: Resumption, material: Material) -> Iterator[tuple[str, str]]:
    """What the person should know before the session goes on, each with its level."""
    from amplifier_hooks.cli.text.output import shorten_folder

    if resumption.moved_to is not None:
        folder = shorten_folder(str(resumption.moved_to))
        yield f"This session belongs to {folder} and continues there.", "info"
    if resumption.saved and (change := describe_changes(resumption.saved, material)):
        yield change


def mark_plan(material: Material) -> dict[str, Any]:
    """What a bundle holds, to be saved and compared: no option's value, so no secret either."""
    files = {entry.module: material.digest_entry(entry) for entry in material.hooks}
    return {"outline": material.outline, "files": files}


def name_bundle(material: Material) -> str:
    """The file of a bundle, to be found again; empty for the packaged one."""
    from amplifier_hooks.agent.session.origin import find_origin

    return find_origin(material.bundle, material.folder).file


def describe_changes(saved: SavedSession, material: Material) -> tuple[str, str] | None:
    """What is different since the session was saved, and how bad that is; None if nothing is."""
    if not saved.plan:
        return None
    try:
        return _compare(saved.plan, mark_plan(material), _describe_time(saved.info.updated))
    except (AmplifierError, LookupError, TypeError, ValueError, AttributeError):
        return "What the bundle held when this session was saved cannot be read.", "warning"


def _compare(
    before: Mapping[str, Any], after: Mapping[str, Any], when: str
) -> tuple[str, str] | None:
    old = _leave_out_models(before["outline"])
    new = _leave_out_models(after["outline"])
    files = after["files"]
    changed = {key for key, digest in before["files"].items() if files.get(key, digest) != digest}
    if old == new and not changed:
        return None
    found = compare_outlines(old, new, changed)
    if not found and old.get("form") != new.get("form"):
        return None
    change = f"The bundle has changed since this session was saved{when}."
    level = "warning" if select(found, "weaker", "different") else "info"
    details = describe(found)
    return "\n".join([change, *details]) if details else f"{change} Its guards are the same.", level


def _leave_out_models(outline: Mapping[str, Any]) -> dict[str, Any]:
    """Which model answers is chosen anew each time, and guards nothing."""
    return {key: value for key, value in outline.items() if key != "providers"}


def _describe_time(when: str) -> str:
    try:
        return f" on {datetime.fromisoformat(when).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return ""


# What was said last


def find_last_exchange(state: Mapping[str, Any]) -> tuple[str, str]:
    """The last prompt of the person and the last answer to it; either may be empty."""
    from amplifier_hooks.cli.display.narration import join_blocks

    prompt = answer = ""
    found = state.get("messages")
    for message in found if isinstance(found, list) else ():
        if not isinstance(message, Mapping):
            continue
        text = join_blocks(message.get("content")).strip()
        if message.get("role") == "user" and text:
            prompt = text
            answer = ""
        elif message.get("role") == "assistant" and text:
            answer = text
    return prompt, answer


def show_last_exchange(saved: SavedSession | None) -> None:
    """Print the end of the conversation for a person at a terminal."""
    from amplifier_hooks.cli.text.output import is_terminal, print_line, print_wrapped

    if saved is None or not (is_terminal() and sys.stdin.isatty()):
        return
    prompt, answer = find_last_exchange(saved.state)
    for number, line in enumerate(_shorten(prompt, _PROMPT_LINES, from_end=False)):
        print_wrapped(0, ("prompt", "› " if number == 0 else "  "), ("title", line))
    for line in _shorten(answer, LAST_LINES, from_end=True):
        print_wrapped(0, ("", line))
    if prompt or answer:
        print_line("")


def _shorten(text: str, most: int, *, from_end: bool) -> list[str]:
    """Lines of a foreign text, harmless; those that do not fit are counted."""
    from amplifier_hooks.text.escape import make_readable

    lines = make_readable(text).split("\n") if text else []
    more = len(lines) - most
    if more <= 0:
        return lines
    left_out = f"… {more} more line{'s' * (more != 1)}"
    return [left_out, *lines[-most:]] if from_end else [*lines[:most], left_out]
