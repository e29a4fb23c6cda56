"""The files that a session was built from, and who changed them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import ORCHESTRATOR_COMPLETE, TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.utils.nested import iterate_texts

Stamp = tuple[tuple[str, int, int, int, int], ...]
"""Of each file its path, times of change, size and inode; -1 where it is not there.

The second time is that of the inode, which no program can set back.
"""

_NAMING_FILES = ("file", "settings")


def list_files(entry: ModuleEntry, folder: Path) -> Iterator[Path]:
    """The source of an entry, and the files that its options name: rules and settings.

    Other options may name files that the agent works on.
    """
    if entry.source is not None and "://" not in entry.source:
        yield folder / entry.source
    for option in _NAMING_FILES:
        for text in iterate_texts(entry.config.get(option)):
            path = folder / _expand_home(text)
            yield from _match(path) if set("*?[") & set(text) else [path]


def stamp_files(paths: Iterable[Path]) -> Stamp:
    """The state of files, to see later whether they changed; of a folder, its Python files."""
    files: set[Path] = set()
    for path in paths:
        files |= set(path.rglob("*.py")) if path.is_dir() else {path}
    return tuple(_stat(path) for path in sorted(files))


def _expand_home(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # nobody's home
        return Path(text)


def _match(pattern: Path) -> list[Path]:
    """The files that a pattern finds."""
    try:
        found = Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor)))
        return [path for path in found if _is_file(path)]
    except (OSError, ValueError):
        return []


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _stat(path: Path) -> tuple[str, int, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), -1, -1, -1, -1
    return str(path), found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


_LAST = 1_000_000  # behind the hooks that may still refuse the call
_OURS = "amplifier_hooks.agent.tools."
_STARTS_PROGRAMS = frozenset({"Bash"})


class OwnEdits:
    """Compares the files before and after the times in which tools run."""

    def __init__(self, coordinator: SessionCoordinator, stamp: Callable[[], Stamp]) -> None:
        self._coordinator = coordinator
        self._stamp = stamp
        self._running: set[tuple[str, str]] = set()
        self._before: Stamp = ()
        self._by_a_tool = False
        self._for_good = False

    def watch(self) -> None:
        """Be told of every tool call, until the session ends."""
        for event, handler in (
            (TOOL_PRE, self._before_tool),
            (TOOL_POST, self._after_tool),
            (TOOL_ERROR, self._after_tool),
            (ORCHESTRATOR_COMPLETE, self._after_turn),
        ):
            remove = self._coordinator.hooks.register(event, handler, priority=_LAST, name="reload")
            self._coordinator.register_cleanup(remove)

    @property
    def are_all(self) -> bool:
        """Whether nothing but the person can have made the changes so far."""
        return not (self._by_a_tool or self._for_good or self._running)

    def forget(self) -> None:
        """The changes so far are in use; those from now on count."""
        self._by_a_tool = False

    async def settle(self) -> None:
        """No tool runs any more, even if some never told: refused or cancelled ones do not."""
        if self._running:
            await self._compare()
            self._running.clear()

    async def _before_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        if not self._running:
            self._before = await asyncio.to_thread(self._stamp)
        self._running.add(_identify(data))
        if not self._ends_with_its_call(str(data.get("tool_name"))):
            self._for_good = True
        return CONTINUE

    async def _after_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        await self._compare()
        self._running.discard(_identify(data))
        return CONTINUE

    async def _after_turn(self, event: str, data: dict[str, Any]) -> HookResult:
        if data.get("session_id") == self._coordinator.session_id:
            await self.settle()
        return CONTINUE

    async def _compare(self) -> None:
        if await asyncio.to_thread(self._stamp) != self._before:
            self._by_a_tool = True

    def _ends_with_its_call(self, name: str) -> bool:
        """Whether nothing of a tool is left when its call is over."""
        tool = (self._coordinator.get("tools") or {}).get(name)
        if name not in _STARTS_PROGRAMS and type(tool).__module__.startswith(_OURS):
            return True
        wall = self._coordinator.get_capability("session.wall")
        return wall is not None and bool(wall.ends_processes_of(name))


def _identify(data: dict[str, Any]) -> tuple[str, str]:
    return str(data.get("session_id")), str(data.get("tool_call_id"))
