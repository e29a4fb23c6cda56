"""A bundle: a mount plan, and the files that it was read from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from amplifier_core.mount_plan import EXAMPLES, LISTS, MountPlan
from amplifier_core.utils.copying import detach
from amplifier_hooks.guards.policy.profile import PROFILED_GUARDS
from amplifier_hooks.machine.files import Snapshot
from amplifier_hooks.yaml_files.node import Node, Place, Problem, to_plain

SECTIONS = ("session", *LISTS, "agents", "approval", "audit", "sandbox")


@dataclass(frozen=True, slots=True, repr=False)
class Bundle:
    """A checked, merged plan. `mount_plan` is a fresh copy each time, so nobody can change it."""

    name: str
    description: str
    sources: tuple[Path, ...]
    watched: tuple[Path, ...]
    digest: str
    secrets: frozenset[str]
    snapshot: Snapshot
    _plan: dict[str, Any]
    unset: tuple[Problem, ...] = ()
    """What was left out of it because a variable is not set, if whoever loaded it wanted that."""
    _entries: dict[tuple[bool, str], Node] = field(default_factory=dict, compare=False)
    _again: Callable[[], Bundle] | None = field(default=None, compare=False)

    @property
    def mount_plan(self) -> dict[str, Any]:
        return detach(self._plan)

    def place_of(
        self,
        module: str,
        name: str | None = None,
        agent: bool = False,
        option: Iterable[str | int] = (),
    ) -> Place | None:
        """Where the bundle asks for a module, if it does; `name` tells entries of it apart.

        With the way to an `option`, where that is written, or what is nearest above it.
        """
        keys = [(agent, one) for one in (name, module) if one is not None]
        entry = next((self._entries[key] for key in keys if key in self._entries), None)
        return None if entry is None else _find_option(entry, tuple(option))

    def reload(self) -> Bundle:
        """Read the same files again."""
        return self if self._again is None else self._again()

    def changed(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Bundle:
        """The bundle with a change of its plan that is made again on reload: flags of a command."""
        plan = change(self.mount_plan)
        again = self._again
        later = None if again is None else (lambda: again().changed(change))
        return replace(self, _plan=plan, digest=_compute_digest(plan), _again=later)

    def __repr__(self) -> str:
        return f"Bundle({self.name!r}, digest={self.digest[:12]!r}, sources={len(self.sources)})"


def make_bundle(
    document: Node,
    sources: tuple[Path, ...],
    watched: tuple[Path, ...],
    secrets: frozenset[str],
    again: Callable[[], Bundle] | None,
    snapshot: Snapshot | None = None,
) -> Bundle:
    """Make a bundle of a document that is merged, valid and complete."""
    plan = build_mount_plan(document)
    return Bundle(
        name=document.text("name") or "amplifier",
        description=document.text("description") or "",
        sources=sources,
        watched=(*watched, *_list_local_sources(plan)),
        digest=_compute_digest(plan),
        secrets=secrets | _find_credentials(plan["approval"], plan["audit"]),
        snapshot=snapshot or Snapshot(),
        _plan=plan,
        _entries=_find_entries(document),
        _again=again,
    )


def build_mount_plan(document: Node) -> dict[str, Any]:
    """The sections as plain values, without the entries that are switched off."""
    keys = document.mapping()
    plan: dict[str, Any] = {key: to_plain(keys[key]) for key in SECTIONS if key in keys}
    for key in LISTS:
        plan[key] = _keep_enabled(plan.get(key, []))
    for key in ("session", "agents", "approval", "audit", "sandbox"):
        plan[key] = plan.get(key) or {}
    for agent in plan["agents"].values():
        agent.update({key: _keep_enabled(agent[key]) for key in LISTS if key in agent})
    if "profile" in keys:
        _hand_out_profile(plan, to_plain(keys["profile"]))
    return plan


def _hand_out_profile(plan: dict[str, Any], profile: Any) -> None:
    """Every guard that has the option gets it, unless its own options say another."""
    for holder in (plan, *plan["agents"].values()):
        for entry in holder.get("hooks", ()):
            if isinstance(entry, dict) and entry.get("module") in PROFILED_GUARDS:
                entry["config"] = {"profile": profile, **(entry.get("config") or {})}


def _find_credentials(approval: dict[str, Any], audit: dict[str, Any]) -> frozenset[str]:
    """What opens the way to people and witnesses elsewhere, which nobody else may learn."""
    store = str(approval.get("store") or "")
    password = urlsplit(store).password if "://" in store else None
    tokens = (approval.get("token"), audit.get("witness_token"))
    given = (*tokens, password, password and unquote(password))
    return frozenset(str(one) for one in given if one)


def _keep_enabled(entries: list[Any]) -> list[Any]:
    return [_clean_entry(e) if isinstance(e, dict) else e for e in entries if _is_enabled(e)]


def _is_enabled(entry: Any) -> bool:
    return not isinstance(entry, dict) or bool(entry.get("enabled", True))


def _clean_entry(entry: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in entry.items() if key != "enabled"}
    if not kept.get("locked"):
        kept.pop("locked", None)
    return {**kept, "config": entry.get("config") or {}}


def _list_local_sources(plan: dict[str, Any]) -> tuple[Path, ...]:
    sources = [entry.source for _, entry in MountPlan.parse(plan).entries()]
    return tuple(Path(source) for source in sources if source and "://" not in source)


def _find_entries(document: Node) -> dict[tuple[bool, str], Node]:
    """Each entry by whether an agent asks for it, and by its module and its name."""
    agents = document.mapping().get("agents", document).mapping().values()
    found: dict[tuple[bool, str], Node] = {}
    for agent, part in [(False, document), *((True, one) for one in agents)]:
        for entry in _list_entries(part):
            for key in ("module", "instance_id", "name"):
                found.setdefault((agent, entry.text(key) or ""), entry)
    return found


def _find_option(entry: Node, option: tuple[str | int, ...]) -> Place:
    place = entry.mapping().get("module", entry).place
    part: Node | None = entry.mapping().get("config")
    for step in option:
        if part is None:
            break
        if isinstance(step, int):
            part = dict(enumerate(part.items())).get(step)
        else:
            part = part.mapping().get(step)
        place = part.place if part is not None else place
    return place


def _list_entries(part: Node) -> list[Node]:
    """The module entries of a bundle, or of one of its agents."""
    sections = part.mapping()
    session = sections.get("session", part).mapping()
    entries = [session[key] for key in EXAMPLES if key in session]
    return entries + [one for key in LISTS if key in sections for one in sections[key].items()]


def _compute_digest(plan: dict[str, Any]) -> str:
    text = json.dumps(plan, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
