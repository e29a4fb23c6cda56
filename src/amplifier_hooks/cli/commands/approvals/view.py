"""The questions that wait, as they are listed and decided."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from amplifier_core.errors import AmplifierError
from amplifier_hooks.approvals.errors import BadRequest, Conflict, NotFound
from amplifier_hooks.approvals.models import ApprovalFilter, Choice, StandingRule, StandingWish
from amplifier_hooks.approvals.stores.scopes import describe_scopes, describe_width
from amplifier_hooks.cli.person import confirm
from amplifier_hooks.cli.text.fragments import Line, escape_line, escape_lines
from amplifier_hooks.cli.text.output import print_line
from amplifier_hooks.machine.files import read_regular
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.text.escape import escape, get_first_line, make_readable
from amplifier_hooks.text.short_ids import shorten_id

if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Approval, Option, StandingRule


T = TypeVar("T")

WHOLE = 32
"""The characters of a whole id."""


async def find_approval(access: ApprovalAccess, given: str) -> Approval:
    """The approval with this id, or the one whose id begins so: waiting ones first."""
    if len(given) >= WHOLE:
        return await access.get(given)
    waiting, _ = await access.list(ApprovalFilter(status=("pending",), limit=500))
    if not any(one.id.startswith(given) for one in waiting):
        waiting, _ = await access.list(ApprovalFilter(newest_first=True, limit=500))
    return _choose([one for one in waiting if one.id.startswith(given)], "approval", given)


async def find_rule(access: ApprovalAccess, given: str) -> StandingRule:
    """The rule with this id, or the one whose id begins so."""
    rules = await access.list_rules(include_ended=True)
    return _choose([one for one in rules if one.id.startswith(given)], "rule", given)


def _choose(found: Sequence[T], what: str, given: str) -> T:
    if not given.strip() or not found:
        raise NotFound(f"There is no {what} whose id begins with {given!r}")
    if len(found) > 1:
        raise BadRequest(
            f"{len(found)} {what}s have ids that begin with {given!r}; write more of it"
        )
    return found[0]


_STYLES = {"+": "add", "-": "del", "@": "hunk"}


def make_row(approval: Approval, short: str) -> tuple[str, ...]:
    """One row of the list; `short` is as much of its id as tells it from others."""
    request = approval.request
    what = f"{request.tool_name}  {_summarize(request.tool_input)}".strip()
    return (
        short,
        describe_state(approval),
        escape(request.machine),
        escape(request.hook),
        escape(get_first_line(request.prompt, 80)),
        escape(get_first_line(what, 80)),
    )


def describe_state(approval: Approval) -> str:
    """How it stands, with the time that is left or who decided."""
    if approval.status == "pending":
        return f"waits, {format_seconds(approval.seconds_left)} left"
    if not approval.decided_by:
        return approval.status
    said = f"{escape(approval.option)!r} by {escape(approval.decided_by)}"
    return f"{approval.status}, {said}"


def format_seconds(seconds: float) -> str:
    """A time span in one unit."""
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {word}"
    return f"{max(0.0, seconds):.0f} s"


def print_approval(approval: Approval) -> None:
    """Everything that a person should see before deciding; nothing is left out."""
    for line in show_approval(approval):
        print_line(*line)


def show_approval(approval: Approval) -> Iterator[Line]:
    """The lines of an approval in full."""
    request = approval.request
    yield from escape_lines(request.prompt, "title")
    yield (("", ""),)
    for name, value in _list_facts(approval):
        # Foreign lines stand under the first: none of them looks like another fact.
        yield (("dim", f"{name:<10}"), ("", make_readable(value).replace("\n", f"\n{'':<10}")))
    for note in request.notes:
        yield (("warning", f"Note: {make_readable(note)}"),)
    if request.preview:
        yield (("", ""),)
        yield from _show_diff(request.preview)
    if request.tool_input:
        yield (("", ""),)
        yield (("dim", "input"),)
        yield from _show_input(request.tool_input)
    yield (("", ""),)
    for option in request.options:
        yield (("note", f"{option.id}  "), *escape_line(option.label))


def _list_facts(approval: Approval) -> Iterator[tuple[str, str]]:
    request = approval.request
    facts = {
        "id": approval.id,
        "state": describe_state(approval),
        "hook": request.hook,
        "reason": request.reason,
        "tool": request.tool_name,
        "from": f"{request.requester} on {request.machine}, in {request.working_dir}",
        "session": request.session_id,
        "needs": _describe_requirement(approval),
        "decision": approval.option,
        "comment": approval.comment,
        "outcome": approval.outcome,
        "rule": approval.rule_id,
    }
    yield from ((name, value) for name, value in facts.items() if value)


def _describe_requirement(approval: Approval) -> str:
    need = approval.request.requirement
    said = ", ".join(vote.by for vote in approval.votes)
    words = [f"{need.persons} people" + (f" (so far {said})" if said else "")]
    return "; ".join(
        [
            *(words if need.persons > 1 else []),
            *([] if need.requester_may_approve else [f"not {approval.request.requester}"]),
            *([f"the scope {need.scope}"] if need.scope else []),
        ]
    )


def _show_diff(text: str) -> Iterator[Line]:
    for row in text.splitlines():
        yield escape_line(row, _STYLES.get(row[:1], ""))


def _show_input(tool_input: Mapping[str, Any]) -> Iterator[Line]:
    command = tool_input.get("command")
    rest: Mapping[str, Any] = tool_input
    if isinstance(command, str):
        yield from escape_lines(command)
        rest = {key: value for key, value in tool_input.items() if key != "command"}
    if rest:
        yield from escape_lines(json.dumps(rest, indent=2, ensure_ascii=False))


def _summarize(tool_input: Mapping[str, Any]) -> str:
    for key in ("command", "file_path", "path", "url"):
        if isinstance(tool_input.get(key), str):
            return str(tool_input[key])
    return ""


def make_rule_row(rule: StandingRule, short: str, now: float) -> tuple[str, ...]:
    """One row of the list of rules."""
    left = rule.expires - now
    state = f"{format_seconds(left)} left" if left > 0 else "over"
    if rule.revoked_by:
        state = f"revoked by {escape(rule.revoked_by)}"
    uses = f"used {rule.uses}×" + ("" if rule.uses_left is None else f", {rule.uses_left} left")
    wide = describe_width(rule)
    said = f"{rule.description} (too wide: {wide})" if wide else rule.description
    return (short, escape(rule.author), state, uses, escape(said))


_DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class DecisionOptions:
    """What the flags of `allow` and `deny` say."""

    allow: bool
    option: str | None = None
    comment: str = ""
    yes: bool = False
    scope: str | None = None
    days: float = 30.0
    uses: int | None = None


async def decide(access: ApprovalAccess, approval: Approval, wish: DecisionOptions) -> None:
    """Show what it is about, ask the person once more, and decide."""
    print_approval(approval)
    if approval.status != "pending":
        raise Conflict(f"It is decided already: {describe_state(approval)}", approval)
    option = choose_option(approval, wish)
    standing = _read_scope(approval, wish)
    print_line("")
    if not wish.yes and not confirm(f"Answer {escape(option.label)!r}?", "--yes"):
        raise click.Abort
    choice = Choice(
        option=option.id,
        nonce=approval.nonce,
        key=uuid.uuid4().hex,
        comment=wish.comment,
        standing=standing,
    )
    decided = await access.decide(approval.id, choice)
    said = f"{escape(option.label)}: {decided.request.tool_name or decided.request.hook}"
    if decided.status == "pending":
        need = decided.request.requirement.persons - len(decided.votes)
        said += f"; {need} more must allow it"
    print_line(("good", "✓ "), said)
    if decided.rule_id:
        rule = shorten_id(decided.rule_id)
        print_line(("dim", f"Rule {rule}; amplifier approvals revoke takes it back"))


def choose_option(approval: Approval, wish: DecisionOptions) -> Option:
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


def _read_scope(approval: Approval, wish: DecisionOptions) -> StandingWish | None:
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
    return StandingWish(scope=wish.scope, seconds=wish.days * _DAY, uses=wish.uses)


if TYPE_CHECKING:
    from amplifier_hooks.approvals.models import Approval, ApprovalFilter, Choice, StandingRule
    from amplifier_hooks.approvals.stores.store import Store

    # Within a class, `list` is its method.
    Approvals = list[Approval]
    Rules = list[StandingRule]

TOKEN = "AMPLIFIER_TOKEN"
TOKEN_FILE = "AMPLIFIER_TOKEN_FILE"


class NoCredential(AmplifierError):
    """Nobody can tell who is deciding."""


class ApprovalAccess(Protocol):
    """What a person can do from here."""

    async def get(self, approval_id: str) -> Approval: ...

    async def list(self, wanted: ApprovalFilter) -> tuple[Approvals, str]: ...

    async def decide(self, approval_id: str, choice: Choice) -> Approval: ...

    async def list_rules(self, *, include_ended: bool = False) -> Rules: ...

    async def revoke_rule(self, rule_id: str) -> StandingRule: ...

    def watch(self) -> AsyncIterator[Approval]: ...

    async def close(self) -> None: ...


@asynccontextmanager
async def open_access(
    store: str | None, server: str | None, token_file: Path | None = None
) -> AsyncIterator[ApprovalAccess]:
    """The server if one is named, else the store."""
    access: ApprovalAccess
    if server is not None:
        from amplifier_hooks.approvals.client import PeopleClient

        access = PeopleClient(server, read_token(token_file))
    else:
        from amplifier_hooks.approvals.stores.store import open_store

        access = StoreAccess(await open_store(store))
    try:
        yield access
    finally:
        await access.close()


def read_token(file: Path | None = None) -> str:
    """A person's token: from the file that is named, the environment, or the usual file."""
    if file is None and os.environ.get(TOKEN):
        return os.environ[TOKEN]
    named = os.environ.get(TOKEN_FILE)
    path = file or (Path(named) if named else find_data_home() / "amplifier" / "token")
    try:
        return read_regular(path).decode().strip()
    except OSError as error:
        why = error.strerror or error
        raise NoCredential(
            f"No token for the server: set {TOKEN}, or write one to {path} ({why}). "
            "amplifier tokens add NAME --scope read --scope decide makes one"
        ) from error


