"""A guard in front of one agent: put up with everything it needs, and taken down again."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.coding_agents.client.client import VERSION
from amplifier_hooks.coding_agents.client.launch import NAME, read_launch
from amplifier_hooks.coding_agents.daemon.control import stop_resident
from amplifier_hooks.coding_agents.daemon.folder import (
    LOG,
    RUNNING_LOCK,
    SOCKET,
    HttpPort,
    choose_folder,
    choose_port,
    write_launch,
)
from amplifier_hooks.coding_agents.installing.agents import (
    AGENTS,
    Options,
    ask_version,
    find_program,
)
from amplifier_hooks.coding_agents.installing.codex_trust import (
    TRUST,
    CodexError,
    CodexHook,
    CodexTrust,
    build_key,
    normalize_key,
    remove_trust,
)
from amplifier_hooks.coding_agents.installing.document import find_position
from amplifier_hooks.coding_agents.installing.installation import (
    Change,
    Target,
    install,
    list_ours,
    remove,
)
from amplifier_hooks.coding_agents.installing.line import OWN_FOLDER, make_guest_command
from amplifier_hooks.coding_agents.installing.places import Scope
from amplifier_hooks.coding_agents.installing.record import Record, Records
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError, read_settings
from amplifier_hooks.coding_agents.installing.switches import list_switch_files
from amplifier_hooks.coding_agents.installing.system import (
    act_for_all,
    clear_system,
    open_system_records,
    write_system_launch,
)
from amplifier_hooks.machine.locations import find_data_home

_START_LOCK = "start.lock"


@contextlib.contextmanager
def lock_runtime() -> Iterator[None]:
    """Keep others from installing or removing a guard at the same time.

    The lock is on a folder, so that no file of it is left behind.
    """
    folder = find_data_home() / "amplifier"
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def list_installed(records: Records) -> list[Record]:
    """The settings files that we are in; those of projects that are gone do not count."""
    return [one for one in records.list() if one.scope != TRUST and _is_there(one)]


def _is_there(record: Record) -> bool:
    scope: Scope = "project" if record.scope == "project" else "user"
    target = Target(record.agent, scope, Path(record.root))
    try:
        return str(target.path) != record.path or bool(list_ours(target))
    except SettingsError:
        return True  # nobody knows


def prepare_runtime(*, http: bool) -> tuple[Path, HttpPort | None]:
    """Say how to start the resident process; its folder, and where it speaks HTTP.

    It goes on to speak HTTP where another installation needs that.
    """
    folder = choose_folder()
    door = _find_door(folder)
    if http and door is None:
        door = choose_port()
    write_launch(folder, os.environ, http=door)
    return folder, door if http else None


def clear_runtime(records: Records) -> bool:
    """Remove what no installation needs any more; whether that was everything."""
    folder = choose_folder()
    left = list_installed(records)
    if not folder.is_dir():
        return not left
    if left:
        if _find_door(folder) is not None and not any(one.http for one in left):
            write_launch(folder, os.environ)
        return False
    # A client that is under way finds no socket, no launch file, and blocks.
    with contextlib.suppress(OSError, ValueError, TimeoutError):
        stop_resident(folder)
    for name in (NAME, SOCKET, _START_LOCK, RUNNING_LOCK, LOG, f"{LOG}.1"):
        (folder / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # other data may be there
        folder.rmdir()
        folder.parent.rmdir()
    return True


def _find_door(folder: Path) -> HttpPort | None:
    try:
        http = read_launch(os.fsencode(folder)).http
        return None if http is None else HttpPort(int(http["port"]), str(http["token"]))
    except (ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class GuardOptions:
    """How a guard is to be."""

    bundle: Path | None = None
    http: bool = False
    every_event: bool = False
    managed_only: bool = False
    """For the whole machine: no hooks and mods of anybody else."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, and what is left to do for a person."""

    change: Change
    events: tuple[str, ...] = ()
    untrusted: str = ""
    """Why Codex does not run our hooks yet, or still knows them; else empty."""
    version: str = ""
    """Of the agent; empty if it does not say."""


def install_guard(target: Target, wish: GuardOptions) -> Outcome:
    """Install the guard, or change it to what is wanted. SettingsError if that cannot be done."""
    program = find_program(AGENTS[target.agent].programs, target.root)
    version = ask_version(program) if program is not None else ""
    if target.scope == "system":
        return _install_for_all(target, wish, version)
    with lock_runtime():
        return _install(target, wish, Records(), version)


def _install_for_all(target: Target, wish: GuardOptions, version: str) -> Outcome:
    records = open_system_records()
    with act_for_all(target.agent):
        options = Options(
            make_guest_command(OWN_FOLDER),
            wish.bundle,
            wish.every_event,
            version=version,
            system=True,
            managed_only=wish.managed_only,
            label=write_system_launch(os.environ),
        )
        try:
            change = install(target, options, records, VERSION)
        except BaseException:
            clear_system(records)
            raise
    return _make_outcome(target, change, options)


def _make_outcome(target: Target, change: Change, options: Options, left: str = "") -> Outcome:
    events = AGENTS[target.agent].list_events(
        every_event=options.every_event, version=options.version
    )
    return Outcome(change, tuple(events), left, options.version or "")


def _install(target: Target, wish: GuardOptions, records: Records, version: str) -> Outcome:
    folder, door = prepare_runtime(http=wish.http)
    command = make_guest_command(folder)
    options = Options(command, wish.bundle, wish.every_event, door, version=version)
    try:
        change = install(target, options, records, VERSION)
    except BaseException:
        clear_runtime(records)
        raise
    clear_runtime(records)  # HTTP, if this was the last one that used it
    _accept_switches(target, records)
    untrusted = _give_codex_trust(target, records) if target.agent == "codex" else ""
    return _make_outcome(target, change, options, untrusted)


def _accept_switches(target: Target, records: Records) -> None:
    """Remember which switches a person is shown by this: open sessions go on with them."""
    for file in list_switch_files(target.agent, target.root):
        if file.scope != "system" and file.read():
            content = read_settings(file.path).content
            if content is not None:
                records.accept(file.path, content)


def _forget_switches(target: Target, records: Records) -> None:
    for file in list_switch_files(target.agent, target.root):
        records.forget_accepted(file.path)


def remove_guard(target: Target) -> Outcome:
    """Remove the guard and everything that was only there for it."""
    if target.scope == "system":
        records = open_system_records()
        with act_for_all(target.agent):
            change = remove(target, records)
            clear_system(records)
        return Outcome(change)
    records = Records()
    with lock_runtime():
        keys = _list_codex_keys(target) if target.agent == "codex" else []
        change = remove(target, records)
        left = _remove_codex_trust(keys, records) if keys else ""
        _forget_switches(target, records)
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
    program = find_program(AGENTS["codex"].programs, target.root)
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
    text = read_settings(target.path).text
    form = AGENTS["codex"].form
    found = []
    for event in list_ours(target):
        position = find_position(text, event, form)
        found += [] if position is None else [build_key(target.path, event, position)]
    return found
