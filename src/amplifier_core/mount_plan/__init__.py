"""A mount plan as values: what a session is made of, with the short forms written out.

Plans travel as plain dicts, in bundles, in events and in `session.config`. Whoever works with one
reads it here, so that an entry has one form and a mistake one sentence.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_core.errors import ModuleLoadError
from amplifier_core.handlers import MODES, Mode
from amplifier_core.mount_plan.schema import ENTRY, WAYS, find_misspelt, judge_keys

LISTS = ("providers", "tools", "hooks")
EXAMPLES = {"orchestrator": "loop-basic", "context": "context-simple"}
"""The modules that a session cannot do without, each with one that would do."""

MAX_INJECTION_SIZE = 10_240
INJECTION_BUDGET_PER_TURN = 10_000
_TOOL_CALLS_AT_ONCE = 8


class _Section(BaseModel):
    """A part of a plan. Keys that the kernel does not know are kept for those who do."""

    model_config = ConfigDict(extra="allow", frozen=True)

    def to_dict(self) -> dict[str, Any]:
        """The plain form, with what was written and nothing else."""
        return self.model_dump(exclude_unset=True)


class ModuleEntry(_Section):
    """One module that a plan asks for."""

    module: str
    source: str | None = None
    name: str | None = None
    instance_id: str | None = None
    """The name that this instance of a provider goes by, where one module serves several."""
    config: dict[str, Any] = Field(default_factory=dict)
    priority: int | None = None
    required: bool = False
    mode: Literal["enforce", "shadow"] = "enforce"
    """With `shadow`, what its hooks answer is recorded and counted, and has no effect."""
    locked: bool = False
    """Whether it stays as it is, and its hooks run behind all others, so that none changes what
    they have judged."""


class SessionSection(_Section):
    """The settings of a session, with the two modules that it cannot do without."""

    orchestrator: ModuleEntry
    context: ModuleEntry


class MountPlan(_Section):
    """A whole plan."""

    session: SessionSection
    providers: tuple[ModuleEntry, ...] = ()
    tools: tuple[ModuleEntry, ...] = ()
    hooks: tuple[ModuleEntry, ...] = ()

    @classmethod
    def parse(cls, plan: Any) -> Self:
        """Read a plan; raises when it is no plan, or when an entry does not name its module."""
        check_plan(plan)
        needed = {kind: _read_needed(plan, kind) for kind in EXAMPLES}
        lists = {kind: _read_list(kind, plan.get(kind) or ()) for kind in LISTS}
        _check_instances(lists["providers"])
        return cls(**{**plan, **lists, "session": SessionSection(**{**plan["session"], **needed})})

    def entries(self) -> Iterator[tuple[str, ModuleEntry]]:
        """Every entry with its kind, in the order in which a session mounts them."""
        yield "orchestrator", self.session.orchestrator
        yield "context", self.session.context
        yield from (("providers", entry) for entry in self.providers)
        yield from (("tools", entry) for entry in self.tools)
        yield from (("hooks", entry) for entry in self.hooks)


def copy_plan(plan: Any) -> dict[str, Any]:
    """A plan as a dict of one's own; applications also keep theirs as a model."""
    return dict(plan.model_dump() if hasattr(plan, "model_dump") else plan or {})


def check_plan(plan: Any) -> None:
    """Refuse what cannot be the plan of any session."""
    if not plan:
        raise ValueError("Configuration is required: a session needs a mount plan")
    if not isinstance(plan, Mapping):
        raise TypeError(f"A session needs a mount plan, got {type(plan).__name__}")
    session: Any = plan.get("session")
    for kind, example in EXAMPLES.items():
        if not isinstance(session, Mapping) or not session.get(kind):
            raise ValueError(f"The mount plan must specify session.{kind}, such as {example!r}")
    limit = session.get("tool_result_limit")
    if limit is not None and (type(limit) is not int or limit < 1):
        raise ValueError(f"session.tool_result_limit: a positive number or null, got {limit!r}")
    read_mode(plan)
    if misspelt := find_misspelt(plan):
        raise ValueError(f"The mount plan: {misspelt}")
    _check_approval(plan.get("approval"))


def _check_approval(section: Any) -> None:
    """Refuse a section that would silently not hold."""
    if section is None:
        return
    if not isinstance(section, Mapping):
        raise TypeError(f"approval of a mount plan is a mapping, got {section!r}")
    mode = section.get("mode", "ask")
    limit = section.get("timeout")
    if mode not in ("ask", "deny", "edits"):
        raise ValueError(f"approval.mode: 'ask', 'deny' or 'edits', got {mode!r}")
    number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if limit is not None and not (number and 0 < limit < math.inf):
        raise ValueError(f"approval.timeout: a positive number of seconds, got {limit!r}")
    _check_askers(section)


def _check_askers(section: Mapping[str, Any]) -> None:
    """Refuse what is said of the people elsewhere that would silently not hold."""
    ways = list_ways(section)
    if wrong := [way for way in ways if way not in WAYS] or ([section["via"]] if not ways else []):
        raise ValueError(f"approval.via: one or several of {', '.join(WAYS)}, got {wrong[0]!r}")
    persons = section.get("persons", 1)
    own = section.get("requester_may_approve", True)
    if type(persons) is not int or persons < 1:
        raise ValueError(f"approval.persons: a whole number from 1, got {persons!r}")
    if not isinstance(own, bool):
        raise TypeError(f"approval.requester_may_approve: true or false, got {own!r}")


def list_ways(section: Mapping[str, Any] | None) -> tuple[Any, ...]:
    """The ways to people that `approval.via` names; a plan that says nothing means the terminal."""
    via = (section or {}).get("via", WAYS[0])
    if isinstance(via, list | tuple):
        return tuple(via)
    return (via,)


