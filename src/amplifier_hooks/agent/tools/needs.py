"""What a command needs beyond its sandbox: a person is asked in words, and it is granted once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.models import HookResult
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.guards.policy.paths import resolve
from amplifier_hooks.guards.policy.walls import WallBuilder
from amplifier_hooks.modules.registration import list_lines, shorten

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
