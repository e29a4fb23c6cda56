"""The rules of a session, found by event and tool, and the one answer that they make together."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import TOOL_PRE, canonical
from amplifier_core.models import Action, ContextInjection, Decision, HookResult
from amplifier_core.utils import describe_error
from amplifier_core.utils.nested import rewrite
from amplifier_hooks.guards.policy.patterns import PatternError
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS, TOOLS
from amplifier_hooks.guards.rules.matching import ConditionError, EventView, Matcher, Unclear
from amplifier_hooks.guards.rules.rule import ANSWER_FIELDS, OnError, Rule, as_list
from amplifier_hooks.modules.registration import Reply, fits_glob

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_\-]+)*)\}")
_LONGEST = 1_000


def build_answer(rule: Rule, view: EventView) -> HookResult:
    """The rule's own result for this event."""
    given = {name: getattr(rule, name) for name in ANSWER_FIELDS if name in rule.model_fields_set}
    if rule.action == "ask_user" and rule.approval_prompt is None:
        given["approval_prompt"] = rule.reason
    if rule.action == "deny" and rule.reason is None:
        given["reason"] = f"the rule {rule.name!r} denies it"
    data = given.pop("data", None)
    fields = {name: fill_templates(value, rule, view) for name, value in given.items()}
    if data is not None:
        fields["data"] = merge_data(view.data, fill_templates(data, rule, view))
    return HookResult(action=rule.action, **fields)


def fill_templates(value: Any, rule: Rule, view: EventView) -> Any:
    """The value with `{tool_name}`, `{tool_input.file_path}` … replaced in its texts.

    Only keys of the event's data are looked up, never attributes; an unknown name stays as it is.
    """
    return rewrite(
        value,
        lambda text, _: _PLACE.sub(lambda place: _look_up(place[1], place[0], rule, view), text),
        keys=False,
    )


