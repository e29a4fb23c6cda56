"""What a change of the rules of hooks-rules means.

Every rule that applies is heard, and the strictest answer wins: one more that denies or asks holds
more, whatever the others say. Rules that change a call or add to the conversation may hide it from
others, so of those nobody can say more than that they are different.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amplifier_hooks.agent.trust.meaning import (
    Comparison,
    Remark,
    Word,
    compare_unknown,
    compare_waiting,
    ranked,
)

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
            yield Remark(gone, f"{_name(rule)} would be gone")
        else:
            come = [one for one in come if one is not twin]
            yield from _compare_rule(rule, twin)
    for rule in come:
        more: Word = "stricter" if _guards(rule) else "different"
        yield Remark(more, f"{_name(rule)} would be new")
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
        yield one._replace(rest=f"{_name(new)} {one.rest}")


def _leave_out_asking(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in rule.items() if not key.startswith("approval_")}


def _name(rule: Mapping[str, Any]) -> str:
    name = rule.get("name")
    return f"the rule {str(name)!r}" if isinstance(name, str) and name else "a rule without a name"


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
