"""The bundle of the project that another program works in, as it governs that program there."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amplifier_core.mount_plan import list_ways
from amplifier_hooks.agent.bundles import Bundle, load_bundle
from amplifier_hooks.agent.bundles.load import list_project_candidates
from amplifier_hooks.agent.bundles.mount_plan import keep_hooks_only
from amplifier_hooks.agent.trust.material import Material, Untrusted, collect_material
from amplifier_hooks.agent.trust.store import TrustStore, is_trusted_by_name
from amplifier_hooks.guards.policy.paths import escape_glob
from amplifier_hooks.guards.policy.tool_calls import FILE_KEYS
from amplifier_hooks.machine.files import normalize

WALLS = "guest-walls"
"""The hook that keeps a program away from what it is guarded by."""

_READING = ("Read", "Glob", "Grep", "LS")
"""The tools that may name a guarded file; of one that nobody knows, nobody knows what it does."""


Adapt = Callable[[dict[str, Any]], dict[str, Any]]
"""Makes of a bundle's plan the one for a program that is not ours."""


@dataclass(frozen=True, slots=True)
class TrustedPlan:
    """Where a program works, and what a person has allowed to govern it there."""

    folder: Path
    bundle: Bundle
    material: Material
    named: str = ""
    names_people: bool = False
    """Whether the bundle itself says who is asked elsewhere."""

    def accepts(self, seen: Material) -> bool:
        """Whether a person has trusted the content that a reload has read.

        People trust everything that the bundle would run in a session of our own.
        """
        whole = load_bundle(self.named or None, project_dir=self.folder).mount_plan
        full = collect_material(seen.bundle, self.folder, whole)
        same = all(full.files.get(name) == content for name, content in seen.files.items())
        return same and _is_trusted(full, self.named)


def find_project(start: Path) -> Path:
    """The nearest folder with a bundle, within the repository; else where the agent started.

    Untrusted if a person has trusted one there that is gone: an agent may have removed it.
    """
    without: list[Path] = []
    for folder in (start, *start.parents):
        if any(candidate.is_file() for candidate in list_project_candidates(folder)):
            _refuse_removed(without)
            return folder
        without.append(folder)
        if (folder / ".git").exists():
            break
    _refuse_removed(without)
    return start


def _refuse_removed(folders: Sequence[Path]) -> None:
    """Untrusted if one of the folders, which have no bundle, once had one that was trusted."""
    paths = [path for folder in folders for path in list_project_candidates(normalize(folder))]
    for trusted in TrustStore().list():
        if Path(trusted.folder, trusted.bundle) in paths:
            raise Untrusted(
                f"{trusted.bundle} in {trusted.folder} decided what agents may do there, and is "
                "gone. Put it back; or, if it is to decide no more, a person runs there: "
                "amplifier trust --revoke"
            )


def load_trusted_plan(start: Path, named: str, adapt: Adapt) -> TrustedPlan:
    """Read what governs a program; Untrusted if no person has allowed exactly that."""
    folder = start if named else find_project(start)
    bundle = load_bundle(named or None, project_dir=folder)
    adapted = bundle.changed(adapt)
    material = collect_material(adapted, folder, bundle.mount_plan)
    if not _is_trusted(material, named):
        raise Untrusted(
            f"{material.name or 'The bundle'} in {folder} is not trusted, or has changed since it "
            f"was. A person reviews and allows it there with: amplifier trust{_name_option(named)}"
        )
    material.snapshot.seal()
    material.snapshot.govern(material.folder)
    ways = list_ways(bundle.mount_plan["approval"])
    return TrustedPlan(folder, adapted, material, named, any(way != "terminal" for way in ways))


def _is_trusted(material: Material, named: str) -> bool:
    """Also if the bundle that was named at the installation is trusted where it lies."""
    return is_trusted_by_name(material, Path(named) if named else None, TrustStore())


def _name_option(named: str) -> str:
    return f" --bundle {shlex.quote(named)}" if named else ""


def adapt_to_program(
    plan: dict[str, Any], guarded: Sequence[Path], *, can_ask: bool
) -> dict[str, Any]:
    """The plan without what the program has itself, and with its guard's own guard.

    `guarded` has the files by which it is guarded.
    """
    adapted = keep_hooks_only(plan)
    if guarded:
        adapted["hooks"].append(_build_walls(guarded))
    return {**adapted, "approval": _adapt_approval(plan["approval"], can_ask=can_ask)}


def _build_walls(guarded: Sequence[Path]) -> dict[str, Any]:
    config = {
        "patterns": [_write_glob(path) for path in guarded],
        "tools": {**{tool: [] for tool in _READING}, "*": list(FILE_KEYS)},
        "action": "deny",
        "priority": -1000,
    }
    return {"module": "hooks-production-guard", "name": WALLS, "config": config, "required": True}


def _write_glob(path: Path) -> str:
    """Exactly this path, and what is below it if it ends in two stars."""
    plain = path.parent if path.name == "**" else path
    return escape_glob(str(plain)) + ("/**" if path.name == "**" else "")


def _adapt_approval(section: Mapping[str, Any], *, can_ask: bool) -> dict[str, Any]:
    """A program without a prompt of its own has people asked through the store on this machine."""
    if list_ways(section) == ("terminal",) and not can_ask:
        return {**section, "via": "store"}
    return dict(section)
