"""Reading a choice against what was offered: a closed set, and everything else is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from amplifier_hooks.approvals.stores.checks.fields import (
    clean_text,
    read_name,
    read_seconds,
    write_json,
)
from amplifier_hooks.approvals.stores.checks.limits import COMMENT, INPUT
from amplifier_hooks.approvals.stores.errors import BadRequest
from amplifier_hooks.approvals.stores.scopes import describe_scopes
from amplifier_hooks.approvals.stores.values.approval import Approval, Choice, Option, StandingWish
from amplifier_hooks.approvals.stores.values.plain import to_json
from amplifier_hooks.approvals.stores.values.rule import OfferedScope

LONGEST_RULE = 366 * 24 * 3600.0
MOST_USES = 1_000_000


@dataclass(frozen=True, slots=True)
class ReadChoice:
    """A choice that makes sense for its approval."""

    option: Option
    comment: str
    edited_input: str | None
    """As JSON; None if the input stays as it was."""
    standing: StandingWish | None = None
    scope: OfferedScope | None = None


def read_choice(approval: Approval, choice: Choice) -> ReadChoice:
    """What the choice means; BadRequest if it was not offered."""
    read_name("key", choice.key)
    read_name("nonce", choice.nonce)
    if not isinstance(choice.comment, str):
        raise BadRequest(f"The comment is text, not {type(choice.comment).__name__}")
    option = _find_option(approval, choice)
    edited = _read_edited_input(approval, choice, option)
    scope = _read_standing(approval, choice, option, edited)
    comment = clean_text(choice.comment, COMMENT)
    return ReadChoice(option, comment, edited, choice.standing, scope)


def _find_option(approval: Approval, choice: Choice) -> Option:
    # True is 1 in Python, and a person has chosen neither.
    if type(choice.option) is int:
        for option in approval.request.options:
            if option.id == choice.option:
                return option
    offered = ", ".join(f"{one.id} ({one.label})" for one in approval.request.options)
    raise BadRequest(f"Option {_shorten(choice.option)} was not offered; choose from {offered}")


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _read_edited_input(approval: Approval, choice: Choice, option: Option) -> str | None:
    edited, request = choice.edited_input, approval.request
    if edited is None:
        return None
    if not isinstance(edited, Mapping):
        raise BadRequest(f"An edited input is an object, not {type(edited).__name__}")
    text = write_json("edited input", edited, INPUT)
    if not option.allows:
        raise BadRequest(f"{option.label!r} refuses, so there is no input to edit")
    if text == to_json(request.tool_input):
        return None
    if not request.editable:
        raise BadRequest("The input of this call cannot be edited; allow or refuse it as it is")
    if request.requirement.persons > 1:
        raise BadRequest("Several people must allow this, so the input cannot be edited")
    return text


def _read_standing(
    approval: Approval, choice: Choice, option: Option, edited: str | None
) -> OfferedScope | None:
    wish = choice.standing
    if wish is None:
        return None
    if not option.allows:
        raise BadRequest(f"{option.label!r} refuses, and only what allows can be kept as a rule")
    if edited is not None:
        raise BadRequest("An answer with an edited input cannot be kept as a rule")
    read_seconds("lifetime of a rule", wish.seconds, LONGEST_RULE)
    uses = wish.uses
    if uses is not None and (type(uses) is not int or not 1 <= uses <= MOST_USES):
        raise BadRequest(f"A rule can be used 1 to {MOST_USES} times, not {_shorten(uses)}")
    offered = describe_scopes(approval)
    for scope in offered:
        if scope.id == wish.scope:
            return scope
    ids = ", ".join(scope.id for scope in offered) or "none"
    raise BadRequest(f"The scope {_shorten(wish.scope)} was not offered; offered: {ids}")


def read_wait(seconds: float) -> float:
    """How long somebody wants to wait; NaN is no length of time."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or math.isnan(seconds):
        raise BadRequest(f"Wait for a number of seconds, not {seconds!r}")
    return max(0.0, float(seconds))
