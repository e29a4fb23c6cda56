"""list_hooks: which hooks run at which event, in which order, and what they are for."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.events import canonical
from amplifier_core.events.names import find_meant
from amplifier_core.mount_plan import ModuleEntry, MountPlan, read_mode
from amplifier_hooks.agent.session.inspection.effective_hooks import EffectiveHooks, HookRow
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.policy.bundle import CurrentBundle
from amplifier_hooks.mcp.server.policy.knowledge import Kind
from amplifier_hooks.mcp.server.policy.rules import RuleInWords, describe_rules
from amplifier_hooks.mcp.server.tool import Arguments, Result

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

    async def run(self, given: HooksArguments) -> HooksResult:
        """The hooks of one event, or of all."""
        if given.event and (meant := find_meant(given.event)):
            raise Refused(f"There is no event {given.event!r}; did you mean {meant!r}?")
        material, hooks = await self.bundle.mount_listed()
        events = [canonical(given.event)] if given.event else hooks.list_events()
        rows = [row for event in events for row in hooks.list_rows(event)]
        entries = MountPlan.parse(material.bundle.mount_plan).hooks
        modules = [self._describe(entry) for entry in entries]
        return _build_result(material, hooks, rows, modules)

    def _describe(self, entry: ModuleEntry) -> ListedModule:
        known = self.bundle.know(entry)
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
