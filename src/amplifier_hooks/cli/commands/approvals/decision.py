"""A decision from a shell: what would be decided, shown in full and confirmed."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from amplifier_hooks.approvals.errors import BadRequest, Conflict
from amplifier_hooks.approvals.models import Choice, StandingWish
from amplifier_hooks.approvals.stores.scopes import describe_scopes
from amplifier_hooks.cli.commands.approvals.view import describe_state, print_approval
from amplifier_hooks.cli.person import confirm
from amplifier_hooks.cli.text.escape import escape
from amplifier_hooks.cli.text.output import print_line
from amplifier_hooks.text.short_ids import shorten_id

if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Approval, Option
    from amplifier_hooks.cli.commands.approvals.desk import Desk

_DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Wish:
    """What the flags of `allow` and `deny` say."""

    allow: bool
    option: str | None = None
    comment: str = ""
    yes: bool = False
    scope: str | None = None
    days: float = 30.0
    uses: int | None = None


async def decide(desk: Desk, approval: Approval, wish: Wish) -> None:
    """Show what it is about, ask the person once more, and decide."""
    print_approval(approval)
    if approval.status != "pending":
        raise Conflict(f"It is decided already: {describe_state(approval)}", approval)
    option = choose_option(approval, wish)
    standing = _read_scope(approval, wish)
    print_line("")
    if not wish.yes and not confirm(f"Answer {escape(option.label)!r}?", "--yes"):
        raise click.Abort
    choice = Choice(option.id, approval.nonce, uuid.uuid4().hex, wish.comment, standing=standing)
    decided = await desk.decide(approval.id, choice)
    said = f"{escape(option.label)}: {decided.request.tool_name or decided.request.hook}"
    if decided.status == "pending":
        need = decided.request.requirement.persons - len(decided.votes)
        said += f"; {need} more must allow it"
    print_line(("good", "✓ "), said)
    if decided.rule_id:
        rule = shorten_id(decided.rule_id)
        print_line(("dim", f"Rule {rule}; amplifier approvals revoke takes it back"))


def choose_option(approval: Approval, wish: Wish) -> Option:
    """The option that is meant: the one that is named, or the plain one for this once."""
    options = approval.request.options
    fitting = [one for one in options if one.allows == wish.allow and _is_named(one, wish.option)]
    if not fitting:
        word = "allows" if wish.allow else "refuses"
        have = ", ".join(repr(one.label) for one in options)
        raise BadRequest(f"No option {wish.option or ''!r} that {word}; have {have}")
    return min(fitting, key=lambda one: one.remembered)


def _is_named(option: Option, given: str | None) -> bool:
    return given is None or given in (option.label, str(option.id))


def _read_scope(approval: Approval, wish: Wish) -> StandingWish | None:
    """The rule that is to be kept, in the words that it has; BadRequest if it is not offered."""
    if wish.scope is None:
        return None
    offered = {one.id: one.words for one in describe_scopes(approval)}
    if wish.scope not in offered:
        have = ", ".join(offered) or "none for this question"
        raise BadRequest(f"No scope {wish.scope!r}; have {have}")
    uses = "" if wish.uses is None else f", {wish.uses} times at most"
    print_line("")
    print_line(
        ("warning", "Without asking again: "),
        escape(f"{offered[wish.scope]}; for {wish.days:g} days{uses}"),
    )
    return StandingWish(wish.scope, wish.days * _DAY, wish.uses)
