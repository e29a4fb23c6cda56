"""check_call: what the hooks would answer to a tool call, without calling any that has effects."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.dispatch import Answer, Dispatch
from amplifier_core.errors import AmplifierError
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_core.mount_plan import ModuleEntry, MountPlan, read_mode
from amplifier_core.precedence import list_injections, strongest
from amplifier_core.utils import describe_error
from amplifier_core.validation.samples import sample_payload
from amplifier_hooks.agent.session.inspection.effective_hooks import EffectiveHooks
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.mcp.server.policy.bundle import CurrentBundle
from amplifier_hooks.mcp.server.policy.knowledge import KNOWN, Kind
from amplifier_hooks.mcp.server.policy.people import People, describe_people
from amplifier_hooks.mcp.server.policy.shell_commands import find_commands
from amplifier_hooks.mcp.server.policy.wording import explain
from amplifier_hooks.mcp.server.tool import Arguments, Result

Verdict = Literal["continue", "modify", "inject_context", "ask_user", "deny", "unknown"]

_FROZEN = ConfigDict(frozen=True, extra="forbid")
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
    people: People | None = Field(description="Who would be asked, if somebody would be.")
    note: str


@dataclass(frozen=True, slots=True)
class CallCheck:
    """Asks the hooks of a bundle about calls."""

    bundle: CurrentBundle

    async def run(self, given: CheckArguments) -> CheckResult:
        """What would become of this call; nothing does."""
        material, hooks = await self.bundle.mount_asked()
        data = {
            **sample_payload(TOOL_PRE),
            "tool_name": given.tool_name,
            "tool_input": given.tool_input,
            "tool_call_id": f"check-{time.monotonic_ns()}",
        }
        data.pop("timestamp", None)
        dispatch, _ = await hooks.trace(TOOL_PRE, data)
        not_asked = [*self._list_not_asked(material, hooks, data), *_list_of_tools(given)]
        return _build_result(material, dispatch, not_asked, given)

    def _list_not_asked(
        self, material: Material, hooks: EffectiveHooks, data: dict[str, Any]
    ) -> list[NotAsked]:
        failed = {
            one.entry.module: str(one.failure) for one in hooks.mounting.mounted if one.failure
        }
        found = []
        for entry in MountPlan.parse(material.bundle.mount_plan).hooks:
            known = self.bundle.know(entry)
            name = self.bundle.name_module(entry)
            if entry.module in failed:
                why = f"it cannot be used: {failed[entry.module]}"
                found.append(NotAsked(module=name, kind="runs code", why=why))
            elif known is KNOWN["hooks-shell"]:
                found += _look_at_shell(entry, material, hooks, data, known.why)
            elif known.kind in ("depends", "runs code"):
                found.append(NotAsked(module=name, kind=known.kind, why=known.why))
        return found


def _list_of_tools(given: CheckArguments) -> list[NotAsked]:
    """Guards that tools bring along."""
    if given.tool_name == "Bash" and given.tool_input.get("needs"):
        why = "it asks or denies when a call needs more than the sandbox gives; it was not called"
        return [NotAsked(module="tool-bash", kind="runs code", why=why)]
    if given.tool_name.startswith("mcp__"):
        why = "asks when a server has changed what it says of the tool; it was not called"
        return [NotAsked(module="tool-mcp", kind="depends", why=why)]
    return []


def _look_at_shell(
    entry: ModuleEntry, material: Material, hooks: EffectiveHooks, data: dict[str, Any], why: str
) -> list[NotAsked]:
    """Nothing, if none of its commands is for this call."""
    try:
        commands = find_commands(entry, material, hooks.host, data)
    except (AmplifierError, OSError) as error:
        why = f"it cannot be used: {error}"
        return [NotAsked(module=entry.module, kind="runs code", why=why)]
    if not commands:
        return []
    return [NotAsked(module=entry.module, kind="runs code", why=why, would_run=commands)]


def _build_result(
    material: Material, dispatch: Dispatch, not_asked: list[NotAsked], given: CheckArguments
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
        summary=explain(answer, enforced=enforced, depends=depends),
        answer=answer,
        enforced=enforced,
        changed_input=changed if changed != given.tool_input else None,
        answers=[_describe_answer(one) for one in answers],
        not_asked=not_asked,
        people=describe_people(plan["approval"]) if answer == "ask_user" else None,
        note=NOTE,
    )


NOTE = (
    "Advice, not permission: when the call is made, the hooks judge it again, and only then is a "
    "person asked. Sessions, tools and the guard of a coding agent may add hooks to the bundle's."
)


def _list_answers(dispatch: Dispatch) -> list[Answer]:
    """What each hook said, also where shadow mode takes it back."""
    said = {id(one.handler): one for one in dispatch.shadowed}
    return [said.get(id(one.handler), one) for one in dispatch.answers]


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