class StoreAccess:
    """A person at a store; who they are is who runs this process."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, approval_id: str) -> Approval:
        """One approval, as it is now."""
        await self._sweep()
        return await self._store.approvals.get(approval_id)

    async def list(self, wanted: ApprovalFilter) -> tuple[Approvals, str]:
        """Approvals, and where the next ones begin."""
        await self._sweep()
        return await self._store.approvals.list(wanted)

    async def decide(self, approval_id: str, choice: Choice) -> Approval:
        """Decide; Conflict if somebody was first."""
        from amplifier_hooks.approvals.models import Decider
        from amplifier_hooks.machine.locations import get_user_name

        person = Decider(get_user_name(), "cli")
        return await self._store.approvals.decide(approval_id, choice, person)

    async def list_rules(self, *, include_ended: bool = False) -> Rules:
        """The standing rules."""
        return await self._store.rules.list(include_ended)

    async def revoke_rule(self, rule_id: str) -> StandingRule:
        """Take a rule back."""
        from amplifier_hooks.machine.locations import get_user_name

        return await self._store.rules.revoke(rule_id, get_user_name())

    async def watch(self) -> AsyncIterator[Approval]:
        """Every pending approval, then each one that changes."""
        from amplifier_hooks.approvals.models import ApprovalFilter

        seen: dict[str, Approval] = {}
        async with self._store.listen() as changes:
            while True:
                pending, _ = await self.list(ApprovalFilter(status=("pending",), limit=500))
                for approval in await self._find_news(pending, seen):
                    yield approval
                # A change is a hint; without one, time alone ends a question.
                with suppress(TimeoutError):
                    async with asyncio.timeout(1.0):
                        await anext(changes)

    async def _find_news(self, pending: Approvals, seen: dict[str, Approval]) -> Approvals:
        waiting = {approval.id: approval for approval in pending}
        ended = [await self._store.approvals.get(one) for one in seen if one not in waiting]
        fresh = [
            approval
            for approval in pending
            if approval.id not in seen or approval.votes != seen[approval.id].votes
        ]
        seen.clear()
        seen.update(waiting)
        return [*ended, *fresh]

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()

    async def _sweep(self) -> None:
        """Nobody else may look after this store."""
        await self._store.approvals.expire_overdue()
        await self._store.approvals.mark_lost()
