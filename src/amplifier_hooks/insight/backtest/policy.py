"""A policy to try: the hooks of a bundle, and hook files and rules added or in their place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from amplifier_core.errors import AmplifierError
from amplifier_core.loader.importing import forget, taken
from amplifier_core.mount_plan import ModuleEntry, MountPlan, read_entry
from amplifier_hooks.agent.bundles import Bundle, bundle_from_plan, load_bundle
from amplifier_hooks.agent.session.origin import digest_hooks
from amplifier_hooks.agent.trust.material import Material, collect_material, find_source
from amplifier_hooks.machine.files import read_regular
from amplifier_hooks.trails.acting import ACTING

RULES = "hooks-rules"
_COST = "hooks-cost-control"
BOOK = "cost.json"
"""The file below the scratch folder that stands for the one with the costs of a day."""
_NOT_RUN = {**ACTING, "hooks-todo-display": "it shows what a tool keeps, and no tool runs"}
_BARE = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}


class PolicyError(AmplifierError):
    """What was named cannot be tried; the message says why."""


@dataclass(frozen=True, slots=True)
class PolicySource:
    """The files that make up a policy, as a person names them."""

    bundle: str | None = None
    hooks: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    only: bool = False
    """Whether the named hooks and rules are all, without those of a bundle."""
    without: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For another process."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        lists = ("hooks", "rules", "without")
        return cls(**{**values, **{name: tuple(values[name]) for name in lists}})

    def with_file(self, name: str) -> PolicySource:
        """The same, with another file in the place of what is tried: see `find_kind`."""
        kind = find_kind(Path(name))
        if kind == "bundle":
            return replace(self, bundle=name, hooks=(), rules=(), only=False, without=())
        others: dict[str, Any] = {"hooks": (), "rules": (), kind: (name,)}
        return replace(self, **others)


def find_kind(path: Path) -> str:
    """Whether a file is a hook file (`hooks`), a file of rules (`rules`) or a `bundle`."""
    if path.suffix == ".py":
        return "hooks"
    import yaml

    try:
        content = yaml.load(read_regular(path), Loader=yaml.CSafeLoader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise PolicyError(f"{path} cannot be read: {error}") from None
    if isinstance(content, list) or (isinstance(content, dict) and "rules" in content):
        return "rules"
    return "bundle"


@dataclass(frozen=True, slots=True)
class Policy:
    """The hooks to try, with everything that they run."""

    source: PolicySource
    material: Material
    entries: tuple[ModuleEntry, ...]
    agents: Mapping[str, tuple[ModuleEntry, ...]]
    acting: Mapping[str, str]
    """The modules that are not run, each with the reason."""
    base: str
    """The digest of the bundle's hooks before anything was added or replaced."""
    kept: frozenset[str]
    """The installed modules that are in the bundle exactly so, with these options."""

    @property
    def digest(self) -> str:
        """Of everything that decides what the policy answers."""
        plan = self.material.bundle.digest
        parts = (plan, self.material.digest, self.material.rest, json.dumps(self.source.to_dict()))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def forget_modules(self) -> None:
        """Have its files imported anew, as in a process of its own: so no session, and no other
        policy, leaves anything behind for this one."""
        for name, tree in list(taken.items()):
            if self.material.snapshot.list_below(tree.start):
                forget(name)
        self.material.claim_packages()


def load_policy(source: PolicySource, folder: Path, scratch: Path | None = None) -> Policy:
    """Read what a policy runs; nothing of it is run. `scratch` is where its hooks may write."""
    return make_policy(_load_base(source, folder), source, folder, scratch)


