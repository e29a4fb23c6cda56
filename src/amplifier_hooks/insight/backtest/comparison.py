"""How two verdicts on one event differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from amplifier_hooks.insight.backtest.gap import Look
from amplifier_hooks.insight.backtest.verdict import Failure, Verdict

Kind = Literal[
    "newly_denied",
    "no_longer_denied",
    "newly_asked",
    "no_longer_asked",
    "changed_input",
    "newly_injected",
    "no_longer_injected",
    "error",
    "cannot_tell",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The ways in which two verdicts differ; an event counts for the first that fits."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, by whose doing, and why it cannot be told if it cannot."""

    kind: Kind
    hook: str
    failure: Failure | None = None
    looks: tuple[Look, ...] = ()
    doubt: str = ""


def compare(
    was: Verdict, would: Verdict, scrub: Callable[[Any], Any] = lambda value: value
) -> Difference | None:
    """What differs between what happened and what would; None if it is the same.

    A trail has texts as the session's scrubbers left them; `scrub` does the same to those of now.
    """
    looks = would.looks or was.looks
    if looks:
        return Difference("cannot_tell", looks[0].hook, looks=looks)
    if failure := _find_new_failure(was, would):
        return Difference("error", failure.hook, failure)
    kind, hook = _find_kind(was, would)
    doubt = would.doubt or was.doubt
    if kind == "changed_input":
        now = _make_plain(would.left)
        if was.left in (now, scrub(now)):
            return None
        if _is_cut(was.left):
            doubt = "what hooks left of it then is not in the trail as a whole"
    if kind is None:
        return None
    return Difference("cannot_tell" if doubt else kind, hook, doubt=doubt)


def _find_new_failure(was: Verdict, would: Verdict) -> Failure | None:
    known = {one.hook for one in was.failures}
    return next((one for one in would.failures if one.hook not in known), None)


def _find_kind(was: Verdict, would: Verdict) -> tuple[Kind | None, str]:
    if would.action == was.action == "deny":
        return None, ""
    if would.action == "deny":
        return "newly_denied", would.hook
    if was.action == "deny":
        return "no_longer_denied", was.hook
    if would.action != was.action and "ask_user" in (would.action, was.action):
        newly = would.action == "ask_user"
        return ("newly_asked", would.hook) if newly else ("no_longer_asked", was.hook)
    if was.left != would.left:
        return "changed_input", (*would.changing, *was.changing, "")[0]
    if bool(was.injecting) != bool(would.injecting):
        newly = bool(would.injecting)
        who = would.injecting if newly else was.injecting
        return "newly_injected" if newly else "no_longer_injected", who[0]
    return None, ""


def _make_plain(value: Any) -> Any:
    """The value as a trail would have it: its containers are dicts and lists."""
    if type(value) is dict:
        return {str(key): _make_plain(one) for key, one in value.items()}
    return [_make_plain(one) for one in value] if type(value) in (list, tuple) else value


def _is_cut(value: Any) -> bool:
    """Whether some part of a recorded value is not there."""
    if type(value) is dict:
        return "$cut" in value or "$commitment" in value or any(map(_is_cut, value.values()))
    return type(value) is list and any(map(_is_cut, value))
