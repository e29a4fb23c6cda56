"""What a session is made from: a mount plan, and where it came from."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amplifier_foundation.bundles.merge import MODULE_LISTS
from amplifier_foundation.bundles.node import Node, Place, to_plain

SECTIONS = ("session", *MODULE_LISTS, "agents", "approval", "audit")


@dataclass(frozen=True, slots=True, repr=False)
class Bundle:
    """Checked and merged. `mount_plan` is a fresh copy each time, so nobody can change it."""

    name: str
    description: str
    sources: tuple[Path, ...]
    watched: tuple[Path, ...]
    digest: str
    secrets: frozenset[str]
    _plan: dict[str, Any]
    _places: dict[str, Place] = field(default_factory=dict, compare=False)
    _again: Callable[[], Bundle] | None = field(default=None, compare=False)

    @property
    def mount_plan(self) -> dict[str, Any]:
        return copy.deepcopy(self._plan)

    def place_of(self, module: str) -> Place | None:
        """Where a module was asked for."""
        return self._places.get(module)

    def reload(self) -> Bundle:
        """The same files, as they are now."""
        return self if self._again is None else self._again()

    def changed(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Bundle:
        """The same bundle with another plan, also when it is read again: flags of a command."""
        plan = change(self.mount_plan)
        again = self._again
        later = None if again is None else (lambda: again().changed(change))
        return replace(self, _plan=plan, digest=_digest(plan), _again=later)

    def __repr__(self) -> str:
        return f"Bundle({self.name!r}, digest={self.digest[:12]!r}, sources={len(self.sources)})"


def make_bundle(
    document: Node,
    sources: tuple[Path, ...],
    watched: tuple[Path, ...],
    secrets: frozenset[str],
    again: Callable[[], Bundle] | None,
) -> Bundle:
    """The frozen outcome of a merged and valid document."""
    plan = mount_plan(document)
    return Bundle(
        name=document.text("name") or "amplifier",
        description=document.text("description") or "",
        sources=sources,
        watched=(*watched, *_local_modules(plan)),
        digest=_digest(plan),
        secrets=secrets,
        _plan=plan,
        _places=_places(document),
        _again=again,
    )


def mount_plan(document: Node) -> dict[str, Any]:
    """The plain sections, without what is switched off."""
    keys = document.mapping()
    plan: dict[str, Any] = {key: to_plain(keys[key]) for key in SECTIONS if key in keys}
    for key in MODULE_LISTS:
        plan[key] = _enabled(plan.get(key, []))
    for key in ("session", "agents", "approval", "audit"):
        plan[key] = plan.get(key) or {}
    for agent in plan["agents"].values():
        agent.update({key: _enabled(agent[key]) for key in MODULE_LISTS if key in agent})
    return plan


def _enabled(entries: list[Any]) -> list[Any]:
    return [_entry(e) if isinstance(e, dict) else e for e in entries if _is_enabled(e)]


def _is_enabled(entry: Any) -> bool:
    return not isinstance(entry, dict) or bool(entry.get("enabled", True))


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in entry.items() if key not in ("enabled", "locked")}
    return {**kept, "config": entry.get("config") or {}}


def _local_modules(plan: dict[str, Any]) -> tuple[Path, ...]:
    entries = [entry for key in MODULE_LISTS for entry in plan[key]]
    entries += [e for key in ("orchestrator", "context") if (e := plan["session"].get(key))]
    sources = (entry.get("source") for entry in entries)
    return tuple(Path(source) for source in sources if source and "://" not in source)


def _places(document: Node) -> dict[str, Place]:
    sections = document.mapping()
    session = sections.get("session", document).mapping()
    entries = [session[key] for key in ("orchestrator", "context") if key in session]
    entries += [one for key in MODULE_LISTS if key in sections for one in sections[key].items()]
    return {
        module: entry.mapping()["module"].place
        for entry in entries
        if (module := entry.text("module")) is not None
    }


def _digest(plan: dict[str, Any]) -> str:
    text = json.dumps(plan, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
