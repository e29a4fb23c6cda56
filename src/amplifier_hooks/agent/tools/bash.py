"""tool-bash: run a command in bash, in a sandbox, with a time limit.

Listens to  tool:pre, for its own calls that need more than the sandbox allows
Answers     ask_user, deny, or continue
Configure   timeout, max_timeout, output_limit, working_dir, hide_env
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from amplifier_core.events import TOOL_PRE
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.models import HookResult, ToolResult
from amplifier_hooks.agent.tools.base import InputTool, Refused, mount_tools
from amplifier_hooks.agent.tools.live_output import follow_output
from amplifier_hooks.agent.tools.roots import get_working_dir
from amplifier_hooks.guards.policy.database_use import uses_postgres
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.walls import WallBuilder, get_wall_builder
from amplifier_hooks.modules.options import parse_known
from amplifier_hooks.modules.registration import is_own_event, list_lines, register_guards, shorten
from amplifier_hooks.sandbox.process import CommandOutcome, run_command
from amplifier_hooks.sandbox.wall import Wall

_OPTIONS = ["Allow once", "Deny"]
_MOST_REMEMBERED = 256


class Needs(BaseModel):
    """What a command is to be allowed for once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    write: list[str] = Field([], description="Files or folders that exist, to be written below")
    network: bool = Field(False, description="Use the network")
    unix_sockets: bool = Field(False, description="Talk to services of this machine (Unix sockets)")
    reason: str = Field(min_length=1, description="Why, for the person who is asked")


@dataclass(frozen=True, slots=True)
class Grants:
    """What a person is asked to grant, by real paths."""

    write: tuple[Path, ...] = ()
    network: bool = False
    unix_sockets: bool = False

    def __bool__(self) -> bool:
        return bool(self.write or self.network or self.unix_sockets)


class NeedsBook:
    """Remembers for which exact inputs a person was asked for what.

    A call that gets as far as the tool was allowed, because the kernel stops any other. What it may
    do is what stands here: paths are not looked up again, since links may have changed meanwhile.
    """

    def __init__(self) -> None:
        self._asked: OrderedDict[str, Grants] = OrderedDict()

    def write_down(self, given: BaseModel, grants: Grants) -> None:
        """Remember what was asked about an input."""
        key = _digest(given)
        self._asked.pop(key, None)
        self._asked[key] = grants
        if len(self._asked) > _MOST_REMEMBERED:
            self._asked.popitem(last=False)

    def look_up(self, given: BaseModel) -> Grants:
        """What this exact input was asked about; Refused if nobody was asked."""
        try:
            return self._asked[_digest(given)]
        except KeyError:
            raise Refused(
                "`needs` was not put to a person as it stands; make the call again"
            ) from None


def find_grants(needs: Needs | None, wall: WallBuilder | None, base: Path) -> Grants:
    """What of the needs goes beyond what the sandbox allows anyway; Refused if it cannot be."""
    if needs is None or wall is None or not wall.holds:
        return Grants()
    if needs.network and wall.options.network == "deny":
        raise Refused("The bundle denies the network to commands (sandbox.network); do without it")
    paths = [_check_path(path, wall, base) for path in needs.write]
    return Grants(
        tuple(path for path in paths if _goes_beyond(path, wall)),
        needs.network and not wall.has_network,
        needs.unix_sockets and not wall.has_unix_sockets,
    )


def ask_for(grants: Grants, command: str, reason: str, wall: WallBuilder) -> HookResult:
    """The question that names everything, and the command."""
    wanted = list_lines([*_describe(grants, wall)])
    return HookResult(
        action="ask_user",
        approval_prompt=(
            f"Run this command with more than its sandbox allows, this once?\n\n{shorten(command)}"
            f"\n\nIt would be able to:\n{wanted}\n\nThe agent's reason: {shorten(reason)}"
        ),
        approval_options=list(_OPTIONS),
        approval_default="deny",
    )


def _describe(grants: Grants, wall: WallBuilder) -> Iterator[str]:
    for path in grants.write:
        sealed = wall.find_sealed(path)
        yield f"write below {path}" + (f", which {sealed}" if sealed else "")
    if grants.network:
        yield "use the network"
    if grants.unix_sockets:
        yield (
            "talk to services of this machine through Unix sockets; some of them run programs for "
            "whoever asks, outside the sandbox (docker, systemd, tmux)"
        )


