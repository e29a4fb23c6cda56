"""The tools about the bundle: what its hooks would answer to a call, and which hooks it has."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_core.dispatch import Answer, Dispatch
from amplifier_core.errors import AmplifierError
from amplifier_core.event_names import find_meant
from amplifier_core.events import TOOL_PRE, canonical
from amplifier_core.interfaces import Host
from amplifier_core.models import HookResult
from amplifier_core.mount_plan import ModuleEntry, MountPlan, list_ways, read_mode
from amplifier_core.precedence import list_injections, strongest
from amplifier_core.utils import describe_error
from amplifier_core.validation.hook import sample_payload
from amplifier_hooks.agent.session.inspection.effective_hooks import EffectiveHooks, HookRow
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.coding_agents.shell_hooks.config import NAME as SHELL_HOOKS
from amplifier_hooks.coding_agents.shell_hooks.config import Config as ShellConfig
from amplifier_hooks.coding_agents.shell_hooks.module import read_all
from amplifier_hooks.coding_agents.shell_hooks.selector import Selector
from amplifier_hooks.guards.rules.loading import NAME as RULES
from amplifier_hooks.guards.rules.loading import Config as RulesConfig
from amplifier_hooks.guards.rules.loading import read_rules
from amplifier_hooks.guards.rules.rule import CONDITIONS, Match, Rule, as_list
from amplifier_hooks.mcp.server.current_bundle import EFFECTS, CurrentBundle, Kind
from amplifier_hooks.mcp.server.tool import Arguments, Refused, Result
from amplifier_hooks.modules.options import parse_config

_FROZEN = ConfigDict(frozen=True, extra="forbid")
_WAYS = {
    "terminal": "the person at the terminal of the session",
    "store": "people who answer with `amplifier approvals` or on the page of `amplifier serve`",
    "server": "people at the server that the bundle names",
}
_MODES = {
    "ask": "",
    "deny": "nobody is asked: the bundle refuses every question (approval.mode: deny)",
    "edits": "edits of files in this folder are allowed without asking; for the rest: ",
}


class Approvers(BaseModel):
    """Who answers questions, and how many of them must allow."""

    model_config = _FROZEN

    asked: str = Field(description="Who would be asked, in words.")
    persons: int = Field(description="How many people must allow it.")
    requester_may_approve: bool = Field(
        description="Whether the person who runs the agent may be one of them."
    )
    scope: str = Field(description="A right that who allows it must have; empty if none.")


def describe_approvers(section: Mapping[str, Any]) -> Approvers:
    """Read from the section `approval` of a bundle."""
    mode = str(section.get("mode") or "ask")
    ways = " and ".join(_WAYS.get(str(way), str(way)) for way in list_ways(section))
    asked = _MODES.get(mode, "") + ("" if mode == "deny" else ways)
    return Approvers(
        asked=asked,
        persons=int(section.get("persons", 1)),
        requester_may_approve=bool(section.get("requester_may_approve", True)),
        scope=str(section.get("scope") or ""),
    )


def list_shell_commands(
    entry: ModuleEntry, material: Material, host: Host, data: dict[str, Any]
) -> list[str]:
    """What would be run before this call could go on; ModuleLoadError for wrong options."""
    options = parse_config(ShellConfig, entry.config, SHELL_HOOKS)
    base = options.find_base(str(material.folder))
    settings = read_all(options, base, material.snapshot)
    chosen = Selector(host, options, settings.handlers).select(TOOL_PRE, data)
    return [handler.label for handler, _ in chosen if not handler.background]


_MEANINGS = {
    "continue": "No hook that was asked would stop or change this call.",
    "modify": "The call would go on with another input.",
    "inject_context": "The call would go on, and a hook would tell the agent something.",
    "ask_user": "A person would be asked before this call.",
    "deny": "A hook would deny this call.",
    "unknown": "Not known: a hook that cannot be asked without effects may stop this call.",
}
_DEPENDS = " What happened in the session, such as too many calls, may still stop it."
_SHADOW = " The bundle is in shadow mode, though: answers are recorded and have no effect."


def explain_verdict(answer: str, *, enforced: bool, depends: bool) -> str:
    """What an answer means for whoever wants to make the call."""
    more = _DEPENDS if depends and answer not in ("deny", "unknown") else ""
    return _MEANINGS[answer] + more + ("" if enforced else _SHADOW)


Verdict = Literal["continue", "modify", "inject_context", "ask_user", "deny", "unknown"]

_SURE = ("ask_user", "deny")


class CheckArguments(Arguments):
    """A tool call that is only asked about."""

    tool_name: str = Field(
        min_length=1,
        max_length=200,
        description="The tool, such as Bash, Write, or mcp__server__tool for a tool of a server.",
    )
    tool_input: dict[str, Any] = Field(
        default_factory=dict, description="The input as the tool would get it."
    )


class Question(BaseModel):
    """What a person would be asked."""

    model_config = _FROZEN

    prompt: str
    options: list[str]
    seconds: float = Field(description="How long an answer is waited for.")
    without_answer: Literal["allow", "deny"] = Field(description="What holds if nobody answers.")


class HookAnswer(BaseModel):
    """What one hook would answer."""

    model_config = _FROZEN

    hook: str
    action: Literal["continue", "modify", "inject_context", "ask_user", "deny"]
    reason: str | None = None
    question: Question | None = None
    injects: list[str] = Field(default=[], description="Texts that it would tell the agent.")
    shadow: bool = Field(default=False, description="In shadow mode: this has no effect.")
    error: str | None = Field(default=None, description="Why it failed instead of answering.")


class NotAsked(BaseModel):
    """A module whose hooks were not called."""

    model_config = _FROZEN

    module: str
    kind: Kind
    why: str
    would_run: list[str] = Field(default=[], description="Commands that it would run.")


class CheckResult(Result):
    """What would become of the call."""

    answer: Verdict = Field(
        description="The strongest answer. unknown: a hook that could not be asked may stop it."
    )
    enforced: bool = Field(description="False in shadow mode: answers are recorded, not obeyed.")
    changed_input: dict[str, Any] | None = Field(
        description="The input that the tool would get, if a hook would change it."
    )
    answers: list[HookAnswer] = Field(description="Of the hooks that were asked, in their order.")
    not_asked: list[NotAsked] = Field(
        description="Modules that may answer too, and were not asked because that has effects."
    )
    people: Approvers | None = Field(description="Who would be asked, if somebody would be.")
    note: str


@dataclass(frozen=True, slots=True)
class CallCheck:
    """Asks the hooks of a bundle about calls."""

    bundle: CurrentBundle

    async def run(self, arguments: CheckArguments) -> CheckResult:
        """What would become of this call; nothing does."""
        material, hooks = await self.bundle.mount_asked()
        data = {
            **sample_payload(TOOL_PRE),
            "tool_name": arguments.tool_name,
            "tool_input": arguments.tool_input,
            "tool_call_id": f"check-{time.monotonic_ns()}",
        }
        data.pop("timestamp", None)
        dispatch, _ = await hooks.trace(TOOL_PRE, data)
        not_asked = [*self._list_not_asked(material, hooks, data), *_list_tool_guards(arguments)]
        return _build_check(material, dispatch, not_asked, arguments)

    def _list_not_asked(
        self, material: Material, hooks: EffectiveHooks, data: dict[str, Any]
    ) -> list[NotAsked]:
        failed = {
            one.entry.module: str(one.failure) for one in hooks.mounting.mounted if one.failure
        }
        found = []
        for entry in MountPlan.parse(material.bundle.mount_plan).hooks:
            known = self.bundle.find_effect(entry)
            name = self.bundle.name_module(entry)
            if entry.module in failed:
                why = f"it cannot be used: {failed[entry.module]}"
                found.append(NotAsked(module=name, kind="runs code", why=why))
            elif known is EFFECTS["hooks-shell"]:
                found += _check_shell_hooks(entry, material, hooks, data, known.why)
            elif known.kind in ("depends", "runs code"):
                found.append(NotAsked(module=name, kind=known.kind, why=known.why))
        return found


def _list_tool_guards(arguments: CheckArguments) -> list[NotAsked]:
    """Guards that tools bring along."""
    if arguments.tool_name == "Bash" and arguments.tool_input.get("needs"):
        why = "it asks or denies when a call needs more than the sandbox gives; it was not called"
        return [NotAsked(module="tool-bash", kind="runs code", why=why)]
    if arguments.tool_name.startswith("mcp__"):
        why = "asks when a server has changed what it says of the tool; it was not called"
        return [NotAsked(module="tool-mcp", kind="depends", why=why)]
    return []


def _check_shell_hooks(
    entry: ModuleEntry, material: Material, hooks: EffectiveHooks, data: dict[str, Any], why: str
) -> list[NotAsked]:
    """Nothing, if none of its commands is for this call."""
    try:
        commands = list_shell_commands(entry, material, hooks.host, data)
    except (AmplifierError, OSError) as error:
        why = f"it cannot be used: {error}"
        return [NotAsked(module=entry.module, kind="runs code", why=why)]
    if not commands:
        return []
    return [NotAsked(module=entry.module, kind="runs code", why=why, would_run=commands)]


def _build_check(
    material: Material, dispatch: Dispatch, not_asked: list[NotAsked], arguments: CheckArguments
) -> CheckResult:
    plan = material.bundle.mount_plan
    answers = _list_answers(dispatch)
    winner = strongest([one for one in answers if not one.handler.shadow])
    action = winner.result.action if winner is not None else "continue"
    open_ends = any(one.kind == "runs code" for one in not_asked)
    answer: Verdict = "unknown" if open_ends and action not in _SURE else action
    changed = dispatch.data.get("tool_input")
    enforced = read_mode(plan) != "evaluate_only"
    depends = any(one.kind == "depends" for one in not_asked)
    return CheckResult(
        summary=explain_verdict(answer, enforced=enforced, depends=depends),
        answer=answer,
        enforced=enforced,
        changed_input=changed if changed != arguments.tool_input else None,
        answers=[_describe_answer(one) for one in answers],
        not_asked=not_asked,
        people=describe_approvers(plan["approval"]) if answer == "ask_user" else None,
        note=NOTE,
    )


NOTE = (
    "Advice, not permission: when the call is made, the hooks judge it again, and only then is a "
    "person asked. Sessions, tools and the guard of a coding agent may add hooks to the bundle's."
)


def _list_answers(dispatch: Dispatch) -> list[Answer]:
    """What each hook said, also where shadow mode takes it back."""
    said = {id(one.handler): one for one in dispatch.shadow_answers}
    return [said.get(id(one.handler), one) for one in dispatch.all_answers]


def _describe_answer(answer: Answer) -> HookAnswer:
    result = answer.result
    return HookAnswer(
        hook=answer.hook,
        action=result.action,
        reason=result.reason,
        question=_describe_question(result) if result.action == "ask_user" else None,
        injects=[one.content for one in list_injections(result)],
        shadow=answer.handler.shadow,
        error=None if answer.error is None else describe_error(answer.error),
    )


def _describe_question(result: HookResult) -> Question:
    return Question(
        prompt=result.approval_prompt or "",
        options=result.approval_options or ["Allow", "Deny"],
        seconds=result.approval_timeout,
        without_answer=result.approval_default,
    )


class RuleInWords(BaseModel):
    """One rule: when it applies, and what it answers."""

    model_config = _FROZEN

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
        if entry.module == RULES and entry.source is None
        for rule in _read_rules(entry, material)
    ]


def _read_rules(entry: ModuleEntry, material: Material) -> list[RuleInWords]:
    try:
        config = RulesConfig.model_validate(entry.config)
        found = read_rules(config, material.folder, material.snapshot.read)
    except (ValidationError, AmplifierError, OSError):
        return []  # the failure of the module says it
    rules = [one.rule for one in found]
    return [_describe_rule(rule, tried=config.dry_run or rule.dry_run) for rule in rules]


def _describe_rule(rule: Rule, *, tried: bool) -> RuleInWords:
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
    written = match.model_dump(mode="json", include=set(CONDITIONS), exclude_none=True)
    return {name: written[name] for name in CONDITIONS if name in written}


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
        return _build_list(material, hooks, rows, modules)

    def _describe(self, entry: ModuleEntry) -> ListedModule:
        known = self.bundle.find_effect(entry)
        return ListedModule(
            module=self.bundle.name_module(entry),
            kind=known.kind,
            about=known.does,
            listed=self.bundle.is_listed(entry),
        )


def _build_list(
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
