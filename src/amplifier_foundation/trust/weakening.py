"""What a new plan would no longer hold that the old one held. Named first in every question."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.mount_plan import ModuleEntry, MountPlan

_ORDERED: Mapping[str, tuple[tuple[str, tuple[Any, ...]], ...]] = {
    # Each option with its values, the strongest first.
    "approval": (("mode", ("deny", "ask")),),
    "audit": (
        ("enabled", (True, False)),
        ("level", ("full", "normal", "decisions")),
        ("on_failure", ("stop", "deny", "warn")),
        ("sign", (True, False)),
    ),
    "sandbox": (
        ("mode", ("required", "auto", "off")),
        ("network", ("deny", "ask", "allow")),
        ("unix_sockets", ("deny", "allow")),
    ),
}


@dataclass(frozen=True, slots=True)
class Lost:
    """A hold that is lost: in a sentence, and of which hook; empty if it is a setting."""

    sentence: str
    module: str = ""


def find_weakened(
    before: Mapping[str, Any], after: Mapping[str, Any], changed: Collection[str] = ()
) -> list[Lost]:
    """Everything that is lost; `changed` has the ids of hooks whose files changed."""
    settings = [*_find_lost_levels(before, after), *_find_new_folders(before, after)]
    return [*_find_lost_entries(before, after, changed), *map(Lost, settings)]


def _find_lost_entries(
    before: Mapping[str, Any], after: Mapping[str, Any], changed: Collection[str]
) -> Iterator[Lost]:
    new = {_name(entry): entry for entry in MountPlan.parse(after).hooks}
    for old in MountPlan.parse(before).hooks:
        entry = new.get(_name(old))
        if entry is None:
            yield Lost(f"{_name(old)} would be gone", old.module)
        else:
            sentences = _compare(old, entry, old.module in changed)
            yield from (Lost(sentence, old.module) for sentence in sentences)


def _compare(old: ModuleEntry, new: ModuleEntry, is_changed: bool) -> Iterator[str]:
    name = _name(old)
    for switch in ("required", "locked"):
        if getattr(old, switch) and not getattr(new, switch):
            yield f"{name} would not be {switch} any more"
    if (old.module, old.source) != (new.module, new.source):
        yield f"{name} would come from {new.source or new.module}"
    elif is_changed:
        yield f"{name} would run other code or other rules"
    if old.config != new.config:
        keys = sorted(
            k for k in {*old.config, *new.config} if old.config.get(k) != new.config.get(k)
        )
        yield f"{name} would have other options: {', '.join(keys)}"
    if old.priority != new.priority:
        yield f"{name} would run at another place: priority {new.priority}, not {old.priority}"


def _name(entry: ModuleEntry) -> str:
    return entry.name or entry.instance_id or entry.module


def _find_lost_levels(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for section, options in _ORDERED.items():
        old, new = (_read_section(plan, section) for plan in (before, after))
        for key, ranks in options:
            was, will = old.get(key), new.get(key)
            if was != will and _rank(will, ranks) >= _rank(was, ranks):
                yield f"{section}.{key} would be {_show(will)}, not {_show(was)}"


def _read_section(plan: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    found = plan.get(section) or {}
    return found if isinstance(found, Mapping) else {"mode": found}


def _rank(value: Any, ranks: tuple[Any, ...]) -> int:
    """What is not said or not known may be anything: it counts as the weakest."""
    return ranks.index(value) if value in ranks else len(ranks)


def _show(value: Any) -> str:
    return "left to the default" if value is None else str(value).lower()


def _find_new_folders(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old, new = (_read_section(plan, "sandbox").get("write") or [] for plan in (before, after))
    for folder in new:
        if folder not in old:
            yield f"the sandbox would let commands write to {folder}"