def _check_path(given: str, wall: WallBuilder, base: Path) -> Path:
    try:
        path = resolve(Path(given).expanduser(), base)
    except (ValueError, RuntimeError) as wrong:
        raise Refused(str(wrong)) from wrong
    hidden = wall.find_hidden(path)
    if hidden is not None:
        raise Refused(f"{given!r} {hidden}, and no person is asked about it")
    if not path.exists():
        raise Refused(f"{given!r} does not exist; name the folder that it is to be made in")
    return path


def _goes_beyond(path: Path, wall: WallBuilder) -> bool:
    inside = any(path.is_relative_to(root) for root in wall.roots)
    return not inside or wall.find_sealed(path) is not None


def _digest(given: BaseModel) -> str:
    return hashlib.sha256(given.model_dump_json().encode()).hexdigest()


NAME = "tool-bash"
_PRIORITY = 950  # behind whatever changes the call: what is asked about is what runs
_GUARD_TIMEOUT = 10.0
# With these a command could answer what people are asked about it; no option shows them.
_NEVER_SHOWN = ("AMPLIFIER_TOKEN", "AMPLIFIER_TOKEN_FILE", "AMPLIFIER_STORE")
# Nor these, where the answers are in a database that they open.
_OPEN_POSTGRES = ("PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD")
# How programs say that a file or the network was refused to them.
_REFUSALS = re.compile(
    r"permission denied|operation not permitted|read-only file system|network is unreachable"
    r"|could not resolve|name resolution|name or service not known"
    r"|\b(?:EACCES|EPERM|EROFS|ENETUNREACH)\b",
    re.IGNORECASE,
)


class BashConfig(BaseModel):
    """Options of tool-bash. Times are seconds."""

    timeout: PositiveFloat = 120.0
    max_timeout: PositiveFloat = 600.0
    output_limit: PositiveInt = 30_000
    working_dir: str | None = None
    hide_env: list[str] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]


class BashInput(BaseModel):
    """What Bash is told."""

    command: str = Field(min_length=1, description="The command line, as for `bash -c`")
    timeout: float | None = Field(None, gt=0, description="Time limit in seconds")
    description: str | None = Field(None, description="What the command does, in a few words")
    needs: Needs | None = Field(
        None, description="Only after the sandbox refused something: what to ask a person for"
    )


