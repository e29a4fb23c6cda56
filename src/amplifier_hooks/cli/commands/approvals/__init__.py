"""amplifier approvals: what agents ask, answered from any shell."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from amplifier_hooks.cli.options import AS_JSON, add_options

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from amplifier_hooks.cli.commands.approvals.view import ApprovalAccess, DecisionOptions

SECONDS = 5.0
VARIABLE = "AMPLIFIER_STORE"
NOBODY = "0" * 32
"""An id that no approval has: the answer to it shows whether a token is taken."""

NOT_TRIED = "not trusted, not tried: amplifier trust shows what this folder would run"

Health = tuple[str, bool | None, str]
"""A way to people elsewhere, whether it works (None: it was not tried), and what was found."""


def probe_bundle() -> list[Health]:
    """The same for the bundle in use here; a bundle that cannot be read is reported elsewhere.

    The address and the token of a bundle that is not trusted are not used: it may name any server
    and any variable of the person.
    """
    from amplifier_core.errors import ModuleError
    from amplifier_core.mount_plan import list_ways
    from amplifier_hooks.agent.bundles import BundleError
    from amplifier_hooks.cli.commands.hooks.testing import load_material

    section: Mapping[str, Any] = {}
    distrust = ""
    try:
        material, distrust = asyncio.run(load_material(None))
        section = material.bundle.mount_plan["approval"]
    except (BundleError, ModuleError):
        pass
    named = os.environ.get(VARIABLE)
    if not distrust:
        return asyncio.run(probe_people(section, named))
    untried: list[Health] = [
        (way, None, NOT_TRIED) for way in ("store", "server") if way in list_ways(section)
    ]
    return asyncio.run(probe_people({}, named)) + untried


async def probe_people(section: Mapping[str, Any], named: str | None = None) -> list[Health]:
    """For each way to people elsewhere: its name, whether it works, and what was found.

    `named` is the store that commands use here because the environment says so.
    """
    from amplifier_core.mount_plan import list_ways

    found: list[Health] = []
    if named:
        found.append((VARIABLE, *await _probe_store(named)))
    if "store" in list_ways(section):
        found.append(("store", *await _probe_store(section.get("store"))))
    if "server" in list_ways(section):
        found.append(("server", *await _probe_server(section)))
    return found


async def _probe_store(url: str | None) -> tuple[bool, str]:
    from amplifier_hooks.approvals.errors import StoreError
    from amplifier_hooks.approvals.models import ApprovalFilter
    from amplifier_hooks.approvals.stores.store import open_store

    try:
        async with asyncio.timeout(SECONDS), await open_store(url) as store:
            waiting, _ = await store.approvals.list(ApprovalFilter(status=("pending",)))
    except (StoreError, OSError, TimeoutError) as error:
        return False, str(error) or "does not answer"
    return True, f"answers; {len(waiting)} approvals wait"


async def _probe_server(section: Mapping[str, Any]) -> tuple[bool, str]:
    """Ask for an approval that is not there: NotFound is what an agent with a token hears."""
    from amplifier_hooks.approvals.errors import NotFound, StoreError
    from amplifier_hooks.approvals.http_connection import Connection
    from amplifier_hooks.approvals.models import Approval

    connection = Connection(str(section["server"]), str(section["token"]))
    try:
        async with asyncio.timeout(SECONDS):
            await connection.get(f"/agent/approvals/{NOBODY}", Approval)
    except NotFound:
        pass
    except (StoreError, TimeoutError) as error:
        return False, str(error) or "does not answer"
    finally:
        await connection.close()
    return True, f"{connection.host} answers, and takes the token"


F = TypeVar("F", bound=Callable[..., Any])

EPILOG = """\b
Examples:
  amplifier approvals list
  amplifier approvals show 3f2a
  amplifier approvals allow 3f2a
  amplifier approvals deny 3f2a --comment "not on a Friday"
  amplifier approvals watch --server https://approvals.example.com

