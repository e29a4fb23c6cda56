"""A guard in front of one agent: put up with everything it needs, and taken down again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from amplifier_foundation.guests.client.client import VERSION
from amplifier_foundation.guests.installing.agents import AGENTS, Options
from amplifier_foundation.guests.installing.codex.server import CodexError, CodexHook
from amplifier_foundation.guests.installing.codex.trust import (
    CodexTrust,
    build_key,
    find_program,
    normalize_key,
    remove_trust,
)
from amplifier_foundation.guests.installing.editing.document import find_position
from amplifier_foundation.guests.installing.installation import (
    Change,
    Target,
    install,
    list_ours,
    remove,
)
from amplifier_foundation.guests.installing.line import make_guest_command
from amplifier_foundation.guests.installing.record import Records
from amplifier_foundation.guests.installing.runtime import (
    clear_runtime,
    lock_runtime,
    prepare_runtime,
)
from amplifier_foundation.guests.installing.settings_file import SettingsError, read_settings


@dataclass(frozen=True, slots=True)
class Wish:
    """How a guard is to be."""

    bundle: Path | None = None
    http: bool = False
    every_event: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, and what is left to do for a person."""

    change: Change
    events: tuple[str, ...] = ()
    untrusted: str = ""
    """Why Codex does not run our hooks yet, or still knows them; else empty."""


def put_up(target: Target, wish: Wish) -> Outcome:
    """Install the guard, or change it to what is wanted. SettingsError if that cannot be done."""
    with lock_runtime():
        return _put_up(target, wish, Records())


def _put_up(target: Target, wish: Wish, records: Records) -> Outcome:
    folder, door = prepare_runtime(http=wish.http)
    options = Options(make_guest_command(folder), wish.bundle, wish.every_event, door)
    try:
        change = install(target, options, records, VERSION)
    except BaseException:
        clear_runtime(records)
        raise
    clear_runtime(records)  # HTTP, if this was the last one that used it
    untrusted = _give_codex_trust(target, records) if target.agent == "codex" else ""
    events = AGENTS[target.agent].list_events(every_event=wish.every_event)
    return Outcome(change, tuple(events), untrusted)


def take_down(target: Target) -> Outcome:
    """Remove the guard and everything that was only there for it."""
    records = Records()
    with lock_runtime():
        keys = _list_codex_keys(target) if target.agent == "codex" else []
        change = remove(target, records)
        left = _remove_codex_trust(keys, records) if keys else ""
        clear_runtime(records)
    return Outcome(change, untrusted=left)


def explain_distrust(hooks: list[CodexHook], target: Target) -> str:
    """Why Codex skips hooks of ours; empty if it runs them all."""
    again = f"amplifier guard codex --{target.scope}"
    if not hooks and target.scope == "project":
        return (
            f"Codex reads no hooks in {target.root} before you trust that folder: start codex "
            f"there, say yes, and run: {again}"
        )
    run = {normalize_key(one.key) for one in hooks if one.trust == "trusted" and one.enabled}
    missing = [key for key in _list_codex_keys(target) if normalize_key(key) not in run]
    if not missing:
        return ""
    return (
        f"Codex skips {len(missing)} of our hooks: they have changed, another one was put before "
        f"them, or somebody has switched them off. To have them trusted: {again}"
    )


def _give_codex_trust(target: Target, records: Records) -> str:
    by_hand = "start codex, type /hooks and trust them, or else Codex skips them"
    program = find_program()
    if program is None:
        return f"There is no codex on the PATH to trust our hooks with: {by_hand}"
    try:
        hooks = CodexTrust(target.path, target.root, program).give(records)
    except CodexError as error:
        return f"{error}: {by_hand}"
    return explain_distrust(hooks, target)


def _remove_codex_trust(keys: list[str], records: Records) -> str:
    """Why the trust could not be removed; empty if it was."""
    try:
        remove_trust(keys, records)
    except SettingsError as error:
        return str(error)
    return ""


def _list_codex_keys(target: Target) -> list[str]:
    text, form = read_settings(target.path).text, AGENTS["codex"].form
    found = []
    for event in list_ours(target):
        position = find_position(text, event, form)
        found += [] if position is None else [build_key(target.path, event, position)]
    return found
