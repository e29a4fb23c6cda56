"""amplifier guard mcp: put the gateway before the MCP servers of clients, and take it out again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.guard.installing import check_bundle, is_shared
from amplifier_hooks.cli.options import AS_JSON, BUNDLE
from amplifier_hooks.cli.text.output import print_line, print_wrapped
from amplifier_hooks.coding_agents.installing.guard import lock_runtime
from amplifier_hooks.coding_agents.installing.places import find_root
from amplifier_hooks.coding_agents.installing.record import Records, open_mcp_records
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError
from amplifier_hooks.guards.mcp.client_files import CLIENTS, McpPlace, list_mcp_places
from amplifier_hooks.mcp.clients.installation import (
    SCOPES,
    Change,
    ClientStatus,
    ServerStatus,
    list_files,
    read_client,
)
from amplifier_hooks.text.escape import escape

Edit = Callable[[str, list[McpPlace], Records], Change]

_UNSEEN = (
    "Not looked at: servers of claude.ai, of extensions of editors, in the files of subagents and "
    "containers, and on a client's command line. Only a guard in front of the client judges those: "
    "amplifier guard"
)
_STYLES = {"guarded": "good", "disabled": "dim"}


class Report:
    """The clients that a person has asked about, in one folder."""

    def __init__(self, client: str | None, scope: str, folder: Path, root: Path) -> None:
        self._asked = client
        self._scopes = SCOPES[scope]
        self._folder = folder
        self.root = root
        self.failures: list[str] = []
        self._changed: dict[str, list[Path]] = {}

    def check_names(self, names: frozenset[str]) -> None:
        """Refuse names that no server has."""
        have = {one.name for status in self._read() for one in status.servers}
        wrong = sorted(names - have)
        if wrong:
            known = ", ".join(map(repr, sorted(have))) or "none"
            raise click.UsageError(f"There is no server {wrong[0]!r}; have {known}")

    def change(self, edit: Edit) -> None:
        """Change every file of the clients; one that cannot be changed does not stop the others."""
        records = open_mcp_records()
        with lock_runtime():
            for client in self._list_clients():
                for places in list_files(client, self._folder, self._scopes):
                    self._change_file(edit, client, places, records)

    def _change_file(
        self, edit: Edit, client: str, places: list[McpPlace], records: Records
    ) -> None:
        try:
            done = edit(client, places, records)
        except SettingsError as error:
            self.failures.append(str(error))
            return
        if done.kind == "changed":
            self._changed.setdefault(client, []).append(done.path)

    @cached_property
    def clients(self) -> list[ClientStatus]:
        """How they are guarded now."""
        return self._read()

    @cached_property
    def problems(self) -> list[str]:
        """What keeps gateways from starting, or files from being read."""
        found = [*self.failures, *(what for one in self.clients for what in one.problems)]
        servers = [one for status in self.clients for one in status.servers]
        standing = [one for one in servers if one.state == "guarded" and one.stands]
        rules = {(one.bundle, one.folder) for one in standing}
        checks = [check_bundle(*self._find_root(*one)) for one in sorted(rules, key=str)]
        found += [one["problem"] for one in checks if one.get("problem")]
        return list(dict.fromkeys(found))

    def _find_root(self, bundle: Path | None, folder: Path | None) -> tuple[Path | None, Path]:
        return bundle, self.root if folder is None else find_root(folder)[0]

    @property
    def stands(self) -> bool:
        """Whether every server that is switched on is guarded."""
        return not self.problems and all(one.stands for one in self.clients)

    def show(self, *, as_json: bool, removed: bool = False) -> None:
        """Tell the person, or a program."""
        notes = list(self._list_notes(removed=removed))
        if as_json:
            click.echo(json.dumps(self._to_plain(notes), indent=2))
            return
        if removed:
            self._print_removed()
        elif not self.clients:
            print_line(f"No MCP server is in the settings of {', '.join(CLIENTS.values())}.")
        for one in [] if removed else self.clients:
            self._print_client(one)
        for problem in self.problems:
            print_wrapped(0, ("bad", "✗ "), escape(problem))
        for note in notes:
            print_wrapped(0, ("dim", "! "), escape(note))

    def _read(self) -> list[ClientStatus]:
        found = [read_client(one, self._folder, self._scopes) for one in self._list_clients()]
        return found if self._asked else list(_list_present(found))

    def _list_clients(self) -> list[str]:
        return [self._asked] if self._asked else list(CLIENTS)

    def _print_removed(self) -> None:
        paths = [path for found in self._changed.values() for path in found]
        for path in paths:
            print_line(("good", "✓ "), f"The gateway is no longer in {escape(str(path))}")
        if not paths:
            print_line("There is no gateway of ours in the settings of these clients.")

    def _print_client(self, status: ClientStatus) -> None:
        print_line(("title", CLIENTS[status.client]))
        if not status.servers and not status.problems:
            print_line("  has no MCP servers here; looked in")
            for path in self._list_paths(status.client):
                print_line(("dim", f"    {escape(str(path))}"))
        width = max((len(escape(one.name)) for one in status.servers), default=0)
        for one in status.servers:
            _print_server(one, width)

    def _list_paths(self, client: str) -> list[Path]:
        places = list_mcp_places(client, self._folder)
        mine = [one.path for one in places if one.scope in self._scopes and not one.foreign]
        return list(dict.fromkeys(mine))

    def _list_notes(self, *, removed: bool) -> Iterator[str]:
        servers = [one for status in self.clients for one in status.servers]
        if removed:
            for one in (server for server in servers if server.state == "guarded"):
                yield f"{one.path}: the gateway before {one.name!r} is not as we wrote it; it stays"
        elif any(one.state == "not guarded" for one in servers):
            yield "To put the gateway before those that are not guarded: amplifier guard mcp"
        if not removed:
            yield _UNSEEN
        for client, paths in self._changed.items():
            yield f"Start {CLIENTS[client]} anew: it reads its servers only when it starts."
            shared = [] if removed else [one for one in paths if self._is_shared(one)]
            for path in shared:
                yield (
                    f"{path} holds paths of this machine now: keep it out of version control, or "
                    "take the gateway out with --remove --project before you commit it."
                )

    def _is_shared(self, path: Path) -> bool:
        return path.is_relative_to(self.root) and is_shared(path)

    def _to_plain(self, notes: list[str]) -> dict[str, Any]:
        return {
            "stands": self.stands,
            "clients": [self._write_client(one) for one in self.clients],
            "problems": self.problems,
            "notes": notes,
        }

    def _write_client(self, status: ClientStatus) -> dict[str, Any]:
        return {
            "client": status.client,
            "program": status.program,
            "stands": status.stands,
            "changed": [str(one) for one in self._changed.get(status.client, [])],
            "servers": [
                {
                    "name": one.name,
                    "scope": one.scope,
                    "file": str(one.path),
                    "state": one.state,
                    "detail": one.detail,
                    "bundle": None if one.bundle is None else str(one.bundle),
                    "folder": None if one.folder is None else str(one.folder),
                }
                for one in status.servers
            ],
        }


def _list_present(found: list[ClientStatus]) -> Iterator[ClientStatus]:
    """Clients with servers; one that only shares the files of another must be installed, too."""
    shown: set[Path] = set()
    for one in found:
        paths = {server.path for server in one.servers}
        if one.problems or paths - shown or (paths and one.program):
            yield one
        shown |= paths


def _print_server(server: ServerStatus, width: int) -> None:
    style = _STYLES.get(server.state, "bad")
    mark = "✓" if server.stands else "✗"
    where = ("dim", escape(f"{server.scope:<7}  {server.path}"))
    name = escape(server.name).ljust(width)
    print_line((style, f"  {mark} {server.state:<17}"), f"  {name}  ", where)
    rules = server.bundle or server.folder
    if rules is not None and server.state == "guarded":
        print_wrapped(6, ("dim", f"judged by the rules of {escape(str(rules))}"))
    if server.detail:
        print_wrapped(6, ("dim", escape(server.detail)))


EPILOG = """\b
Examples:
  amplifier guard mcp                          before the servers of every client
  amplifier guard mcp --client claude --user
  amplifier guard mcp --bundle ~/strict.yaml
  amplifier guard mcp --status
  amplifier guard mcp --remove