def _look_up(name: str, written: str, rule: Rule, view: EventView) -> str:
    known = {"event": view.event, "rule": rule.name, **view.notes}
    value = known.get(name, view.look_up(name))
    if value is None:
        return written
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def merge_data(data: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The data with the changes laid over it: mappings are joined, everything else replaced."""
    result = dict(data)
    for key, value in changes.items():
        below = result.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        result[key] = merge_data(below, value) if both else value  # type: ignore[arg-type]
    return result


def describe_dry_run(rule: Rule, result: HookResult) -> HookResult:
    """Dry run: say what the rule would have done, and do nothing."""
    what = result.reason or result.approval_prompt or result.context_injection or ""
    said = f"Dry run: the rule {rule.name!r} would have answered {rule.action}"
    return HookResult(
        action="continue",
        user_message=f"{said}: {what}" if what else said,
        user_message_level="info",
    )


_MOST_REMEMBERED = 1_024


@dataclass(frozen=True, slots=True)
class LoadedRule:
    """A rule with its compiled matchers."""

    rule: Rule
    events: tuple[str, ...]
    tools: tuple[str, ...]
    matcher: Matcher
    unless: Matcher | None
    unless_tools: tuple[str, ...]

    @property
    def looks_at_files(self) -> bool:
        """Whether the match or its exception is about paths, which are looked up on the disk."""
        return any(one.looks_at_files for one in (self.matcher, self.unless) if one is not None)

    @property
    def judges_calls(self) -> bool:
        """Whether it can stop a tool call."""
        return self.rule.enabled and self.rule.guards and _matches_any(self.events, TOOL_PRE)

    def describes(self, tool: str) -> bool:
        """Whether it judges this tool by its name, or whatever its input has in it."""
        by_keys = self.rule.path is not None or self.rule.command is not None
        return self._fits_name(tool) if self.tools else not by_keys

    def listens_to(self, event: str, tool: str) -> bool:
        """Whether event and tool are among the rule's."""
        return _matches_any(self.events, event) and (not self.tools or self._names(tool))

    def _names(self, tool: str) -> bool:
        """A rule that stops calls also stops those of `bash` and `shell`, if it names `Bash`."""
        if not self.rule.guards:
            return _matches_any(self.tools, tool)
        return self._fits_name(tool) or (tool not in TOOLS and bool(_find_kinds(self.tools)))

    def _fits_name(self, tool: str) -> bool:
        same = ("Edit", tool) if tool in EDITING_TOOLS - {"Write"} else (tool,)
        return any(fits_glob(name, glob) for glob in self.tools for name in same)

    def _is_meant(self, view: EventView) -> bool:
        """Whether the tool has a name of the rule's, or does what one of ours does."""
        if not self.tools or not self.rule.guards or self._fits_name(view.tool):
            return True
        kinds = _find_kinds(self.tools)
        return ("run" in kinds and view.runs) or ("change" in kinds and view.changes)

    def applies_to(self, view: EventView) -> bool:
        """Whether the rest of the match holds, too."""
        if not self._is_meant(view):
            return False
        return self.matcher.holds(view) and not self._is_excepted(view)

    def _is_excepted(self, view: EventView) -> bool:
        """An exception that cannot be told to hold is none."""
        if self.unless is None:
            return False
        if self.unless_tools and not _matches_any(self.unless_tools, view.tool):
            return False
        try:
            return self.unless.holds(view)
        except Unclear:
            return False


def _find_kinds(tools: Iterable[str]) -> set[str]:
    """What the tools of ours do that a rule names: `shell` of a framework is its `Bash`."""
    kinds = {"bash": "run", "write": "change", "edit": "change"}
    return {kinds[name] for name in map(str.casefold, tools) if name in kinds}


def load_rule(rule: Rule, base: Path, owner: str) -> LoadedRule:
    """Compile a rule; what is wrong with it is a ModuleLoadError naming rule and key."""
    return LoadedRule(
        rule,
        tuple(canonical(event) for event in as_list(rule.event)),
        tuple(as_list(rule.tool)),
        _make_matcher(rule, base, owner, ""),
        _make_matcher(rule, base, owner, "unless.") if rule.unless else None,
        tuple(as_list(rule.unless.tool)) if rule.unless else (),
    )


def _make_matcher(rule: Rule, base: Path, owner: str, prefix: str) -> Matcher:
    try:
        if prefix and rule.unless:
            return Matcher(rule.unless, base, owner, excepted_from=rule)
        return Matcher(rule, base, owner)
    except PatternError as wrong:
        key = f"{prefix}regex"
        reason = str(wrong)
    except ConditionError as wrong:
        key = f"{prefix}when"
        reason = str(wrong)
    except ValueError as wrong:
        key = f"{prefix}path"
        reason = str(wrong)
    raise ModuleLoadError(f"{owner}: option {key!r}: {reason}")


class RuleSet:
    """Rules of one action. Which of them listen to an event and tool is worked out once."""

    def __init__(self, rules: Iterable[LoadedRule]) -> None:
        self._rules = tuple(rules)
        self._remembered: dict[tuple[str, str], tuple[LoadedRule, ...]] = {}

    def __iter__(self) -> Iterator[LoadedRule]:
        return iter(self._rules)

    def find_rules(self, event: str, tool: str) -> tuple[LoadedRule, ...]:
        """The rules that listen, in the order they are written."""
        key = (event, tool)
        found = self._remembered.get(key)
        if found is None:
            name = canonical(event)
            found = tuple(rule for rule in self._rules if rule.listens_to(name, tool))
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = found
        return found


def _matches_any(globs: Iterable[str], name: str) -> bool:
    return any(glob == name or fnmatchcase(name, glob) for glob in globs)


CONTINUE = HookResult(action="continue")


class Engine:
    """A handler for the rules of one action."""

    def __init__(
        self,
        rules: RuleSet,
        make_view: Callable[[str, dict[str, Any]], EventView],
        *,
        on_error: OnError,
        unclear: OnError,
        dry_run: bool,
    ) -> None:
        self._rules = rules
        self._make_view = make_view
        self._on_error = on_error
        self._unclear = unclear
        self._dry_run = dry_run

    def on_event(self, event: str, data: dict[str, Any]) -> Reply:
        """At once when no rule listens, or none needs to look at files."""
        tool = data.get("tool_name")
        rules = self._rules.find_rules(event, tool if isinstance(tool, str) else "")
        if not rules:
            return CONTINUE
        view = self._make_view(event, data)
        if any(loaded.looks_at_files for loaded in rules):
            return asyncio.to_thread(self._decide, rules, view)
        return self._decide(rules, view)

    def _decide(self, rules: Iterable[LoadedRule], view: EventView) -> HookResult:
        results: list[HookResult] = []
        for loaded in rules:
            result = self._apply_rule(loaded, view)
            if result is None:
                continue
            results.append(result)
            if result.action == "deny":
                return _add_messages(result, results)
            if result.action == "modify":
                view = self._make_view(view.event, result.data or {})
        return combine(results)

    def _apply_rule(self, loaded: LoadedRule, view: EventView) -> HookResult | None:
        try:
            result = build_answer(loaded.rule, view) if loaded.applies_to(view) else None
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


def make_view_factory(
    base: Path,
    path_keys: tuple[str, ...],
    command_keys: tuple[str, ...],
    get_origins: Callable[[], Any] = lambda: None,
) -> Callable[[str, dict[str, Any]], EventView]:
    """makes views that know where the session works, and who knows where values come from."""
    return lambda event, data: EventView(
        event, data, base, path_keys, command_keys, find_origins=get_origins()
    )