class Bash(InputTool[BashInput]):
    """Runs a command."""

    name = "Bash"
    input_model: ClassVar[type[BaseModel]] = BashInput

    def __init__(self, host: Host, config: BashConfig) -> None:
        self._host = host
        self._config = config
        self._wall = get_wall_builder(host)
        self._book = NeedsBook()
        if self._wall is not None:
            self._wall.join(self.name)
        self.description = (
            "Run a command in bash, in the working directory, and get what it printed. Every call "
            "is a new shell: `cd` and variables do not last. Standard input is empty, so nothing "
            f"can ask back. Background processes end with the command. {self._say_where()}"
            "The limit is "
            f"{config.timeout:g} seconds unless `timeout` says otherwise (at most "
            f"{config.max_timeout:g}). Of long output only the beginning and the end are kept. To"
            " read, write or search files prefer Read, Write, Edit, Glob and Grep."
        )

    def _say_where(self) -> str:
        if self._wall is None or not self._wall.holds:
            return ""
        return "Files can be written in the working directory and in $TMPDIR, not in /tmp. "

    async def run(self, given: BashInput) -> ToolResult:
        """Run the command in the session's working directory."""
        limit = self._choose_limit(given.timeout)
        wall = self._build_wall(given)
        with follow_output(self._host, self.name, given.command) as on_output:
            outcome = await run_command(
                given.command,
                cwd=get_working_dir(self._host, self._config.working_dir),
                timeout=limit,
                env=self._build_environment(),
                output_limit=self._config.output_limit,
                wall=wall,
                contained=True,
                on_output=on_output,
            )
        return _build_result(outcome, limit, wall)

    def judge(self, event: str, data: dict[str, Any]) -> HookResult:
        """Ask a person about what a call needs beyond the sandbox, and nobody about other calls."""
        given = self._read_own_call(data)
        if given is None or given.needs is None or self._wall is None:
            return HookResult(action="continue")
        base = get_working_dir(self._host, self._config.working_dir)
        try:
            grants = find_grants(given.needs, self._wall, base)
        except Refused as refusal:
            return HookResult(action="deny", reason=str(refusal))
        self._book.write_down(given, grants)
        if not grants:
            return HookResult(action="continue")
        return ask_for(grants, given.command, given.needs.reason, self._wall)

    def _read_own_call(self, data: dict[str, Any]) -> BashInput | None:
        """None for a call of another tool or session, and for an input that will be refused."""
        if data.get("tool_name") != self.name or not is_own_event(self._host, data):
            return None
        try:
            return BashInput.model_validate(data.get("tool_input"))
        except ValidationError:
            return None

    def _build_wall(self, given: BashInput) -> Wall | None:
        if self._wall is None:
            return None
        if given.needs is None:
            return self._wall.build()
        grants = self._book.look_up(given)
        return self._wall.build(
            write=grants.write,
            network=grants.network or None,
            unix_sockets=grants.unix_sockets or None,
        )

    def _choose_limit(self, asked: float | None) -> float:
        if asked is None:
            return min(self._config.timeout, self._config.max_timeout)
        if asked > self._config.max_timeout:
            raise Refused(
                f"timeout {asked:g} is too long; it is in seconds and at most "
                f"{self._config.max_timeout:g}"
            )
        return asked

    def _build_environment(self) -> dict[str, str]:
        """Without the keys of the agent itself, which its commands have no use for."""
        hidden = (*_NEVER_SHOWN, *self._config.hide_env)
        if uses_postgres():
            hidden = (*hidden, *_OPEN_POSTGRES)
        return {
            name: value
            for name, value in os.environ.items()
            if not any(fnmatch.fnmatchcase(name, one) for one in hidden)
        }


def _build_result(outcome: CommandOutcome, limit: float, wall: Wall | None) -> ToolResult:
    printed = [outcome.stdout.rstrip("\n")]
    if outcome.stderr.strip():
        printed.append("[stderr]\n" + outcome.stderr.rstrip("\n"))
    problem = _describe_problem(outcome, limit)
    if problem is not None:
        printed.append(f"[{problem}]")
    printed += [f"[{note}]" for note in outcome.notes]
    if problem is not None and wall is not None and _is_refusal(outcome):
        printed.append(f"[{_explain_wall(wall)}]")
    text = "\n".join(part for part in printed if part)
    return ToolResult(success=problem is None, output=text or "(no output)", error=problem)


def _is_refusal(outcome: CommandOutcome) -> bool:
    return _REFUSALS.search(f"{outcome.stderr}\n{outcome.stdout}") is not None


def _explain_wall(wall: Wall) -> str:
    """How to get on, for an agent whose command may have run against the wall."""
    where = ", ".join(map(str, wall.writable))
    network = "" if wall.network == "allow" else " and has no network"
    sockets = "" if wall.unix_sockets else " and no Unix sockets"
    return (
        f"The sandbox may be the reason: the command writes only below {where} and in $TMPDIR"
        f"{network}{sockets}. If it must have more, call Bash again with `needs` (write, network, "
        "unix_sockets) and a `reason`; a person is asked"
    )


def _describe_problem(outcome: CommandOutcome, limit: float) -> str | None:
    if outcome.timed_out:
        return f"ended after the time limit of {limit:g} seconds"
    if outcome.returncode < 0:
        return f"ended by signal {-outcome.returncode}"
    return f"exit code {outcome.returncode}" if outcome.returncode else None


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup:
    """Mount Bash, and begin to ask about what its calls need."""
    options = await parse_known(coordinator, BashConfig, config, NAME)
    tool = Bash(coordinator, options)
    remove = register_guards(
        coordinator, NAME, [(TOOL_PRE, tool.judge)], priority=_PRIORITY, timeout=_GUARD_TIMEOUT
    )
    unmount = await mount_tools(coordinator, [tool], None, NAME)

    async def cleanup() -> None:
        await unmount()
        remove()

    return cleanup
