"""The outline of a plan, which may be kept: no text of an option, so no secret either.

Texts of options are kept as digests, so that a later plan can be compared with it. What an outline
has beyond the modules and their settings is there to tell stricter from weaker: of a guard, each
part of its options by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from amplifier_core.mount_plan import EXAMPLES, LISTS, ModuleEntry, MountPlan, read_entry
from amplifier_hooks.machine.files import compute_digest
from amplifier_hooks.modules.observers import require_guard, require_guards

Word = Literal["weaker", "different", "new", "stricter"]
WORDS: tuple[Word, ...] = ("weaker", "different", "new", "stricter")
"""In the order in which people are told."""


class Remark(NamedTuple):
    """What a change is, and a sentence about it that begins with the name of an option."""

    word: Word
    rest: str
    below: str = ""
    """The part of the option that it is about."""


Comparison = Callable[[Any, Any], Iterator[Remark]]

_MOST_NAMED = 12


def compare_unknown(old: Any, new: Any) -> Iterator[Remark]:
    """Nobody can say whether one of two values holds more."""
    if old != new:
        yield Remark("different", "would be different")


def ranked(*ranks: Any) -> Comparison:
    """Values of a few, the strictest first; a tuple has those between which nobody can choose."""
    place = {
        one: at
        for at, rank in enumerate(ranks)
        for one in (rank if isinstance(rank, tuple) else (rank,))
    }

    def compare(old: Any, new: Any) -> Iterator[Remark]:
        if old == new:
            return
        if not all(_is_plain(one) and one in place for one in (old, new)):
            yield Remark("different", "would be different")
        elif place[old] == place[new]:
            yield Remark("different", _describe_other(old, new))
        else:
            yield Remark(_choose(place[new] < place[old]), _describe_other(old, new))

    return compare


def _ranked_by_profile(*ranks: str) -> Comparison:
    """Where none is given, the profile decides, of which `calm` is the weakest."""
    compare = ranked(*ranks)
    return lambda old, new: compare(old or ranks[-1], new or ranks[-1])


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _choose(is_stricter: bool) -> Word:
    return "stricter" if is_stricter else "weaker"


def _describe_other(old: Any, new: Any) -> str:
    return f"would be {_show(new)}, not {_show(old)}"


def _show(value: Any) -> str:
    return "without limit" if value is None else str(value).lower()


def _compare_numbers(old: Any, new: Any, *, up: Word, down: Word) -> Iterator[Remark]:
    if old == new:
        return
    if not all(one is None or _is_number(one) for one in (old, new)):
        yield Remark("different", "would be different")
        return
    limits = [float("inf") if one is None else one for one in (old, new)]
    yield Remark(up if limits[1] > limits[0] else down, _describe_other(old, new))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


fewer: Comparison = partial(_compare_numbers, up="weaker", down="stricter")
"""A limit, or None for none: the lower it is, the more it holds."""
more: Comparison = partial(_compare_numbers, up="stricter", down="weaker")
"""A number of which more is stricter."""
sooner: Comparison = partial(_compare_numbers, up="different", down="stricter")
"""A time after which it is denied: more time lets nothing through that nobody allows."""


def _compare_parts(old: Any, new: Any, *, gained: Word, lost: Word) -> Iterator[Remark]:
    if not isinstance(old, list) or not isinstance(new, list):
        yield from compare_unknown(old, new)
        return
    gone = _leave_out(old, new)
    come = _leave_out(new, old)
    if gone:
        yield Remark(lost, f"would no longer have {_list_parts(gone)}")
    if come:
        yield Remark(gained, f"would also have {_list_parts(come)}")


def _leave_out(some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    known = {_key(one) for one in others}
    return [one for one in some if _key(one) not in known]


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


class Named(str):
    """A text of an option that is known: it may be told."""


def _list_parts(parts: Sequence[Any]) -> str:
    named = [repr(str(one)) for one in parts if isinstance(one, Named)]
    shown = named[:_MOST_NAMED]
    rest = len(parts) - len(named[:_MOST_NAMED])
    if not shown:
        return "1 entry" if rest == 1 else f"{rest} entries"
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


gains: Comparison = partial(_compare_parts, gained="stricter", lost="weaker")
"""A list of which each part holds something."""
exempts: Comparison = partial(_compare_parts, gained="weaker", lost="stricter")
"""A list of which each part lets something through."""


def tables(compare: Comparison, *, gained: Word = "stricter") -> Comparison:
    """A table of which each entry holds something."""

    def compare_tables(old: Any, new: Any) -> Iterator[Remark]:
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            yield from compare_unknown(old, new)
            return
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in new:
                yield Remark("weaker", f"would no longer have {key!r}")
            elif key not in old:
                yield Remark(gained, f"would also have {key!r}")
            else:
                yield from _lead_to(key, compare(old[key], new[key]))

    return compare_tables


def fields(
    known: Mapping[str, Comparison], defaults: Mapping[str, Any] | None = None
) -> Comparison:
    """A mapping of options, each with its own comparison; None is a mapping that is not there."""
    usual = defaults or {}

    def compare(old: Any, new: Any) -> Iterator[Remark]:
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            if old is None or new is None:
                if old != new:
                    yield Remark(_choose(old is None), _describe_presence(new))
                return
            yield from compare_unknown(old, new)
            return
        for key in sorted({*old, *new}):
            before, after = (one.get(key, usual.get(key)) for one in (old, new))
            yield from _lead_to(key, known.get(key, compare_unknown)(before, after))

    return compare


def _lead_to(key: str, remarks: Iterable[Remark]) -> Iterator[Remark]:
    return (one._replace(below=f".{key}{one.below}") for one in remarks)


def _describe_presence(new: Any) -> str:
    return "would be gone" if new is None else "would be there"


def present(old: Any, new: Any) -> Iterator[Remark]:
    """Something that holds when it is there, whatever it is."""
    if old == new:
        return
    if old is None or new is None:
        yield Remark(_choose(old is None), _describe_presence(new))
    else:
        yield Remark("different", "would be different")


# The options of our guards ------------------------------------------------------------------------

_REACTION = ranked("withhold", ("mask", "ask"), "tell")
_FAILING = ranked("deny", "ask_user", "continue")
_COST = fields(
    {"tokens": fewer, "money": fewer, "over": ranked("deny", "ask_user", "warn")},
    {"over": "deny", "warn_at": 0.8},
)


def _compare_rates(old: Any, new: Any) -> Iterator[Remark]:
    """A limit of hooks-rate-limit: how many calls in the long run, and how many at once."""
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield from present(old, new)
        return
    try:
        rates = [one["calls"] / one.get("seconds", 60.0) for one in (old, new)]
        sizes = [one.get("burst") or max(one["calls"], 1) for one in (old, new)]
    except (KeyError, TypeError, ZeroDivisionError):
        yield from compare_unknown(old, new)
        return
    yield from fewer(*rates)
    yield from fewer(*sizes)


def _compare_files(old: Any, new: Any) -> Iterator[Remark]:
    """Files of rules, where what is in them is not known."""
    listed = ([one] if isinstance(one, str) else one for one in (old, new))
    return _compare_parts(*listed, gained="different", lost="weaker")


# A tool that is named is found by the first glob that fits, so one more may hide another.
_TOOLS = tables(compare_unknown, gained="different")

_EVERY_GUARD: Mapping[str, Comparison] = {
    "timeout": sooner,
    "approval_default": ranked("deny", "allow"),
}


def _guard(**own: Comparison) -> Mapping[str, Comparison]:
    return {**_EVERY_GUARD, **own}


GUARDS: Mapping[str, Mapping[str, Comparison]] = {
    "hooks-production-guard": _guard(
        patterns=gains,
        tools=_TOOLS,
        shell=_TOOLS,
        path_keys=gains,
        command_keys=gains,
        action=ranked("deny", "ask_user"),
    ),
    "hooks-command-guard": _guard(
        tools=_TOOLS,
        command_keys=gains,
        deny=gains,
        ask=gains,
        allow=exempts,
        off=exempts,
        profile=_ranked_by_profile("strict", "careful", "calm"),
        unlisted=_ranked_by_profile("deny", "ask", "continue"),
        unclear=_ranked_by_profile("deny", "ask"),
    ),
    "hooks-provenance": _guard(),
    "hooks-secret-guard": _guard(
        mode=ranked("hidden", "ask", "open"),
        paths=gains,
        allow=exempts,
        shell=_TOOLS,
        path_keys=gains,
        command_keys=gains,
    ),
    "hooks-redaction": _guard(
        on_write=ranked("deny", ("ask", "tell-and-redact"), "off"),
        off=exempts,
        patterns=tables(compare_unknown),
        allow=exempts,
        environment=gains,
        allow_in_tools=exempts,
        events=gains,
    ),
    "hooks-injection-guard": _guard(
        on_result=_REACTION,
        on_list=_REACTION,
        on_request=_REACTION,
        tools=gains,
        allow_in_tools=exempts,
        languages=gains,
        off=exempts,
        patterns=tables(compare_unknown),
        allow=exempts,
    ),
    "hooks-cost-control": _guard(turn=_COST, session=_COST, day=_COST),
    "hooks-rate-limit": _guard(
        tools=tables(_compare_rates),
        events=tables(_compare_rates),
        overall=_compare_rates,
        action=ranked("deny", "ask_user"),
    ),
    "hooks-rules": {
        "timeout": sooner,
        "dry_run": ranked(False, True),
        "on_error": _FAILING,
        "unclear": _FAILING,
        "path_keys": gains,
        "command_keys": gains,
        "file": _compare_files,
    },
    "hooks-model-judge": {
        "hooks": exempts,
        "tools": exempts,
        "max_questions": fewer,
        "max_input": fewer,
        "timeout": compare_unknown,
    },
    "hooks-shell": {"timeout": compare_unknown, "fail_closed": ranked(True, False)},
}
"""What is known of the options of our guards; `rules` and waiting are compared by themselves."""


def compare_waiting(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Remark]:
    """How long a person may take; what then holds is `approval_default`."""
    times = [one.get("approval_timeout") for one in (old, new)]
    denies = all(one.get("approval_default", "deny") == "deny" for one in (old, new))
    for one in sooner(*times):
        yield one if denies or one.word != "stricter" else one._replace(word="weaker")


def fold(remarks: Iterable[Remark]) -> Word | None:
    """The word for several changes together: the first of the words that one of them has."""
    found = {one.word for one in remarks}
    return next((word for word in WORDS if word in found), None)


SECTIONS = ("approval", "audit", "sandbox")
FORM = 2
"""Outlines of the first form have no parts of options, and fewer settings of the session."""

SESSION_NUMBERS = (
    "injection_budget_per_turn",
    "injection_size_limit",
    "max_turns",
    "turn_timeout",
    "tool_result_limit",
)
_PLAIN = frozenset(
    {
        "mode",
        "enabled",
        "level",
        "on_failure",
        "network",
        "unix_sockets",
        "locked",
        "via",
        "persons",
        "requester_may_approve",
        "scope",
        "timeout",
    }
)
_LEFT_OUT = frozenset({"write", "sign", "anchors", "token", "witness_token"})


def outline_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The modules of a plan and its settings; values that could hold a secret as digests."""
    parsed = require_guards(MountPlan.parse(plan))
    session = plan["session"]
    return {
        "form": FORM,
        "session": {
            **{key: _outline_entry(getattr(parsed.session, key)) for key in EXAMPLES},
            "limits": dict(session.get("limits") or {}),
            **{key: session[key] for key in SESSION_NUMBERS if key in session},
            **({"evaluate_only": True} if session.get("evaluate_only") else {}),
            **({"ungoverned": "deny"} if session.get("ungoverned") == "deny" else {}),
        },
        **{key: _outline_list(getattr(parsed, key)) for key in LISTS},
        "agents": {name: _outline_agent(one) for name, one in (plan.get("agents") or {}).items()},
        **{key: _outline_section(plan.get(key) or {}) for key in SECTIONS},
    }


