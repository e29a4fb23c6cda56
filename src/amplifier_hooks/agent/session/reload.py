"""Reloading: a changed bundle or hook file takes effect when a person says so, whole or not at all.

Only modules whose entries or files changed are replaced, so that the others keep what they
remember. New modules are mounted beside the old ones; when one of them fails, all of them are
removed again and the old set stays. Nothing else happens in the session meanwhile. What hooks
changed in the plan when the session started is changed again.

The files are read once: what the question shows is what is loaded.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import ModuleLoadError, SessionError
from amplifier_core.host import NAMED
from amplifier_core.loader.importing import release
from amplifier_core.models import HookResult, Level
from amplifier_core.mount_plan import ModuleEntry, MountPlan, check_locks, read_entry
from amplifier_core.mounting import Mounted, Mounting
from amplifier_core.records import ConfigurationChanged
from amplifier_core.session import AmplifierSession
from amplifier_core.utils import describe_error
from amplifier_core.utils.conversation import add_message
from amplifier_core.utils.copying import detach
from amplifier_hooks.agent.bundles import Bundle, BundleError
from amplifier_hooks.agent.session.assembled import add_place
from amplifier_hooks.agent.session.sub_agents import apply_session_options
from amplifier_hooks.agent.session.watched_files import OwnEdits, Stamp, list_files, stamp_files
from amplifier_hooks.agent.trust.comparison import Change, select
from amplifier_hooks.agent.trust.difference import describe_change, find_changes
from amplifier_hooks.agent.trust.material import Material, collect_material

_MISSING: Any = object()


def repeat_change(base: Any, changed: Any, newer: Any) -> Any:
    """Make the change from `base` to `changed` in `newer`, by key and by entry of a module list.

    Where `newer` differs from `base` too, the change wins, as it would have at the start; but what
    `newer` does not have any more stays away.
    """
    if changed == base or (newer is _MISSING and base is not _MISSING):
        return newer
    if all(isinstance(one, Mapping) for one in (base, changed, newer)):
        return _repeat_by_key(base, changed, newer)
    entries = [_index_by_name(one) for one in (base, changed, newer)]
    if None not in entries:
        return list(_repeat_by_key(*entries).values())
    return changed


def _repeat_by_key(base: Any, changed: Any, newer: Any) -> dict[Any, Any]:
    merged = {
        key: repeat_change(*(one.get(key, _MISSING) for one in (base, changed, newer)))
        for key in {**newer, **changed}
    }
    return {key: value for key, value in merged.items() if value is not _MISSING}


def _index_by_name(value: Any) -> dict[str, Any] | None:
    """The entries of a module list by name; None if it is no such list, or a name is ambiguous."""
    if not isinstance(value, list | tuple):
        return None
    named: dict[str, Any] = {}
    for one in value:
        try:
            entry = read_entry("modules", one)
        except ModuleLoadError:
            return None
        name = entry.name or entry.instance_id or entry.module
        if name in named:
            return None
        named[name] = one
    return named


Digest = Callable[[ModuleEntry], str]

_SINGLE = ("context", "orchestrator")


@dataclass(slots=True)
class Slot:
    """One entry of the new plan, and the module that fills it."""

    kind: str
    entry: ModuleEntry
    digest: str
    mounted: Mounted | None = None


@dataclass(frozen=True, slots=True)
class Replacement:
    """What another plan changes: entries to mount, and modules that it does not have any more."""

    slots: list[Slot]
    fresh: list[Slot]
    gone: list[Mounted]

    @property
    def mounted(self) -> list[str]:
        """The ids of the modules to mount."""
        return [slot.entry.module for slot in self.fresh]

    @property
    def removed(self) -> list[str]:
        """The ids of the modules that go, and are not only mounted anew."""
        return [one.id for one in self.gone if one.id not in self.mounted]


class ModuleReplacer:
    """Replaces modules of one session. Those whose entry and files are the same stay.

    `digest` is that of the files that an entry runs.
    """

    def __init__(self, coordinator: SessionCoordinator, mounting: Mounting, digest: Digest) -> None:
        self._coordinator = coordinator
        self._mounting = mounting
        self._digests = {one: digest(one.entry) for one in mounting.mounted}

    def compare(self, plan: MountPlan, digest: Digest) -> Replacement:
        """Match the entries of a plan with the modules that are mounted."""
        left = list(self._mounting.mounted)
        slots = [Slot(kind, entry, digest(entry)) for kind, entry in plan.entries()]
        for slot in slots:
            slot.mounted = next((one for one in left if self._fills(one, slot)), None)
            if slot.mounted is not None:
                left.remove(slot.mounted)
        return Replacement(slots, [slot for slot in slots if slot.mounted is None], left)

    async def apply(self, replacement: Replacement) -> None:
        """Mount what is new beside the old, then swap; if one fails to mount, nothing changes."""
        old_context = self._coordinator.context
        await self._mount(replacement.fresh)
        await self._swap(replacement)
        if self._coordinator.context is not old_context:
            await _move_messages(old_context, self._coordinator.context)
        filled = [(slot.mounted, slot.digest) for slot in replacement.slots]
        self._digests = {mounted: digest for mounted, digest in filled if mounted is not None}
        fresh = {slot.mounted for slot in replacement.fresh}
        await self._mounting.ready(one for one in self._mounting.mounted if one in fresh)

    def _fills(self, mounted: Mounted, slot: Slot) -> bool:
        if _identify_entry(mounted.kind, mounted.entry) != _identify_entry(slot.kind, slot.entry):
            return False
        return self._digests.get(mounted) == slot.digest

    async def _mount(self, fresh: list[Slot]) -> None:
        points = self._coordinator.mount_points
        before = {key: dict(points[key]) for key in NAMED} | {key: points[key] for key in _SINGLE}
        known = set(self._mounting.mounted)
        try:
            for slot in fresh:
                # At the start a module that fails is left out; in an edit it is a mistake.
                entry = slot.entry.model_copy(update={"required": True})
                slot.mounted = await self._mounting.mount(slot.kind, entry)
        except BaseException:
            for mounted in reversed([one for one in self._mounting.mounted if one not in known]):
                await self._mounting.unmount(mounted)
            points.update(before)
            raise

    async def _swap(self, replacement: Replacement) -> None:
        points = self._coordinator.mount_points
        final: dict[str, Any] = {key: points[key] for key in _SINGLE}
        for point in NAMED:
            final[point] = _collect_objects(replacement, point, points[point])
        # An old module's clean-up takes away what it mounted by name: let it do so on the side.
        points.update({point: _list_later(replacement, point, points[point]) for point in NAMED})
        for mounted in reversed(replacement.gone):
            await self._mounting.unmount(mounted)
        points.update({**final, **{point: {**points[point], **final[point]} for point in NAMED}})


def _identify_entry(kind: str, entry: ModuleEntry) -> str:
    """What must be the same for a mounted module to stay; as JSON, in which 1 is not true."""
    written = entry.model_dump(exclude={"required"})
    return json.dumps([kind, written], sort_keys=True, default=str)


def _collect_objects(
    replacement: Replacement, point: str, now: Mapping[str, Any]
) -> dict[str, Any]:
    """What the modules of a plan have mounted at a point, in its order.

    One that stays may have replaced or taken away some of it since, as its server wanted.
    """
    moving = _find_moving(replacement)
    lent = {id(one) for module in moving for one in module.objects.get(point, {}).values()}
    found: dict[str, Any] = {}
    for module in (slot.mounted for slot in replacement.slots if slot.mounted is not None):
        for name, one in module.objects.get(point, {}).items():
            current = now.get(name)
            if module in moving or id(current) in lent:
                found[name] = one
            elif current is not None:
                found[name] = current
    return found


def _list_later(replacement: Replacement, point: str, now: Mapping[str, Any]) -> dict[str, Any]:
    """What was mounted at a point after its module: by that, or by the application."""
    modules = [*_find_moving(replacement), *(one.mounted for one in replacement.slots)]
    known = {name for one in modules if one is not None for name in one.objects.get(point, {})}
    return {name: one for name, one in now.items() if name not in known}


def _find_moving(replacement: Replacement) -> list[Mounted]:
    """The modules that come, and those that go."""
    fresh = [slot.mounted for slot in replacement.fresh if slot.mounted is not None]
    return [*fresh, *replacement.gone]


async def _move_messages(old: Any, new: Any) -> None:
    found = old.get_messages()
    for message in await found if inspect.isawaitable(found) else found:
        await add_message(new, message)


_FIXED = ("audit", "approval", "sandbox")
QUESTION = "Use the changed files in this session?"
HINT = "the change takes effect when a person allows it: /reload in a chat, or amplifier trust"


def _accept_nothing(material: Material) -> bool:
    return False


def _tell_nobody(material: Material) -> None:
    return None


@dataclass(frozen=True, slots=True)
class ChangePolicy:
    """Who may have changed files used, besides a person who is asked."""

    accepts: Callable[[Material], bool] = _accept_nothing
    """Whether a person has allowed a content elsewhere, such as with `amplifier trust`."""
    on_allowed: Callable[[Material], Any] = _tell_nobody
    """Is told of the content that a person has allowed."""
    dev: bool = False
    """Use edits made while no tool was alive, except those that weaken a guard."""


ASKING = ChangePolicy()
"""Nobody but a person who is asked."""


class Reloader:
    """Looks at the files of a session before each turn."""

    def __init__(
        self,
        session: AmplifierSession,
        material: Material,
        changes: ChangePolicy = ASKING,
    ) -> None:
        self._session = session
        self._coordinator = session.coordinator
        self._material = material
        self._changes = changes
        self._modules = ModuleReplacer(session.coordinator, session.mounting, material.digest_entry)
        self._at_start = (
            apply_session_options(material.bundle.mount_plan),
            detach(session.config),
        )
        # Files may have changed since they were read; the first turn looks.
        self._seen: Stamp | None = None
        self._waits = False  # for a person, who may allow what is there without touching it
        self._told: set[tuple[str, str]] = set()
        self._own_edits = OwnEdits(session.coordinator, self._stamp_all) if changes.dev else None

    def watch(self) -> None:
        """Check before each turn, until the session ends."""
        self._session.on_turn(self.check)
        if self._own_edits is not None:
            self._own_edits.watch()

    async def check(self) -> bool:
        """Look for changes; returns whether the session now has something new."""
        if self._own_edits is not None:
            await self._own_edits.settle()
        seen = await asyncio.to_thread(self._stamp_all)
        if seen == self._seen and not self._waits:
            return False
        return await self._try(self._use_if_allowed, seen)

    async def reload(self) -> bool:
        """Show what has changed and ask; returns whether the session now has something new."""
        seen = await asyncio.to_thread(self._stamp_all)
        return await self._try(self._use_if_person_allows, seen, "Nothing has changed.")

    async def _try(self, use: Callable[[Material], Any], seen: Stamp, same: str = "") -> bool:
        """Use the files if they say something else than those in use; `same` is told if not."""
        self._waits = False
        material = self._material
        try:
            material = await asyncio.to_thread(self._read)
            other = _identify(material) != _identify(self._material)
            changed = await use(material) if other else False
            if same and not other:
                await self._show(same, "info")
        except ModuleLoadError as error:
            await self._report_refusal(add_place(error, material.bundle))
        except (BundleError, SessionError, OSError) as error:
            await self._report_refusal(str(error))
        except Exception as error:  # noqa: BLE001 - whatever an edit breaks, the turn goes on
            await self._report_refusal(describe_error(error))
        else:
            self._seen = seen
            return bool(changed)
        self._seen = seen
        return False

    def _read(self) -> Material:
        bundle = self._material.bundle.reload()
        material = collect_material(bundle, self._material.folder, self._apply_hooks(bundle))
        material.snapshot.seal()
        material.snapshot.govern(self._material.snapshot.governed)
        return material

    def _apply_hooks(self, bundle: Bundle) -> dict[str, Any]:
        """The plan of a bundle, changed as hooks changed the first one when the session began."""
        plan = repeat_change(*self._at_start, apply_session_options(bundle.mount_plan))
        return dict(plan)

    async def _use_if_allowed(self, material: Material) -> bool:
        # What a person trusts elsewhere is a folder; of their own files, they are asked here.
        own_files_stay = material.rest == self._material.rest
        # Nobody can trust what is gone, and whoever removes a bundle removes its guards.
        is_there = bool(material.files) or not self._material.files
        if own_files_stay and is_there and await asyncio.to_thread(self._changes.accepts, material):
            return await self._use(material)
        if self._own_edits is not None and self._own_edits.are_all and not self._lost(material):
            await asyncio.to_thread(self._changes.on_allowed, material)
            return await self._use(material)
        self._waits = True
        if _identify(material) not in self._told:
            self._told.add(_identify(material))
            files = ", ".join(_list_changed(self._material, material)) or "The settings"
            await self._show(f"{files} changed. The old settings stay; {HINT}.", "warning")
        return False

    def _lost(self, material: Material) -> list[Change]:
        """What may hold less, of guards and of limits; a hook that guards nothing may change."""
        mounted = self._session.mounting.mounted
        guards = {one.id for one in mounted if any(hook.is_guard for hook in one.handlers)}
        plan = MountPlan.parse(self._session.config)
        guards -= {entry.module for entry in plan.tools}
        held = (*plan.hooks, *plan.tools)
        guards |= {entry.module for entry in held if entry.required or entry.locked}
        found = find_changes(self._material.files, self._material.outline, material)
        lost = select(found, "weaker", "different")
        return [one for one in lost if not one.module or one.module in guards]

    async def _use_if_person_allows(self, material: Material) -> bool:
        change = describe_change(self._material.files, self._material.outline, material)
        question = HookResult(
            action="ask_user",
            approval_prompt=f"{QUESTION}\n\n{change}",
            approval_options=["Allow", "Deny"],
        )
        answer = await self._coordinator.handle_approval_request(question, "reload", "reload")
        if answer.action == "deny":
            # Trust that is given later, elsewhere, is the newer word; trust from before is not.
            self._waits = not await asyncio.to_thread(self._changes.accepts, material)
            raise SessionError("nobody allowed it")
        await asyncio.to_thread(self._changes.on_allowed, material)
        return await self._use(material)

    async def _use(self, material: Material) -> bool:
        """Put the modules of the material in place of those whose entries or files changed."""
        plan = self._apply_hooks(material.bundle)
        check_locks(material.bundle.mount_plan, MountPlan.parse(plan))
        digest = material.digest_entry
        replacement = await asyncio.to_thread(self._modules.compare, MountPlan.parse(plan), digest)
        before = self._material
        self._material = material
        try:
            self._lead_to(material)
            if replacement.fresh or replacement.gone:
                await self._modules.apply(replacement)
        except BaseException:
            self._material = before
            self._lead_to(before)
            raise
        self._session.config = self._coordinator.config = plan
        if self._own_edits is not None:
            self._own_edits.forget()
        await self._report_reload(before, material, replacement)
        return True

    def _lead_to(self, material: Material) -> None:
        """Have modules imported, and rules and settings read, from this material."""
        use_material(self._session, material)

    def _stamp_all(self) -> Stamp:
        entries = MountPlan.parse(self._session.config).entries()
        folder = self._material.folder
        named = [path for _, entry in entries for path in list_files(entry, folder)]
        return stamp_files([*self._material.bundle.watched, *self._material.snapshot.files, *named])

    async def _show(self, message: str, level: Level) -> None:
        await self._coordinator.show(message, level, "reload")

    async def _report_refusal(self, why: str) -> None:
        self._coordinator.trail.write(ConfigurationChanged(what="bundle", refused=why))
        await self._show(f"The change is not used, the old settings stay: {why}", "warning")

    async def _report_reload(
        self, before: Material, after: Material, replacement: Replacement
    ) -> None:
        changed = ConfigurationChanged(
            what="bundle",
            before=before.bundle.digest,
            after=after.bundle.digest,
            files=after.digest,
            mounted=tuple(replacement.mounted),
            unmounted=tuple(replacement.removed),
        )
        self._coordinator.trail.write(changed)
        ids = ", ".join(replacement.mounted)
        parts = [f"Reloaded: {ids}" if ids else "Reloaded the settings"]
        if replacement.removed:
            parts.append(f"removed: {', '.join(replacement.removed)}")
        old = before.bundle.mount_plan
        new = after.bundle.mount_plan
        if fixed := [key for key in _FIXED if old.get(key) != new.get(key)]:
            parts.append(f"{' and '.join(fixed)} will not change until the next session")
        await self._show("; ".join(parts), "info")


def use_material(session: AmplifierSession, material: Material) -> None:
    """Have the modules of a session imported, and their files read, from this material."""
    before = session.coordinator.get_capability("session.snapshot")
    material.claim_packages()
    if before is not None and before is not material.snapshot:
        release(before)
    session.mounting.loader.use_sources(material.snapshot)
    session.coordinator.register_capability("session.snapshot", material.snapshot)


async def release_material(session: AmplifierSession) -> None:
    """Leave the packages that were imported for a session to the next one."""
    release(session.coordinator.get_capability("session.snapshot"))


def _identify(material: Material) -> tuple[str, str]:
    """What the session would be made of; a comment in a bundle is no part of it."""
    return material.bundle.digest, material.digest_modules()


def _list_changed(before: Material, after: Material) -> list[str]:
    old = before.files
    new = after.files
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