def make_policy(
    bundle: Bundle, source: PolicySource, folder: Path, scratch: Path | None = None
) -> Policy:
    """The same, of a bundle that was read already."""
    plan = bundle.mount_plan
    before = MountPlan.parse(plan).hooks
    entries = _choose_entries(before, source, folder)
    agents = {
        name: tuple(read_entry("hooks", one) for one in agent.get("hooks") or ())
        for name, agent in plan["agents"].items()
    }
    written = [one.to_dict() for one in entries]
    changed = bundle.changed(lambda plan: {**plan, "hooks": written})
    own = (*entries, *(one for hooks in agents.values() for one in hooks))
    acting = {one.module: _NOT_RUN[one.module] for one in own if _acts(one)}
    return Policy(
        source=source,
        material=collect_material(changed, folder),
        entries=tuple(_place_files(one, folder, scratch) for one in entries if not _acts(one)),
        agents={
            name: tuple(_place_files(one, folder, scratch) for one in hooks if not _acts(one))
            for name, hooks in agents.items()
        },
        acting=acting,
        base=digest_hooks(bundle),
        kept=frozenset(one.module for one in entries if one in before and one.source is None),
    )


def _acts(entry: ModuleEntry) -> bool:
    return entry.source is None and entry.module in _NOT_RUN


def _load_base(source: PolicySource, folder: Path) -> Bundle:
    if source.only:
        return bundle_from_plan(_BARE, "the hooks that were named")
    named = None if source.bundle is None else Path(source.bundle)
    return load_bundle(named, project_dir=folder)


def _choose_entries(
    entries: Iterable[ModuleEntry], source: PolicySource, folder: Path
) -> list[ModuleEntry]:
    chosen = list(entries)
    for name in source.hooks:
        chosen = _add_hook_file(chosen, Path(name).absolute(), folder)
    if source.rules:
        chosen = _add_rules(chosen, source.rules)
    for name in source.without:
        left = [one for one in chosen if not _is_called(one, name)]
        if len(left) == len(chosen):
            have = ", ".join(one.module for one in chosen) or "none"
            raise PolicyError(f"There is no hook module {name!r} to leave out; have {have}")
        chosen = left
    return chosen


def _is_called(entry: ModuleEntry, name: str) -> bool:
    path = Path(entry.source or entry.module)
    return name in (entry.module, entry.source, entry.name, path.name, path.stem)


def _add_hook_file(entries: list[ModuleEntry], path: Path, folder: Path) -> list[ModuleEntry]:
    """A hook file takes the place of the bundle's file of the same name, and its options."""
    if not path.is_file():
        raise PolicyError(f"There is no hook file {path}")
    for index, entry in enumerate(entries):
        own = find_source(entry, folder)
        if own is not None and own.name == path.name:
            changed = entry.model_copy(update={"source": str(path)})
            return [*entries[:index], changed, *entries[index + 1 :]]
    return [*entries, ModuleEntry(module=path.stem, source=str(path))]


def _add_rules(entries: list[ModuleEntry], files: Sequence[str]) -> list[ModuleEntry]:
    """Files of rules take the place of all rules of the bundle; its other options stay."""
    for name in files:
        if not Path(name).is_file():
            raise PolicyError(f"There is no rules file {name}")
    own = next((one for one in entries if one.module == RULES), ModuleEntry(module=RULES))
    options = {key: value for key, value in own.config.items() if key not in ("rules", "file")}
    named = {**options, "file": [str(Path(name).absolute()) for name in files]}
    others = [one for one in entries if one.module != RULES]
    return [*others, own.model_copy(update={"config": named})]


def _place_files(entry: ModuleEntry, folder: Path, scratch: Path | None) -> ModuleEntry:
    """The entry with paths that mean the same wherever the recorded session worked."""
    config = entry.config
    if entry.module == RULES and (named := config.get("file")):
        files = [named] if isinstance(named, str) else named
        config = {**config, "file": [str(folder / Path(one).expanduser()) for one in files]}
    elif entry.module == _COST and config.get("day") and scratch is not None:
        config = {**config, "file": str(scratch / BOOK)}
    return entry if config is entry.config else entry.model_copy(update={"config": config})
