"""Differences between two plans, and whether each makes the plan weaker or stricter."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, get_args

from pydantic import AliasChoices, BaseModel

from amplifier_core.mount_plan import INJECTION_BUDGET_PER_TURN, LISTS, MAX_INJECTION_SIZE
from amplifier_hooks.agent.trust.outline import (
    FORM,
    GUARDS,
    SECTIONS,
    SESSION_NUMBERS,
    WORDS,
    Comparison,
    Named,
    Remark,
    Word,
    compare_unknown,
    compare_waiting,
    digest_value,
    exempts,
    fewer,
    gains,
    more,
    outline_value,
    present,
    ranked,
)
from amplifier_hooks.modules.observers import OBSERVERS

_CONFIGS: dict[str, tuple[str, tuple[str, ...]]] = {
    # Where the options of a guard are, and the names that they may hold.
    "hooks-production-guard": ("amplifier_hooks.guards.production_guard", ()),
    "hooks-command-guard": (
        "amplifier_hooks.guards.command_guard",
        ("amplifier_hooks.guards.bash:RULES",),
    ),
    "hooks-provenance": ("amplifier_hooks.guards.provenance.guard", ()),
    "hooks-secret-guard": ("amplifier_hooks.guards.secret_guard", ()),
    "hooks-redaction": (
        "amplifier_hooks.guards.redaction",
        ("amplifier_hooks.guards.policy.secrets:SHAPES",),
    ),
    "hooks-injection-guard": (
        "amplifier_hooks.guards.injection_guard.guard",
        (
            "amplifier_hooks.guards.injection_guard.patterns:KINDS",
            "amplifier_hooks.guards.injection_guard.patterns:LANGUAGES",
        ),
    ),
    "hooks-cost-control": ("amplifier_hooks.guards.cost_control", ()),
    "hooks-rate-limit": ("amplifier_hooks.guards.rate_limit", ()),
    "hooks-model-judge": ("amplifier_hooks.guards.model_judge", ()),
    "hooks-rules": (
        "amplifier_hooks.guards.rules.loading",
        ("amplifier_hooks.guards.rules.rule:ANSWER_FIELDS",),
    ),
    "hooks-shell": ("amplifier_hooks.coding_agents.shell_hooks.config", ()),
}
_WORDS = (
    *("deny", "allow", "ask", "ask_user", "continue", "modify", "inject_context", "warn"),
    *("tool:pre", "tool:post", "Bash", "Write", "Edit", "Read"),
)


@dataclass(frozen=True, slots=True)
class GuardOptions:
    """What is known of the options of one guard."""

    module: str
    defaults: dict[str, Any]
    texts: dict[str, Named]
    renamed: dict[str, str]
    """Names of options in older bundles, with the names that they have now."""

    def read(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of an outline under the names of today, with the texts that are known."""
        return {self.renamed.get(key, key): self.decode(one) for key, one in options.items()}

    def decode(self, value: Any) -> Any:
        """A part of an outline, with the texts that are known in place of their digests."""
        if isinstance(value, Mapping):
            return {key: self.decode(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.decode(one) for one in value]
        return self.texts.get(value, value) if isinstance(value, str) else value


@cache
def read_guard_options(module: str) -> GuardOptions:
    """The options of a guard of ours."""
    place, tables = _CONFIGS[module]
    config: type[BaseModel] = _find(f"{place}:Config")
    given = {name: one for name, one in config.model_fields.items() if not one.is_required()}
    usual = {name: one.get_default(call_default_factory=True) for name, one in given.items()}
    known = [*_WORDS, *_list_texts(usual), *_list_choices(config)]
    known += [str(name) for table in tables for name in _find(table)]
    texts = {digest_value(text): Named(text) for text in known}
    renamed = {
        str(older): name
        for name, field in config.model_fields.items()
        if isinstance(field.validation_alias, AliasChoices)
        for older in field.validation_alias.choices
    }
    options = GuardOptions(module, {}, texts, renamed)
    return replace(options, defaults=options.decode(outline_value(usual)))


def _find(name: str) -> Any:
    place, _, attribute = name.partition(":")
    return getattr(import_module(place), attribute)


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _list_texts(one)
    elif isinstance(value, Iterable):
        for one in value:
            yield from _list_texts(one)


def _list_choices(config: type[BaseModel]) -> Iterator[str]:
    """The words of all options that take one of a few."""
    for field in config.model_fields.values():
        yield from (one for one in _walk(field.annotation) if isinstance(one, str))


def _walk(annotation: Any) -> Iterator[Any]:
    yield annotation
    for one in get_args(annotation):
        yield from _walk(one)


_GUARDING = ("deny", "ask_user")
_WORDING = ("name", "description", "reason", "user_message", "user_message_level")
_SWITCHES = ("enabled", "dry_run")


def _compare_alternatives(old: Any, new: Any) -> Iterator[Remark]:
    """What a rule looks for: one of several, or everything if it does not say."""
    if old is None or new is None:
        if old != new:
            yield Remark("stricter" if new is None else "weaker", _describe_reach(new is None))
        return
    before, after = ({_key(one) for one in _as_list(value)} for value in (old, new))
    if before - after:
        yield Remark("weaker", _describe_reach(False))
    if after - before:
        yield Remark("stricter", _describe_reach(True))


def _describe_reach(wider: bool) -> str:
    return "would apply to more" if wider else "would apply to less"


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _compare_exception(old: Any, new: Any) -> Iterator[Remark]:
    if (old is None) != (new is None):
        yield Remark("stricter" if new is None else "weaker", _describe_reach(new is None))
    else:
        yield from compare_unknown(old, new)


_FIELDS: Mapping[str, Comparison] = {
    "tool": _compare_alternatives,
    "path": _compare_alternatives,
    "command": _compare_alternatives,
    "event": _compare_alternatives,
    "unless": _compare_exception,
    "action": ranked("deny", "ask_user", ("modify", "inject_context", "continue")),
    "approval_default": ranked("deny", "allow"),
}
_DEFAULTS = {"event": "tool:pre", "approval_default": "deny", "approval_timeout": 300.0}


def compare_rules(old: Sequence[Any], new: Sequence[Any]) -> Iterator[Remark]:
    """What is different between two lists of rules, whose texts may be digests."""
    before, after = (_list_active(rules) for rules in (old, new))
    left = {_key(_strip(rule)): rule for rule in after}
    changed = [rule for rule in before if _key(_strip(rule)) not in left]
    kept = {_key(_strip(rule)) for rule in before}
    come = [rule for rule in after if _key(_strip(rule)) not in kept]
    for rule in changed:
        twin = _find_twin(rule, come)
        if twin is None:
            gone: Word = "weaker" if _guards(rule) else "different"
            yield Remark(gone, f"{_name_rule(rule)} would be gone")
        else:
            come = [one for one in come if one is not twin]
            yield from _compare_rule(rule, twin)
    for rule in come:
        more: Word = "stricter" if _guards(rule) else "different"
        yield Remark(more, f"{_name_rule(rule)} would be new")
    others = [[_key(_strip(one)) for one in rules if not _guards(one)] for rules in (before, after)]
    if sorted(others[0]) == sorted(others[1]) and others[0] != others[1]:
        yield Remark("different", "would be in another order")


def _list_active(rules: Sequence[Any]) -> list[Mapping[str, Any]]:
    listed = [one for one in rules if isinstance(one, Mapping)]
    return [one for one in listed if one.get("enabled", True) and not one.get("dry_run", False)]


def _strip(rule: Mapping[str, Any]) -> dict[str, Any]:
    """The rule without what it only says; a switch that is on was looked at before."""
    return {key: one for key, one in rule.items() if key not in (*_WORDING, *_SWITCHES)}


def _guards(rule: Mapping[str, Any]) -> bool:
    return rule.get("action") in _GUARDING


def _find_twin(
    rule: Mapping[str, Any], others: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """The rule of the same name."""
    name = rule.get("name")
    return next((one for one in others if name is not None and one.get("name") == name), None)


def _compare_rule(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Remark]:
    before, after = ({**_DEFAULTS, **_strip(one)} for one in (old, new))
    if {old.get("action"), new.get("action")} != {"ask_user"}:  # how it asks, one of them says not
        before, after = (_leave_out_asking(one) for one in (before, after))
    found = list(compare_waiting(before, after))
    for key in sorted({*before, *after} - {"approval_timeout"}):
        found += _FIELDS.get(key, compare_unknown)(before.get(key), after.get(key))
    if not (_guards(old) or _guards(new)):
        found = [one._replace(word="different") for one in found]
    for one in found:
        yield one._replace(rest=f"{_name_rule(new)} {one.rest}")


def _leave_out_asking(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in rule.items() if not key.startswith("approval_")}


def _name_rule(rule: Mapping[str, Any]) -> str:
    name = rule.get("name")
    return f"the rule {str(name)!r}" if isinstance(name, str) and name else "a rule without a name"


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


_LOCKED = ranked(True, False)


def _compare_folders(old: Any, new: Any) -> Iterator[Remark]:
    """Folders that commands may write to; an outline has them as they are."""
    return exempts(*([Named(one) for one in listed] for listed in (old, new)))


_SECTIONS: Mapping[str, Mapping[str, tuple[Comparison, Any]]] = {
    # Each option of a section with the value that holds where it is not given.
    "approval": {
        "mode": (ranked("deny", "ask", "edits"), "ask"),
        "requester_may_approve": (ranked(False, True), True),
        "persons": (more, 1),
        "locked": (_LOCKED, False),
    },
    "audit": {
        "enabled": (ranked(True, False), False),
        "level": (ranked("full", "normal", "decisions"), "normal"),
        "on_failure": (ranked("stop", "deny", "warn"), "deny"),
        "mode": (compare_unknown, "inline"),
        "sign": (ranked(True, False), False),
        "witness": (present, None),
        "anchors": (gains, []),
        "locked": (_LOCKED, False),
    },
    "sandbox": {
        "mode": (ranked("required", "auto", "off"), "auto"),
        "network": (ranked("deny", "ask", "allow"), "allow"),
        "unix_sockets": (ranked("deny", "allow"), "deny"),
        "write": (_compare_folders, []),
        "locked": (_LOCKED, False),
    },
}
_NUMBERS: Mapping[str, tuple[Comparison, Any]] = {
    **dict.fromkeys(SESSION_NUMBERS, (compare_unknown, None)),
    "injection_budget_per_turn": (fewer, INJECTION_BUDGET_PER_TURN),
    "injection_size_limit": (fewer, MAX_INJECTION_SIZE),
}
_LIMITS = {"agent_depth": 2, "agent_count": 8, "tool_calls_at_once": 8}
"""What holds where a plan gives no limit."""

_UNGOVERNED = ranked("deny", "warn")

HEADINGS: Mapping[Word, str] = {
    "weaker": "Weaker than before:",
    "different": "Different, and it cannot be told whether it holds more or less:",
    "new": "New:",
    "stricter": "Stricter than before:",
}
Rules = tuple[list[Any], list[Any]]
"""All rules of an entry of hooks-rules, before and after."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that would be different: what it is, in a sentence, and of which module."""

    word: Word
    sentence: str
    module: str = ""
    """Empty if it is a setting."""


def compare_outlines(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    changed: Collection[str] = (),
    rules: Mapping[str, Rules] | None = None,
) -> list[Change]:
    """Everything that is different between two outlines, what holds less first.

    `changed` has the ids of hooks whose files changed. `rules` has the rules of entries by name,
    where those of their files are known.
    """
    found = [
        *_compare_lists(before, after, changed, rules or {}),
        *_compare_agents(before, after, changed),
        *_compare_sections(before, after),
        *_compare_session(before, after),
    ]
    return sorted(found, key=lambda one: WORDS.index(one.word))


def select(changes: Iterable[Change], *words: Word) -> list[Change]:
    """The changes of one kind, or of several."""
    return [one for one in changes if one.word in words]


def describe(changes: Iterable[Change], headings: Mapping[Word, str] = HEADINGS) -> list[str]:
    """The changes in lines, under a heading for each kind that the headings have."""
    found = list(changes)
    lines = list[str]()
    for word, heading in headings.items():
        if told := select(found, word):
            lines += [heading, *(f"  {one.sentence}" for one in told)]
    return lines


def _compare_lists(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    changed: Collection[str],
    rules: Mapping[str, Rules],
) -> Iterator[Change]:
    for kind in LISTS:
        old, new = (plan.get(kind) or () for plan in (before, after))
        if kind != "providers":
            yield from _compare_entries(old, new, changed, rules, kind)
        else:  # which model answers holds nobody back, unless the plan says that it does
            held = [one for one in old if one.get("locked") or one.get("required")]
            found = _compare_entries(held, new, changed, rules, kind)
            yield from (one for one in found if one.word != "new")


def _compare_agents(
    before: Mapping[str, Any], after: Mapping[str, Any], changed: Collection[str]
) -> Iterator[Change]:
    old, new = (plan.get("agents") or {} for plan in (before, after))
    for name, agent in new.items():
        known = old.get(name)
        if known is None:
            yield Change("new", f"agent {name}")
            continue
        for one in _compare_entries(known["hooks"], agent["hooks"], changed, {}, "hooks"):
            yield Change(one.word, f"agent {name}: {one.sentence}", one.module)
        if known.get("rest", agent.get("rest")) != agent.get("rest"):
            yield Change("different", f"agent {name} would be different")


def _compare_entries(
    old: Iterable[Mapping[str, Any]],
    new: Iterable[Mapping[str, Any]],
    changed: Collection[str],
    rules: Mapping[str, Rules],
    kind: str,
) -> Iterator[Change]:
    before, after = ({_name(one): one for one in listed} for listed in (old, new))
    for name, entry in before.items():
        left = after.get(name)
        if left is not None:
            is_changed = entry["module"] in changed
            for one in _compare_entry(entry, left, is_changed, rules.get(name)):
                yield Change(one.word, f"{name}{one.below} {one.rest}", entry["module"])
        elif entry.get("locked") or entry.get("required") or kind == "hooks":
            yield Change(_judge_loss(entry), f"{name} would be gone", entry["module"])
    for name, entry in after.items():
        if name not in before and entry["module"] in _ANSWERING:
            said = f"{name} would let a model answer questions in a person's place"
            yield Change("weaker", said, entry["module"])
        elif name not in before:
            yield Change("new", f"{kind.removesuffix('s')} {name}", entry["module"])


_ANSWERING = frozenset({"hooks-model-judge"})
"""Hooks that hold nobody back, but answer what others ask."""


def _judge_loss(entry: Mapping[str, Any]) -> Word:
    if entry["module"] in _ANSWERING:
        return "stricter"
    return "different" if _observes(entry) else "weaker"


def _observes(entry: Mapping[str, Any]) -> bool:
    """Whether it is known to hold nobody back, and nobody said that it has to be there."""
    known = entry.get("source") is None and entry["module"] in OBSERVERS
    return known and not entry.get("locked") and not entry.get("required")


def _compare_entry(
    old: Mapping[str, Any], new: Mapping[str, Any], is_changed: bool, rules: Rules | None
) -> Iterator[Remark]:
    for switch in ("required", "locked"):
        before, after = (bool(one.get(switch)) for one in (old, new))
        if before != after:
            word: Word = "weaker" if before else "stricter"
            yield Remark(word, f"would {'no longer' if before else 'now'} be {switch}")
    modes = [one.get("mode", "enforce") for one in (old, new)]
    if modes == ["enforce", "shadow"]:
        yield Remark("weaker", "would have no effect any more: mode would be shadow")
    elif modes == ["shadow", "enforce"]:
        yield Remark("stricter", "would have an effect: mode would no longer be shadow")
    if any(old.get(key) != new.get(key) for key in ("module", "source")):
        where = new.get("source") or new["module"]
        yield Remark("different", f"would come from {where}")
    elif is_changed and rules is None:
        yield Remark("different", "would run other code or other rules")
    yield from _compare_options(old, new, rules)
    if old.get("priority") != new.get("priority"):
        which = f"priority {new.get('priority')}, not {old.get('priority')}"
        yield Remark("different", f"would run in another position: {which}")


def _compare_options(
    old: Mapping[str, Any], new: Mapping[str, Any], rules: Rules | None
) -> Iterator[Remark]:
    parts = [one["options"] for one in (old, new) if one.get("options") is not None]
    known = old["module"] in GUARDS and old["module"] == new["module"] and len(parts) == 2
    if known:
        options = read_guard_options(old["module"])
        before, after = map(options.read, parts)
        yield from _compare_guard(options, before, after, rules)
    elif old["config"] != new["config"]:
        keys = {*old["config"], *new["config"]}
        other = sorted(key for key in keys if old["config"].get(key) != new["config"].get(key))
        yield Remark("different", f"would have other options: {', '.join(other)}")


def _compare_guard(
    options: GuardOptions, old: dict[str, Any], new: dict[str, Any], rules: Rules | None
) -> Iterator[Remark]:
    before, after = ({**options.defaults, **one} for one in (old, new))
    meanings = GUARDS[options.module]
    yield from (one._replace(below=".approval_timeout") for one in compare_waiting(before, after))
    done = {"approval_timeout", "rules", *(() if rules is None else ("file",))}
    for key in sorted({*old, *new} - done):
        remarks = meanings.get(key, compare_unknown)(before.get(key), after.get(key))
        yield from (one._replace(below=f".{key}{one.below}") for one in remarks)
    listed = rules or tuple(one.get("rules") or [] for one in (old, new))
    for one in compare_rules(*map(options.decode, listed)):
        yield one._replace(below=":")


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("name") or entry.get("instance_id") or entry["module"])


def _compare_sections(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for section in SECTIONS:
        old, new = (_read_section(plan, section) for plan in (before, after))
        known = _SECTIONS[section]
        for key in sorted({*old, *new, *known}):
            compare, usual = known.get(key, (compare_unknown, None))
            if key == "timeout":
                compare = _choose_for_timeout(after)
            if key == "key" and not (old.get(key) and new.get(key)):
                continue  # whether it is signed at all is said already
            for one in compare(old.get(key, usual), new.get(key, usual)):
                yield Change(one.word, f"{section}.{key}{one.below} {one.rest}")


def _read_section(plan: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    found = plan.get(section) or {}
    return found if isinstance(found, Mapping) else {"mode": found}


def _choose_for_timeout(plan: Mapping[str, Any]) -> Comparison:
    """Less time to answer holds more only where no answer is surely a no."""

    def compare(old: Any, new: Any) -> Iterator[Remark]:
        if old != new:
            shorter = all(isinstance(one, int | float) for one in (old, new)) and new < old
            shorter = shorter or (old is None and isinstance(new, int | float))
            word: Word = "stricter" if shorter and _always_denies(plan) else "different"
            shown = ["left to each hook" if one is None else one for one in (new, old)]
            plain = not any(isinstance(one, str) for one in (old, new))
            yield Remark(
                word, f"would be {shown[0]}, not {shown[1]}" if plain else "would be different"
            )

    return compare


def _always_denies(plan: Mapping[str, Any]) -> bool:
    """Whether each hook of a plan is known to deny when nobody answers."""
    agents = (plan.get("agents") or {}).values()
    listed = [*(plan.get("hooks") or ()), *(one for agent in agents for one in agent["hooks"])]
    return all(_denies(entry) for entry in listed)


def _denies(entry: Mapping[str, Any]) -> bool:
    if entry.get("source") is not None or entry["module"] not in GUARDS:
        return entry.get("source") is None and entry["module"] in OBSERVERS
    if "options" not in entry or entry["module"] == "hooks-shell":
        return False
    options = read_guard_options(entry["module"]).read(entry["options"])
    rules = [one for one in options.get("rules") or () if isinstance(one, Mapping)]
    return "file" not in options and all(
        one.get("approval_default", "deny") == "deny" for one in (options, *rules)
    )


def _compare_session(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    old, new = (plan.get("session") or {} for plan in (before, after))
    if bool(old.get("evaluate_only")) != bool(new.get("evaluate_only")):
        if new.get("evaluate_only"):
            sentence = "no hook would have an effect any more: session.evaluate_only would be true"
            yield Change("weaker", sentence)
        else:
            yield Change("stricter", "hooks would have an effect: no session.evaluate_only")
    for one in _UNGOVERNED(old.get("ungoverned", "warn"), new.get("ungoverned", "warn")):
        yield Change(one.word, f"session.ungoverned {one.rest}")
    yield from _compare_limits(old.get("limits") or {}, new.get("limits") or {})
    if before.get("form") == after.get("form") == FORM:
        for key, (compare, usual) in _NUMBERS.items():
            for one in compare(old.get(key, usual), new.get(key, usual)):
                yield Change(one.word, f"session.{key} {one.rest}")


def _compare_limits(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key, usual in _LIMITS.items():
        for one in fewer(old.get(key, usual), new.get(key, usual)):
            yield Change(one.word, f"session.limits.{key} {one.rest}")
