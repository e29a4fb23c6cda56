"""What a new plan would no longer hold that the old one held. Named first in every question."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.mount_plan import LISTS, ModuleEntry, read_entry
from amplifier_foundation.trust.outline import SECTIONS

_ORDERED: Mapping[str, tuple[Any, ...]] = {
    # Each option of a section with its values, the strongest first.
    "approval.mode": ("deny", "ask", "edits"),
    "approval.requester_may_approve": (False, True),
    "audit.enabled": (True, False),
    "audit.level": ("full", "normal", "decisions"),
    "audit.on_failure": ("stop", "deny", "warn"),
    "audit.sign": (True, False),
    "sandbox.mode": ("required", "auto", "off"),
    "sandbox.network": ("deny", "ask", "allow"),
    "sandbox.unix_sockets": ("deny", "allow"),
    **{f"{section}.locked": (True, False) for section in SECTIONS},
}
_OPTIONS = {"write", *(key.partition(".")[2] for key in _ORDERED)}


@dataclass(frozen=True, slots=True)
class Lost:
    """A hold that is lost: in a sentence, and of which hook; empty if it is a setting."""

    sentence: str
    module: str = ""


def find_weakened(
    before: Mapping[str, Any], after: Mapping[str, Any], changed: Collection[str] = ()
) -> list[Lost]:
    """Everything that is lost between two outlines; `changed` has the ids of hooks whose files
    changed."""
    settings = [
        *_find_lost_levels(before, after),
        *_find_other_options(before, after),
        *_find_new_folders(before, after),
        *_find_wider_limits(before, after),
        *_find_shadow(before, after),
    ]
    return [
        *_find_lost_entries(before, after, changed),
        *_find_lost_in_agents(before, after, changed),
        *map(Lost, settings),
    ]


def _find_lost_entries(
    before: Mapping[str, Any], after: Mapping[str, Any], changed: Collection[str]
) -> Iterator[Lost]:
    for kind in LISTS:
        old, new = (_read_entries(plan.get(kind)) for plan in (before, after))
        # A tool or a provider that is gone holds nobody back, unless the plan says that it does.
        held = [one for one in old if kind == "hooks" or one.locked or one.required]
        yield from _compare_lists(held, new, changed)


def _find_lost_in_agents(
    before: Mapping[str, Any], after: Mapping[str, Any], changed: Collection[str]
) -> Iterator[Lost]:
    for name, agent in (before.get("agents") or {}).items():
        left = (after.get("agents") or {}).get(name)
        if left is not None:  # one that is gone does nothing any more
            old, new = (_read_entries(one.get("hooks")) for one in (agent, left))
            for lost in _compare_lists(old, new, changed):
                yield Lost(f"agent {name}: {lost.sentence}", lost.module)


def _read_entries(listed: Iterable[Any] | None) -> list[ModuleEntry]:
    return [read_entry("hooks", one) for one in listed or ()]


def _compare_lists(
    old: Iterable[ModuleEntry], new: Iterable[ModuleEntry], changed: Collection[str]
) -> Iterator[Lost]:
    left = {_name(entry): entry for entry in new}
    for one in old:
        entry = left.get(_name(one))
        if entry is None:
            yield Lost(f"{_name(one)} would be gone", one.module)
        else:
            sentences = _compare(one, entry, one.module in changed)
            yield from (Lost(sentence, one.module) for sentence in sentences)


def _compare(old: ModuleEntry, new: ModuleEntry, is_changed: bool) -> Iterator[str]:
    name = _name(old)
    for switch in ("required", "locked"):
        if getattr(old, switch) and not getattr(new, switch):
            yield f"{name} would no longer be {switch}"
    if new.mode == "shadow" and old.mode != "shadow":
        yield f"{name} would have no effect any more: mode would be shadow"
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
        yield f"{name} would run in another position: priority {new.priority}, not {old.priority}"


def _name(entry: ModuleEntry) -> str:
    return entry.name or entry.instance_id or entry.module


def _find_lost_levels(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for name, ranks in _ORDERED.items():
        section, _, key = name.partition(".")
        was, will = (_read_section(plan, section).get(key) for plan in (before, after))
        if was != will and _rank(will, ranks) >= _rank(was, ranks):
            yield f"{name} would be {_show(will)}, not {_show(was)}"


def _find_other_options(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Of these nobody can say whether they hold more or less."""
    for section in SECTIONS:
        old, new = (_read_section(plan, section) for plan in (before, after))
        for key in sorted({*old, *new} - _OPTIONS):
            if old.get(key) != new.get(key):
                yield f"{section}.{key} would be different"


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


def _find_shadow(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    was, will = ((plan.get("session") or {}).get("evaluate_only") for plan in (before, after))
    if will and not was:
        yield "no hook would have an effect any more: session.evaluate_only would be true"


def _find_wider_limits(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old, new = ((plan.get("session") or {}).get("limits") or {} for plan in (before, after))
    for key, was in old.items():
        will = new.get(key)
        if was is not None and (will is None or will > was):
            yield f"session.limits.{key} would be {_show(will)}, not {was}"
