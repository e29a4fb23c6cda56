"""Mounts hooks-shell."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup, Host
from amplifier_foundation.hooks.shell.config import NAME, Config
from amplifier_foundation.hooks.shell.dispatch import Dispatcher
from amplifier_foundation.hooks.shell.settings import Settings, read_settings, read_settings_file
from amplifier_foundation.modules.options import parse_config
from amplifier_foundation.modules.subscription import combine_removals, get_working_dir

logger = logging.getLogger(__name__)

_FOLLOW_UPS = 2  # a modify, an injection and a question: three answers at most


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Read the hook files and begin to listen."""
    options = parse_config(Config, config, NAME)
    if not options.settings and not options.hooks:
        raise ModuleLoadError(f"{NAME}: give 'settings' (files) or 'hooks' (written here)")
    base = options.project_dir or get_working_dir(coordinator)
    settings = await asyncio.to_thread(_read_all, options, Path(base))
    for notice in settings.notices:
        logger.warning("%s: %s", NAME, notice)
    folder = tempfile.TemporaryDirectory(prefix="amplifier-hooks-shell-")
    env_file = Path(folder.name) / "env.sh"
    env_file.touch()
    env = {"CLAUDE_ENV_FILE": str(env_file)}
    dispatcher = Dispatcher(coordinator, options, settings.handlers, settings.notices, env)
    remove = combine_removals(_register(coordinator, options, dispatcher))

    async def cleanup() -> None:
        remove()
        await dispatcher.close()
        folder.cleanup()

    return cleanup


def _read_all(config: Config, base: Path) -> Settings:
    """The hooks of every file, and those written in the bundle."""
    base = base.expanduser().absolute()
    found = [read_settings_file(path, config.dialect) for path in _find_files(config, base)]
    if config.hooks:
        # Both `hooks: {PreToolUse: …}` and a whole settings object are understood.
        inner = config.hooks.get("hooks")
        content = config.hooks if isinstance(inner, dict) else {"hooks": config.hooks}
        found.append(read_settings(content, config.dialect, "config"))
    return Settings(
        tuple(handler for settings in found for handler in settings.handlers),
        tuple(notice for settings in found for notice in settings.notices),
    )


def _find_files(config: Config, base: Path) -> Iterator[Path]:
    """A plain path must be there; a pattern may find nothing."""
    for pattern in config.settings:
        path = base / Path(pattern).expanduser()
        if not any(char in pattern for char in "*?["):
            yield path
            continue
        anchor = Path(path.anchor)
        yield from sorted(anchor.glob(str(path.relative_to(anchor))))


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
