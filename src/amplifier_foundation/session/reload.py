"""Hot reload: a changed bundle or hook file takes effect at the next turn, whole or not at all.

Only entries that changed are exchanged, so that the others keep what they remember. New modules are
mounted beside the old ones; when one of them fails, all of them are taken away again and the old
set stays. Nothing else goes on in the session meanwhile. What hooks changed in the plan when the
session started is changed again.

An agent must not rewrite the rules it works under: what changed while one of its tools ran is used
only if a person allows it.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError, SessionError
from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.injection.placing import add_message
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_core.utils import describe_error
from amplifier_core.utils.nested import iterate_texts
from amplifier_foundation.bundles import Bundle, BundleError
from amplifier_foundation.session.child_plan import with_session_options
from amplifier_foundation.session.mounted_set import NAMED, MountedSet, Placed
from amplifier_foundation.session.plan_change import changed_again

logger = logging.getLogger(__name__)

Stamp = tuple[tuple[str, int, int, int], ...]
_SINGLE = ("context", "orchestrator")
_FIXED = ("audit", "approval")
_LONGEST_PATH = 300
_LAST = 1_000_000  # behind every hook that may still refuse the call


@dataclass(slots=True)
class _Slot:
    """One entry of the new plan, and the module that fills it."""

    kind: str
    entry: dict[str, Any]
    stamp: Stamp
    placed: Placed | None = None


class Reloader:
    """Looks at the files of a session before each turn."""

    def __init__(
        self, session: AmplifierSession, modules: MountedSet, bundle: Bundle, folder: Path
    ) -> None:
        self._session = session
        self._board = session.coordinator
        self._modules = modules
        self._bundle = bundle
        self._folder = folder
        self._at_start = with_session_options(bundle.mount_plan), copy.deepcopy(session.config)
        self._seen = self._all_files()
        self._stamps = {id(one.outcome): self._files_of(one.entry) for one in modules.placed}
        self._calm = self._seen  # the files when no tool was running
        self._running: set[str] = set()
        self._suspects: set[str] = set()

    def watch(self) -> None:
        """Begin: look before each turn, and around each tool call, until the session ends."""
        self._session.on_turn(self.check)
        for event, handler in (
            (TOOL_PRE, self._before_tool),
            (TOOL_POST, self._after_tool),
            (TOOL_ERROR, self._after_tool),
        ):
            remove = self._board.hooks.register(event, handler, priority=_LAST, name="reload")
            self._board.register_cleanup(remove)

    async def _before_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        if not self._running:
            self._calm = await asyncio.to_thread(self._all_files)
        self._running.add(str(data.get("tool_call_id")))
        return HookResult(action="continue")

    async def _after_tool(self, event: str, data: dict[str, Any]) -> HookResult:
        self._running.discard(str(data.get("tool_call_id")))
        now = await asyncio.to_thread(self._all_files)
        if now != self._calm:
            self._calm = now
            self._suspects.add(str(data.get("tool_name")))
        return HookResult(action="continue")

    async def check(self) -> bool:
        """Reload if a file changed; whether the session now runs on something new."""
        seen = await asyncio.to_thread(self._all_files)
        suspects, self._suspects = self._suspects, set()
        self._running.clear()
        if seen == self._seen:
            return False
        self._seen = seen
        try:
            await self._require_person(suspects)
            return await self._reload()
        except (BundleError, ModuleLoadError, SessionError) as error:
            await self._keep(str(error))
        except Exception as error:  # noqa: BLE001 - whatever an edit breaks, the turn goes on
            await self._keep(describe_error(error))
        return False

    async def _reload(self) -> bool:
        bundle = await asyncio.to_thread(self._bundle.reload)
        plan = changed_again(*self._at_start, with_session_options(bundle.mount_plan))
        slots = await asyncio.to_thread(lambda: list(self._slots(plan)))
        gone = self._match(slots)
        fresh = [slot for slot in slots if slot.placed is None]
        if not fresh and not gone and bundle.digest == self._bundle.digest:
            return False
        before = dict(self._board.mount_points)
        await self._mount(fresh)
        await self._swap(slots, gone, before["context"])
        self._session.config = self._board.config = plan
        self._stamps = {id(slot.placed.outcome): slot.stamp for slot in slots if slot.placed}
        await self._ready(fresh)
        await self._tell(bundle, fresh, gone)
        self._bundle = bundle
        self._seen = await asyncio.to_thread(self._all_files)
        return True

    async def _require_person(self, suspects: set[str]) -> None:
        if not suspects:
            return
        who = ", ".join(sorted(suspects))
        question = HookResult(
            action="ask_user",
            approval_prompt=f"The files of this session changed while {who} ran. Use the change?",
            approval_options=["Allow", "Deny"],
        )
        answer = await self._board.handle_approval_request(question, "reload", "reload")
        if answer.action == "deny":
            raise SessionError(f"it was made while {who} ran, and no person allowed it")

    async def _keep(self, why: str) -> None:
        self._board.trail.write("configuration_changed", {"what": "bundle", "refused": why})
        message = f"The change is not used, the old settings stay: {why}"
        await self._board.show(message, "warning", "reload")

    # From the old set to the new one

    def _slots(self, plan: Mapping[str, Any]) -> Iterator[_Slot]:
        for kind, entry in _entries(plan):
            yield _Slot(kind, entry, self._files_of(entry))

    def _match(self, slots: list[_Slot]) -> list[Placed]:
        """Fill the slots that did not change; returns the modules that nobody wants any more."""
        left = list(self._modules.placed)
        for slot in slots:
            slot.placed = next((one for one in left if self._fills(one, slot)), None)
            if slot.placed is not None:
                left.remove(slot.placed)
        return left

    def _fills(self, placed: Placed, slot: _Slot) -> bool:
        if _identity(placed.kind, placed.entry) != _identity(slot.kind, slot.entry):
            return False
        return self._stamps.get(id(placed.outcome)) == slot.stamp

    async def _mount(self, fresh: list[_Slot]) -> None:
        """Mount all or none."""
        points = self._board.mount_points
        before = {key: dict(points[key]) for key in NAMED} | {key: points[key] for key in _SINGLE}
        known = len(self._modules.placed)
        try:
            for slot in fresh:
                # At the start a module that fails is left out; in an edit it is a mistake.
                await self._modules.mount(slot.kind, {**slot.entry, "required": True})
                slot.placed = self._modules.placed[-1]
        except BaseException:
            for placed in reversed(self._modules.placed[known:]):
                await self._modules.unmount(placed.outcome)
            self._modules.forget_failed()
            points.update(before)
            raise

    async def _swap(self, slots: list[_Slot], gone: list[Placed], old_context: Any) -> None:
        points = self._board.mount_points
        new = [slot.placed for slot in slots if slot.placed is not None]
        final: dict[str, Any] = {key: points[key] for key in _SINGLE}
        for point in NAMED:
            final[point] = {name: it for one in new for name, it in one.objects[point].items()}
        # An old module's clean-up takes away what it mounted by name: let it do so on the side.
        points.update({point: {} for point in NAMED})
        for placed in reversed(gone):
            await self._modules.unmount(placed.outcome)
        points.update(final)
        self._modules.placed = new
        if old_context is not final["context"]:
            for message in await _messages(old_context):
                await add_message(final["context"], message)

    async def _ready(self, fresh: list[_Slot]) -> None:
        for slot in fresh:
            ready = slot.placed.outcome.ready if slot.placed else None
            try:
                told = ready(self._board) if ready is not None else None
                if inspect.isawaitable(told):
                    await told
            except Exception as error:  # noqa: BLE001 - one module must not stop the session
                logger.warning("on_session_ready failed: %s", describe_error(error))

    async def _tell(self, bundle: Bundle, fresh: list[_Slot], gone: list[Placed]) -> None:
        mounted = [slot.placed.outcome.id for slot in fresh if slot.placed]
        removed = [one.outcome.id for one in gone if one.outcome.id not in mounted]
        body = {
            "what": "bundle",
            "before": self._bundle.digest,
            "after": bundle.digest,
            "mounted": mounted,
            "unmounted": removed,
        }
        self._board.trail.write("configuration_changed", body)
        parts = [f"Reloaded: {', '.join(mounted)}"] if mounted else ["Reloaded the settings"]
        if removed:
            parts.append(f"removed: {', '.join(removed)}")
        old, new = self._bundle.mount_plan, bundle.mount_plan
        if fixed := [key for key in _FIXED if old[key] != new[key]]:
            parts.append(f"{' and '.join(fixed)} stay as they are until the next session")
        await self._board.show("; ".join(parts), "info", "reload")

    # Files

    def _all_files(self) -> Stamp:
        entries = _entries(self._session.config)
        named = [path for _, entry in entries for path in self._named_files(entry)]
        return _stamp([*self._bundle.watched, *named])

    def _files_of(self, entry: Mapping[str, Any]) -> Stamp:
        return _stamp(self._named_files(entry))

    def _named_files(self, entry: Mapping[str, Any]) -> Iterator[Path]:
        """Its source, and the files that its options name: rules, settings, scripts."""
        source = entry.get("source")
        if isinstance(source, str) and "://" not in source:
            yield self._folder / source
        config = entry.get("config") or {}
        for text in iterate_texts(config):
            if 0 < len(text) <= _LONGEST_PATH and ("." in text or "/" in text):
                path = self._folder / _at_home(text)
                if _is_file(path):
                    yield path
        # Only here: in other options a pattern stands for files that the agent works on.
        for text in iterate_texts(config.get("settings")):
            yield from _matching(self._folder / _at_home(text))


def _entries(plan: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every entry of a plan in the order in which a session mounts them."""
    session = plan["session"]
    yield "context", _required(session["context"])
    for entry in plan.get("hooks") or ():
        yield "hooks", dict(entry)
    yield "orchestrator", _required(session["orchestrator"])
    for kind in NAMED:
        for entry in plan.get(kind) or ():
            yield kind, dict(entry)


def _required(entry: Any) -> dict[str, Any]:
    return {**({"module": entry} if isinstance(entry, str) else entry), "required": True}


def _identity(kind: str, entry: Mapping[str, Any]) -> str:
    """What must be the same for a mounted module to stay."""
    told = [entry.get(key) for key in ("module", "name", "source", "priority")]
    return json.dumps([kind, *told, entry.get("config") or {}], sort_keys=True, default=str)


def _at_home(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # nobody's home
        return Path(text)


def _matching(pattern: Path) -> list[Path]:
    """The files that a pattern finds; nothing for a plain path."""
    if not set("*?[") & set(str(pattern)):
        return []
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


def _stamp(paths: Iterable[Path]) -> Stamp:
    """When files were last changed; a folder stands for the Python files in it."""
    files: set[Path] = set()
    for path in paths:
        files |= set(path.rglob("*.py")) if path.is_dir() else {path}
    return tuple(_stat(path) for path in sorted(files))


def _stat(path: Path) -> tuple[str, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), -1, -1, -1
    return str(path), found.st_mtime_ns, found.st_size, found.st_ino


async def _messages(context: Any) -> list[Any]:
    found = context.get_messages()
    return list(await found if inspect.isawaitable(found) else found)