def check_outline(outline: Any) -> None:
    """Refuse what `outline_plan` does not write, in this form or the first: TypeError."""
    _require(outline, dict)
    session = _require(outline.get("session"), dict)
    _require(session.get("limits", {}), dict)
    entries = [session.get(key) for key in EXAMPLES]
    for kind in LISTS:
        entries += _require(outline.get(kind), list)
    for agent in _require(outline.get("agents"), dict).values():
        entries += _require(_require(agent, dict).get("hooks"), list)
    for entry in entries:
        _require(_require(entry, dict).get("module"), str)
        _require(entry.get("config"), dict)
        _require(entry.get("options", {}), dict)
    for key in SECTIONS:
        _require(outline.get(key), dict)


def _require(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"a {kind.__name__} was expected in an outline, got {value!r:.40}")
    return value


def _outline_agent(agent: Mapping[str, Any]) -> dict[str, Any]:
    hooks = [require_guard(read_entry("hooks", one)) for one in agent.get("hooks") or ()]
    rest = {key: value for key, value in agent.items() if key != "hooks"}
    return {"hooks": _outline_list(hooks), "rest": digest_value(rest)}


def _outline_list(entries: Iterable[ModuleEntry]) -> list[dict[str, Any]]:
    return [_outline_entry(entry) for entry in entries]