A server that is added to a client later has no gateway before it until this is run again.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--client",
    type=click.Choice(list(CLIENTS)),
    help="Only this client. [default: all that are on this machine]",
)
@click.option("--user", "scope", flag_value="user", help="Only servers for you, in every folder.")
@click.option("--project", "scope", flag_value="project", help="Only servers for this project.")
@BUNDLE
@click.option(
    "--open",
    "open_servers",
    multiple=True,
    metavar="NAME",
    help="This server elsewhere needs no login, although it has no headers.",
)
@click.option(
    "--new-tools",
    type=click.Choice(["allow", "ask"]),
    help="Whether to ask before a tool is called that was never seen before. [default: allow]",
)
@click.option("--status", "show", is_flag=True, help="Show which servers are guarded.")
@click.option("--remove", is_flag=True, help="Take the gateway out, and leave no trace.")
@AS_JSON
def mcp(
    client: str | None,
    scope: str | None,
    bundle: Path | None,
    open_servers: tuple[str, ...],
    new_tools: str | None,
    show: bool,
    remove: bool,
    as_json: bool,
) -> int:
    """Put the gateway before the MCP servers of Claude Code, Codex and others.

    Whatever the client asks of a server is then judged by the hooks of the bundle. The servers
    keep their names, environment and other settings. --status ends with 0 only if every server
    that is switched on is guarded.
    """
    if show and remove:
        raise click.UsageError("Use only one of --status and --remove")
    if (show or remove) and (bundle or open_servers or new_tools):
        raise click.UsageError(
            "--bundle, --open and --new-tools say what to install; "
            "they do not go with --status and --remove"
        )
    from amplifier_hooks.coding_agents.installing.places import find_root

    root, _ = find_root(Path.cwd())
    report = Report(client, scope or "all", Path.cwd(), root)
    if remove:
        _remove(report)
    elif not show:
        _install(report, bundle, frozenset(open_servers), new_tools or "")
    report.show(as_json=as_json, removed=remove)
    stands = remove or report.stands
    return exit_codes.DONE if stands and not report.failures else exit_codes.FAILED


def _install(
    report: Report, bundle: Path | None, open_servers: frozenset[str], new_tools: str
) -> None:
    from amplifier_hooks.cli.commands.guard.installing import require_trust
    from amplifier_hooks.cli.person import refuse_agents
    from amplifier_hooks.mcp.clients.command_line import make_gateway
    from amplifier_hooks.mcp.clients.entries import GatewayOptions
    from amplifier_hooks.mcp.clients.installation import add_gateway

    refuse_agents()
    report.check_names(open_servers)
    full = None if bundle is None else bundle.absolute()
    require_trust(full, report.root)
    wish = GatewayOptions(make_gateway(full, new_tools), open_servers)
    report.change(lambda client, places, records: add_gateway(client, places, wish, records))


def _remove(report: Report) -> None:
    from amplifier_hooks.cli.person import refuse_agents
    from amplifier_hooks.mcp.clients.installation import remove_gateway

    refuse_agents()
    report.change(remove_gateway)