An approval is named by its id or the start of it. Exit code 1 if somebody else was first, or time
was.
"""

_SCRIPTS = (
    "A script decides at a server, with a token: amplifier serve, amplifier tokens add NAME "
    "--scope read --scope decide, then --server URL"
)
_PLACE = [
    click.option(
        "--store",
        metavar="PATH|URL",
        help="The store: a file, or postgresql://… [default: $AMPLIFIER_STORE, or your own]",
    ),
    click.option(
        "--server",
        metavar="URL",
        envvar="AMPLIFIER_SERVER",
        help="A server instead; your token is $AMPLIFIER_TOKEN, or in a file.",
    ),
    click.option(
        "--token-file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The file that holds your token for the server.",
    ),
]


_DECISION = [
    click.option("--option", help="Which answer, by its label or number."),
    click.option("--comment", default="", help="What the agent is told."),
    click.option(
        "--yes",
        is_flag=True,
        help="Do not ask whether you are sure. Allowing at a store needs a terminal.",
    ),
]


def _add_place(command: F) -> F:
    return add_options(command, _PLACE)


def _add_decision(command: F) -> F:
    return add_options(command, [*_DECISION, *_PLACE])


def _at_desk(
    place: dict[str, Any], work: Callable[[ApprovalAccess], Coroutine[Any, Any, int | None]]
) -> int | None:
    """Do something at the store or server that the flags name."""

    async def run() -> int | None:
        from amplifier_hooks.cli.commands.approvals.view import open_access

        async with open_access(place["store"], place["server"], place["token_file"]) as access:
            return await work(access)

    return asyncio.run(run())


@click.group(epilog=EPILOG)
def approvals() -> None:
    """Answer what agents ask, from any shell."""


@approvals.command("list")
@click.option("--all", "everything", is_flag=True, help="Also those that are decided or over.")
@click.option("--limit", default=50, show_default=True, help="How many.")
@AS_JSON
@_add_place
def list_command(everything: bool, limit: int, as_json: bool, **place: Any) -> None:
    """List what waits for a person."""

    async def work(access: ApprovalAccess) -> None:
        from amplifier_hooks.approvals.models import ApprovalFilter

        wanted = ApprovalFilter(
            status=() if everything else ("pending",), newest_first=everything, limit=limit
        )
        found, more = await access.list(wanted)
        if as_json:
            for one in found:
                click.echo(_to_json(one))
        else:
            _print_list(found, bool(more))

    _at_desk(place, work)


def _print_list(found: list[Any], more: bool) -> None:
    from amplifier_hooks.cli.commands.approvals.view import make_row
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.short_ids import shorten_ids

    if not found:
        print_line("Nothing waits for a person.")
        return
    columns = [Column("tool"), Column("note"), Column("dim"), Column("dim"), Column("title")]
    shorts = shorten_ids(one.id for one in found)
    print_table(
        [make_row(one, shorts[one.id]) for one in found], *columns, Column(overflow="cut end")
    )
    if more:
        print_line(("dim", "There are more; --limit shows them"))


@approvals.command()
@click.argument("approval", metavar="ID")
@AS_JSON
@_add_place
def show(approval: str, as_json: bool, **place: Any) -> None:
    """Show in full what an agent asks."""

    async def work(access: ApprovalAccess) -> None:
        from amplifier_hooks.cli.commands.approvals.view import find_approval, print_approval

        found = await find_approval(access, approval)
        if as_json:
            click.echo(_to_json(found))
        else:
            print_approval(found)

    _at_desk(place, work)


@approvals.command()
@click.argument("approval", metavar="ID")
@click.option(
    "--always",
    "scope",
    metavar="SCOPE",
    help="Keep the answer as a rule: exact, or below:FOLDER for edits of files there.",
)
@click.option("--days", default=30.0, show_default=True, help="How long that rule holds.")
@click.option("--uses", type=click.IntRange(min=1), help="How often that rule holds.")
@_add_decision
def allow(approval: str, **given: Any) -> None:
    """Allow what an agent asks. It is shown in full first."""
    _decide(approval, given, allow=True)


@approvals.command()
@click.argument("approval", metavar="ID")
@_add_decision
def deny(approval: str, **given: Any) -> None:
    """Refuse what an agent asks."""
    _decide(approval, given, allow=False)


def _decide(approval: str, given: dict[str, Any], *, allow: bool) -> None:
    from amplifier_hooks.cli.commands.approvals.view import DecisionOptions, decide, find_approval
    from amplifier_hooks.cli.person import refuse_agents, require_terminal

    refuse_agents()
    place = {key: given.pop(key) for key in ("store", "server", "token_file")}
    wish: DecisionOptions = DecisionOptions(allow, **given)
    if wish.allow and wish.yes and place["server"] is None:
        # At a server, a token says who decides; at a store, only the user of this process does.
        require_terminal("Allowing with --yes", _SCRIPTS)

    async def work(access: ApprovalAccess) -> None:
        await decide(access, await find_approval(access, approval), wish)

    _at_desk(place, work)


@approvals.command()
@AS_JSON
@_add_place
def watch(as_json: bool, **place: Any) -> None:
    """Show what waits, and what becomes of it, until you press Ctrl-C."""

    async def work(access: ApprovalAccess) -> None:
        from amplifier_hooks.cli.commands.approvals.view import make_row
        from amplifier_hooks.cli.text.output import print_line
        from amplifier_hooks.text.short_ids import shorten_id

        if not as_json:
            print_line(("dim", "Watching; Ctrl-C ends it"))
        async for one in access.watch():
            if as_json:
                click.echo(_to_json(one))
                continue
            name, state, *about = make_row(one, shorten_id(one.id))
            print_line(
                ("tool", name), ("note", f"  {state}"), f"  {'  '.join(filter(None, about))}"
            )

    try:
        _at_desk(place, work)
    except KeyboardInterrupt:
        return


@approvals.command()
@click.option("--all", "everything", is_flag=True, help="Also those that are revoked or over.")
@AS_JSON
@_add_place
def rules(everything: bool, as_json: bool, **place: Any) -> None:
    """List the standing rules: what is allowed without asking again."""

    async def work(access: ApprovalAccess) -> None:
        found = await access.list_rules(include_ended=everything)
        if as_json:
            for one in found:
                click.echo(_to_json(one))
        else:
            _print_rules(found)

    _at_desk(place, work)


def _print_rules(found: list[Any]) -> None:
    from time import time

    from amplifier_hooks.cli.commands.approvals.view import make_rule_row
    from amplifier_hooks.cli.text.output import print_line
    from amplifier_hooks.cli.text.table import Column, print_table
    from amplifier_hooks.text.short_ids import shorten_ids

    if not found:
        print_line("There are no standing rules.")
        return
    shorts = shorten_ids(one.id for one in found)
    rows = [make_rule_row(one, shorts[one.id], time()) for one in found]
    print_table(rows, Column("tool"), Column("dim"), Column("note"), Column("dim"), Column())


@approvals.command()
@click.argument("rule", metavar="RULE")
@_add_place
def revoke(rule: str, **place: Any) -> None:
    """Take a standing rule back; agents ask again from then on."""
    from amplifier_hooks.cli.person import refuse_agents

    refuse_agents()

    async def work(access: ApprovalAccess) -> None:
        from amplifier_hooks.cli.commands.approvals.view import find_rule
        from amplifier_hooks.cli.text.output import print_line
        from amplifier_hooks.text.short_ids import shorten_id

        found = await find_rule(access, rule)
        await access.revoke_rule(found.id)
        print_line(("good", "✓ "), f"revoked {shorten_id(found.id)}")

    _at_desk(place, work)


def _to_json(value: Any) -> str:
    from amplifier_hooks.approvals.encoding import to_plain

    return json.dumps(value, default=to_plain)
