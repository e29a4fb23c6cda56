"""Mounts hooks-shell."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup, Host
from amplifier_hooks.coding_agents.shell_hooks.config import NAME, Config
from amplifier_hooks.coding_agents.shell_hooks.dispatch import Dispatcher
from amplifier_hooks.coding_agents.shell_hooks.scripts import Pins, read_scripts
from amplifier_hooks.coding_agents.shell_hooks.settings import (
    Settings,
    read_settings,
    read_settings_file,
)
from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.machine.files import Snapshot, normalize
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.modules.registration import combine_removals, get_working_dir

logger = logging.getLogger(__name__)

_PREFIX = "amplifier-hooks-shell-"
_FOLLOW_UPS = 2  # a modify, an injection and a question: three answers at most


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Read the hook files and begin to listen."""
    options = parse_config(Config, config, NAME)
    if not options.settings and not options.hooks:
        raise ModuleLoadError(f"{NAME}: give 'settings' (files) or 'hooks' (written here)")
    base = options.find_base(get_working_dir(coordinator))
    snapshot: Snapshot | None = coordinator.get_capability("session.snapshot")
    settings = await asyncio.to_thread(read_all, options, base, snapshot)
    if options.fail_closed and settings.notices:
        reasons = "; ".join(settings.notices)
        raise ModuleLoadError(f"{NAME}: 'fail_closed' is set, and not every hook runs: {reasons}")
    for notice in settings.notices:
        logger.warning("%s: %s", NAME, notice)
    folder = _make_folder(private=snapshot is not None)
    env_file = Path(folder.name) / "env.sh"
    env_file.touch()
    env = {"CLAUDE_ENV_FILE": str(env_file)}
    handlers = settings.handlers
    if snapshot is not None:
        pins = Pins(snapshot, base, Path(folder.name) / "scripts")
        handlers = await asyncio.to_thread(lambda: tuple(map(pins.pin, settings.handlers)))
    dispatcher = Dispatcher(coordinator, options, handlers, settings.notices, env)
    remove = combine_removals(_register(coordinator, options, dispatcher))

    async def cleanup() -> None:
        remove()
        await dispatcher.close()
        folder.cleanup()

    return cleanup


def _make_folder(*, private: bool) -> tempfile.TemporaryDirectory[str]:
    """A folder for this session; a private one lies where no tool of the agent reads or writes."""
    if private:
        with suppress(OSError):  # nowhere to keep anything: then there is no trust to betray either
            place = find_data_home() / "amplifier" / "run"
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            return tempfile.TemporaryDirectory(prefix=_PREFIX, dir=place)
    return tempfile.TemporaryDirectory(prefix=_PREFIX)


def read_all(config: Config, base: Path, snapshot: Snapshot | None = None) -> Settings:
    """The hooks of every file, and those written in the bundle."""
    read = Path.read_bytes if snapshot is None else snapshot.read
    files = find_files(config, base, snapshot)
    found = [read_settings_file(path, config.dialect, read) for path in files]
    if config.hooks:
        # Both `hooks: {PreToolUse: …}` and a whole settings object are understood.
        inner = config.hooks.get("hooks")
        content = config.hooks if isinstance(inner, dict) else {"hooks": config.hooks}
        found.append(read_settings(content, config.dialect, "config"))
    return Settings(
        tuple(handler for settings in found for handler in settings.handlers),
        tuple(notice for settings in found for notice in settings.notices),
    )


def find_files(config: Config, base: Path, snapshot: Snapshot | None = None) -> Iterator[Path]:
    """A plain path must be there; a pattern may find nothing."""
    for pattern in config.settings:
        path = normalize(base / Path(pattern).expanduser())
        if not any(char in pattern for char in "*?["):
            yield path
        elif snapshot is None:
            anchor = Path(path.anchor)
            yield from sorted(anchor.glob(str(path.relative_to(anchor))))
        else:
            yield from sorted(one for one in snapshot.files if match_glob(one, [str(path)]))


def _register(host: Host, options: Config, dispatcher: Dispatcher) -> Iterator[Cleanup]:
    for event, blocks in dispatcher.events.items():
        followers = [dispatcher.make_follower(number) for number in range(_FOLLOW_UPS)]
        for handler in (dispatcher.on_event, *followers):
            yield host.hooks.register(
                event,
                handler,
                priority=options.priority,
                name=NAME,
                on_error="deny" if blocks or options.fail_closed else "continue",
            )


def read_entry_files(config: Mapping[str, Any], folder: Path, snapshot: Snapshot) -> Iterator[Path]:
    """Read the settings and scripts that an entry with these options runs into a snapshot."""
    options = Config.model_validate(config)
    base = options.find_base(folder)
    for path in find_files(options, base):
        if path.is_file():
            snapshot.read(path)
            yield path
    read_scripts(read_all(options, base, snapshot).handlers, base, snapshot)


def list_entry_commands(config: Mapping[str, Any], folder: Path, snapshot: Snapshot) -> list[str]:
    """The command lines and addresses that an entry with these options calls."""
    options = Config.model_validate(config)
    handlers = read_all(options, options.find_base(folder), snapshot).handlers
    return [one.url or " ".join(one.args or (one.command or "",)) for one in handlers]
