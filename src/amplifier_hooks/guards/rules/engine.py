"""Runs the rules of one action on an event and makes one answer of theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from amplifier_core.models import Action, ContextInjection, Decision, HookResult
from amplifier_core.utils import describe_error
from amplifier_hooks.guards.rules.answer import build_answer, describe_dry_run
from amplifier_hooks.guards.rules.matcher import Unclear
from amplifier_hooks.guards.rules.occasion import Occasion
from amplifier_hooks.guards.rules.rule import OnError
from amplifier_hooks.guards.rules.ruleset import LoadedRule, RuleSet
from amplifier_hooks.modules.guarding import Reply

CONTINUE = HookResult(action="continue")


class Engine:
    """A handler for the rules of one action."""

    def __init__(
        self,
        rules: RuleSet,
        make_occasion: Callable[[str, dict[str, Any]], Occasion],
        *,
        on_error: OnError,
        unclear: OnError,
        dry_run: bool,
    ) -> None:
        self._rules = rules
        self._make_occasion = make_occasion
        self._on_error = on_error
        self._unclear = unclear
        self._dry_run = dry_run

    def on_event(self, event: str, data: dict[str, Any]) -> Reply:
        """At once when no rule listens, or none needs to look at files."""
        tool = data.get("tool_name")
        rules = self._rules.find_rules(event, tool if isinstance(tool, str) else "")
        if not rules:
            return CONTINUE
        occasion = self._make_occasion(event, data)
        if any(loaded.looks_at_files for loaded in rules):
            return asyncio.to_thread(self._decide, rules, occasion)
        return self._decide(rules, occasion)

    def _decide(self, rules: Iterable[LoadedRule], occasion: Occasion) -> HookResult:
        results: list[HookResult] = []
        for loaded in rules:
            result = self._apply_rule(loaded, occasion)
            if result is None:
                continue
            results.append(result)
            if result.action == "deny":
                return _add_messages(result, results)
            if result.action == "modify":
                occasion = self._make_occasion(occasion.event, result.data or {})
        return combine(results)

    def _apply_rule(self, loaded: LoadedRule, occasion: Occasion) -> HookResult | None:
        try:
            result = build_answer(loaded.rule, occasion) if loaded.applies_to(occasion) else None
        except Unclear as doubt:
            result = self._answer_unclear(loaded, str(doubt))
        except Exception as failure:  # noqa: BLE001  a rule that fails must not let the call through
            result = self._answer_failure(loaded, describe_error(failure))
        if result is not None and (self._dry_run or loaded.rule.dry_run):
            return describe_dry_run(loaded.rule, result)
        return result

    def _answer_unclear(self, loaded: LoadedRule, doubt: str) -> HookResult | None:
        if not loaded.rule.guards:
            return None
        return _fail_closed(self._unclear, f"the rule {loaded.rule.name!r} cannot tell: {doubt}")

    def _answer_failure(self, loaded: LoadedRule, cause: str) -> HookResult | None:
        policy = loaded.rule.on_error or self._on_error
        return _fail_closed(
            policy, f"the rule {loaded.rule.name!r} could not be evaluated: {cause}"
        )


def _fail_closed(policy: OnError, reason: str) -> HookResult | None:
    if policy == "continue":
        return None
    if policy == "deny":
        return HookResult(action="deny", reason=reason)
    return HookResult(
        action="ask_user",
        reason=reason,
        approval_prompt=f"Allow it all the same? In doubt, {reason}",
    )


def combine(results: list[HookResult]) -> HookResult:
    """One answer that loses nothing of several: all questions, all injections, all messages."""
    if len(results) < 2:
        return results[0] if results else CONTINUE
    if asks := _select(results, "ask_user"):
        return _add_messages(_merge_questions(asks), results)
    if injecting := _select(results, "inject_context"):
        return _add_messages(_merge_injections(injecting), results)
    changing = _select(results, "modify")
    return _add_messages(changing[-1] if changing else results[0], results)


def _select(results: list[HookResult], action: Action) -> list[HookResult]:
    return [result for result in results if result.action == action]


def _merge_questions(asks: list[HookResult]) -> HookResult:
    """All prompts are shown; the most careful settings hold."""
    if len(asks) == 1:
        return asks[0]
    prompts = [f"{number}. {ask.approval_prompt}" for number, ask in enumerate(asks, 1)]
    return asks[0].model_copy(
        update={
            "approval_prompt": "\n".join(["Several rules ask:", *prompts]),
            "approval_options": _choose_options(asks),
            "approval_timeout": min(ask.approval_timeout for ask in asks),
            "approval_default": _choose_default(asks),
            "reason": "; ".join(ask.reason for ask in asks if ask.reason) or None,
        }
    )


def _choose_options(asks: list[HookResult]) -> list[str] | None:
    """Those that all rules offer; rules that differ offer the plainest ones."""
    first = asks[0].approval_options
    return first if all(ask.approval_options == first for ask in asks) else ["Allow", "Deny"]


def _choose_default(asks: list[HookResult]) -> Decision:
    return "deny" if any(ask.approval_default == "deny" for ask in asks) else "allow"


def _merge_injections(results: list[HookResult]) -> HookResult:
    injections = [
        ContextInjection(
            content=result.context_injection or "",
            role=result.context_injection_role,
            ephemeral=result.ephemeral,
            append_to_last_tool_result=result.append_to_last_tool_result,
        )
        for result in results
    ]
    if len(injections) == 1:
        return results[0]
    return HookResult(action="inject_context", context_injections=injections)


def _add_messages(result: HookResult, results: list[HookResult]) -> HookResult:
    said = [other for other in results if other.user_message]
    if not said or (len(said) == 1 and said[0] is result):
        return result
    levels = ("info", "warning", "error")
    return result.model_copy(
        update={
            "user_message": "\n".join(str(other.user_message) for other in said),
            "user_message_level": max((o.user_message_level for o in said), key=levels.index),
        }
    )


def make_occasion_factory(
    base: Path, path_keys: tuple[str, ...], command_keys: tuple[str, ...]
) -> Callable[[str, dict[str, Any]], Occasion]:
    """Makes occasions that know where the session works."""
    return lambda event, data: Occasion(event, data, base, path_keys, command_keys)
