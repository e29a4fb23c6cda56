"""list_hooks: which hooks run at which event, in which order, and what they are for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_core.errors import AmplifierError
from amplifier_core.event_names import find_meant
from amplifier_core.events import canonical
from amplifier_core.mount_plan import ModuleEntry, MountPlan, read_mode
from amplifier_hooks.agent.session.inspection.effective_hooks import EffectiveHooks, HookRow
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.guards.rules.loading import NAME, Config, read_rules
from amplifier_hooks.guards.rules.rule import Match, Rule, as_list
from amplifier_hooks.mcp.server.current_bundle import CurrentBundle, Kind
from amplifier_hooks.mcp.server.tool import Arguments, Refused, Result

_LOOKS_FOR = ("tool", "path", "command", "regex", "when")


class RuleInWords(BaseModel):
    """One rule: when it applies, and what it answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    events: list[str]
    action: str
    applies_to: dict[str, Any] = Field(description="All of this must hold; empty: to everything.")
    unless: dict[str, Any] = Field(description="It does not apply where all of this holds.")
    says: str = Field(description="Its reason, question or text.")
    only_tried: bool = Field(description="It is a trial: it says what it would do, and does not.")


def describe_rules(material: Material) -> list[RuleInWords]:
    """The rules that are switched on; none of a module whose options are wrong."""
    plan = MountPlan.parse(material.bundle.mount_plan)
    return [
        rule
        for entry in plan.hooks
        if entry.module == NAME and entry.source is None
        for rule in _read(entry, material)
    ]


def _read(entry: ModuleEntry, material: Material) -> list[RuleInWords]:
    try:
        config = Config.model_validate(entry.config)
        found = read_rules(config, material.folder, material.snapshot.read)
    except (ValidationError, AmplifierError, OSError):
        return []  # the failure of the module says it
    rules = [one.rule for one in found]
    return [_describe(rule, tried=config.dry_run or rule.dry_run) for rule in rules]


def _describe(rule: Rule, *, tried: bool) -> RuleInWords:
    said = (rule.description, rule.reason, rule.approval_prompt, rule.context_injection)
    return RuleInWords(
        name=rule.name,
        events=as_list(rule.event),
        action=rule.action,
        applies_to=_list_conditions(rule),
        unless=_list_conditions(rule.unless) if rule.unless else {},
        says=" · ".join(text for text in said if text),
        only_tried=tried,
    )


def _list_conditions(match: Match) -> dict[str, Any]:
    written = match.model_dump(mode="json", include=set(_LOOKS_FOR), exclude_none=True)
    return {name: written[name] for name in _LOOKS_FOR if name in written}


_FROZEN = ConfigDict(frozen=True, extra="forbid")


class HooksArguments(Arguments):
    """Which hooks to list."""

    event: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="Only hooks that listen to this event, such as tool:pre.",
    )


class ListedHook(BaseModel):
    """One hook in its place."""

    model_config = _FROZEN

    event: str
    order: int
    hook: str
    priority: int
    guard: bool = Field(description="A guard that fails denies; any other hook is passed over.")
    seconds: float | None = Field(description="Its time limit.")
    shadow: bool = Field(default=False, description="In shadow mode: it has no effect.")


class ListedModule(BaseModel):
    """A module of the bundle, and how it is treated here."""

    model_config = _FROZEN

    module: str
    kind: Kind
    about: str
    listed: bool = Field(description="Whether its hooks are in the list; else nobody looked.")


class HooksResult(Result):
    """The hooks of the bundle."""

    bundle: str
    enforced: bool = Field(description="False in shadow mode: answers are recorded, not obeyed.")
    hooks: list[ListedHook]
    modules: list[ListedModule]
    rules: list[RuleInWords] = Field(description="The rules of hooks-rules that are switched on.")
    failures: list[str] = Field(description="Modules that cannot be used, and what follows.")


@dataclass(frozen=True, slots=True)
class HookList:
    """Lists the hooks of a bundle."""

    bundle: CurrentBundle

    async def run(self, arguments: HooksArguments) -> HooksResult:
        """The hooks of one event, or of all."""
        if arguments.event and (meant := find_meant(arguments.event)):
            raise Refused(f"There is no event {arguments.event!r}; did you mean {meant!r}?")
        material, hooks = await self.bundle.mount_listed()
        events = [canonical(arguments.event)] if arguments.event else hooks.list_events()
        rows = [row for event in events for row in hooks.list_rows(event)]
        entries = MountPlan.parse(material.bundle.mount_plan).hooks
        modules = [self._describe(entry) for entry in entries]
        return _build_result(material, hooks, rows, modules)

    def _describe(self, entry: ModuleEntry) -> ListedModule:
        known = self.bundle.find_effect(entry)
        return ListedModule(
            module=self.bundle.name_module(entry),
            kind=known.kind,
            about=known.does,
            listed=self.bundle.is_listed(entry),
        )


def _build_result(
    material: Material, hooks: EffectiveHooks, rows: list[HookRow], modules: list[ListedModule]
) -> HooksResult:
    unseen = sum(not one.listed for one in modules)
    more = f"; {unseen} modules were not looked into" if unseen else ""
    return HooksResult(
        summary=f"{len(rows)} hooks of {len(modules)} modules{more}.",
        bundle=material.bundle.name,
        enforced=read_mode(material.bundle.mount_plan) != "evaluate_only",
        hooks=[_describe_row(row) for row in rows],
        modules=modules,
        rules=describe_rules(material),
        failures=hooks.failures,
    )


def _describe_row(row: HookRow) -> ListedHook:
    return ListedHook(
        event=row.event,
        order=row.order,
        hook=row.hook,
        priority=row.priority,
        guard=row.on_error == "deny" and not row.shadow,
        seconds=row.timeout,
        shadow=row.shadow,
    )