def check_locks(before: Any, plan: MountPlan) -> None:
    """Refuse a plan that leaves out or changes a locked entry or section of the one before it."""
    left = list(plan.entries())
    others = plan.model_extra or {}
    if read_mode(before) != read_mode(plan.to_dict()):
        switches = "session.run_all and session.evaluate_only"
        raise ModuleLoadError(f"{switches} hold from the start; no hook can change them")
    for key, section in before.items():
        locked = isinstance(section, Mapping) and section.get("locked") is True
        if locked and others.get(key) != section:
            raise ModuleLoadError(f"The section {key!r} is locked; no hook can change it")
    for kind, entry in MountPlan.parse(before).entries():
        if entry.locked and (kind, entry) not in left:
            message = f"Module '{entry.module}' is locked; no hook can change it or leave it out"
            raise ModuleLoadError(message, module_id=entry.module)


def read_entry(kind: str, entry: Any) -> ModuleEntry:
    """One entry of a plan, in whichever form it was written."""
    if isinstance(entry, ModuleEntry):
        return entry
    given = {"module": entry} if isinstance(entry, str) else entry
    named = isinstance(given, Mapping) and (given.get("module") or given.get("source"))
    if not named:
        raise ModuleLoadError(f"An entry of {kind} names its module, got {entry!r}")
    known = {key: value for key, value in given.items() if value is not None}
    if misspelt := judge_keys(known, ENTRY):
        raise ModuleLoadError(f"Module {named!r}: {misspelt}", module_id=str(named))
    try:
        return ModuleEntry.model_validate({**known, "module": named})
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"]))
        message = f"Module {named!r}: {where}: {wrong['msg']}, got {wrong['input']!r}"
        raise ModuleLoadError(message, module_id=str(named)) from error


def _read_needed(plan: Mapping[str, Any], kind: str) -> ModuleEntry:
    """The loop or the context; plans of the ecosystem keep its options beside the session."""
    entry = read_entry(kind, plan["session"][kind])
    beside = plan.get(kind)
    given: dict[str, Any] = {"required": True}
    if "config" not in entry.model_fields_set and isinstance(beside, Mapping):
        given["config"] = beside.get("config", beside)
    if "source" not in entry.model_fields_set:
        given["source"] = plan["session"].get(f"{kind}_source")
    return read_entry(kind, {**entry.to_dict(), **given})


def _read_list(kind: str, entries: Any) -> tuple[ModuleEntry, ...]:
    if not isinstance(entries, list | tuple):
        raise TypeError(f"{kind} of a mount plan is a list, got {type(entries).__name__}")
    return tuple(read_entry(kind, entry) for entry in entries)


def _check_instances(providers: Iterable[ModuleEntry]) -> None:
    """Two providers of one module need names, or the second would take the place of the first."""
    seen: set[tuple[str, str]] = set()
    for entry in providers:
        name = entry.instance_id or entry.name or str(entry.config.get("name") or "")
        if (entry.module, name) in seen:
            which = f"the instance_id {name!r}" if name else "no instance_id"
            raise ValueError(f"Two entries of the module {entry.module!r} have {which}")
        seen.add((entry.module, name))


@dataclass(frozen=True, slots=True)
class InjectionLimits:
    """What a session allows; None is unlimited."""

    size: int | None = MAX_INJECTION_SIZE
    budget: int | None = INJECTION_BUDGET_PER_TURN
    over_budget: Literal["drop", "warn"] = "drop"

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> InjectionLimits:
        """The limits in the `session` section of a mount plan."""
        over = settings.get("injection_over_budget", "drop")
        if over not in ("drop", "warn"):
            raise ValueError(f"injection_over_budget must be 'drop' or 'warn', got {over!r}")
        return cls(
            _read_limit(settings, "injection_size_limit", MAX_INJECTION_SIZE),
            _read_limit(settings, "injection_budget_per_turn", INJECTION_BUDGET_PER_TURN),
            over,
        )


def _read_limit(settings: Mapping[str, Any], key: str, default: int) -> int | None:
    value = settings.get(key, default)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{key} must be a whole number of at least 0 or null, got {value!r}")
    return value


def read_calls_at_once(plan: Mapping[str, Any]) -> int:
    """How many tool calls a plan lets run at once: `session.limits.tool_calls_at_once`."""
    limits = (plan.get("session") or {}).get("limits") or {}
    if not isinstance(limits, Mapping):
        raise TypeError(f"session.limits is a mapping, got {type(limits).__name__}")
    most = limits.get("tool_calls_at_once", _TOOL_CALLS_AT_ONCE)
    if most is None:
        return sys.maxsize
    if type(most) is not int or most < 1:
        where = "session.limits.tool_calls_at_once"
        raise ValueError(f"{where}: a whole number of at least 1 or null, got {most!r}")
    return most


def read_mode(plan: Mapping[str, Any]) -> Mode:
    """What a plan lets the answers of hooks do: `session.evaluate_only`, `session.run_all`."""
    found: Mode = "enforce"
    for switch in MODES[1:]:
        value = (plan.get("session") or {}).get(switch, False)
        if not isinstance(value, bool):
            raise TypeError(f"session.{switch}: true or false, got {value!r}")
        found = switch if value else found
    return found


def may_ask(plan: Mapping[str, Any]) -> bool:
    """Whether a plan lets a person be asked: `approval.mode`. If not, every question is a no."""
    return (plan.get("approval") or {}).get("mode") != "deny"


def read_approval_limit(plan: Mapping[str, Any]) -> float | None:
    """The longest that a plan lets a question wait: `approval.timeout`, in seconds."""
    limit = (plan.get("approval") or {}).get("timeout")
    if limit is None:
        return None
    return float(limit)


PUBLIC_MODULES = ("schema",)