def _outline_entry(entry: ModuleEntry) -> dict[str, Any]:
    written = entry.model_dump(
        include={"module", "source", "name", "instance_id", "priority", "required", "locked"},
        exclude_none=True,
    )
    # What outlines said before there were modes stays the same.
    if entry.mode != "enforce":
        written["mode"] = entry.mode
    if entry.source is None and entry.module in GUARDS:
        written["options"] = {key: _outline_option(key, one) for key, one in entry.config.items()}
    return {**written, "config": {key: digest_value(value) for key, value in entry.config.items()}}


def _outline_option(key: str, value: Any) -> Any:
    return outline_rules(value) if key == "rules" else outline_value(value)


def outline_rules(rules: Any) -> Any:
    """Rules, each under the name that people know it by."""
    if not isinstance(rules, list | tuple):
        return outline_value(rules)
    return [_outline_rule(one) for one in rules]


def _outline_rule(rule: Any) -> Any:
    outline = outline_value(rule)
    if isinstance(rule, Mapping) and rule.get("name"):
        outline["name"] = str(rule["name"])
    return outline


def outline_value(value: Any) -> Any:
    """A value whose texts are digests; its keys, numbers and switches stay as they are."""
    if isinstance(value, Mapping):
        return {str(key): outline_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [outline_value(one) for one in value]
    plain = value is None or isinstance(value, bool | int | float)
    return value if plain else digest_value(value)


def _outline_section(section: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        key: value if key in _PLAIN else digest_value(value)
        for key, value in section.items()
        if key not in _LEFT_OUT
    }
    if "sign" in section:
        found["sign"] = bool(section["sign"])
    if isinstance(section.get("sign"), str):
        found["key"] = digest_value(section["sign"])
    if "anchors" in section:
        found["anchors"] = [digest_value(one) for one in section["anchors"] or ()]
    return {**found, "write": list(section.get("write") or ())} if "write" in section else found


def digest_value(value: Any) -> str:
    """A short digest of any value of a plan."""
    return compute_digest(json.dumps(value, sort_keys=True, default=str).encode())[:16]
