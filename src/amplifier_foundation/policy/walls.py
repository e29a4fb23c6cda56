"""How tools and hooks come by the wall for the programs that they start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from amplifier_core.interfaces import Host
from amplifier_foundation.machine.sandbox.wall import Wall


class Options(Protocol):
    """What a bundle says about its sandbox."""

    @property
    def network(self) -> Literal["allow", "ask", "deny"]:
        """Whether commands may use the network."""


class WallBuilder(Protocol):
    """The capability `session.wall`."""

    roots: tuple[Path, ...]

    @property
    def options(self) -> Options:
        """What the bundle says."""

    @property
    def holds(self) -> bool:
        """Whether commands run behind a wall at all."""

    @property
    def has_network(self) -> bool:
        """Whether commands may use the network without a question."""

    @property
    def has_unix_sockets(self) -> bool:
        """Whether commands may talk to services of this machine without a question."""

    def join(self, user: str) -> None:
        """Take note of a tool that runs its programs behind the wall."""

    def build(
        self,
        *,
        write: Sequence[Path] = (),
        network: bool | None = None,
        unix_sockets: bool | None = None,
    ) -> Wall | None:
        """The wall of one command."""

    def find_hidden(self, path: Path) -> str | None:
        """Why no person can be asked to grant a path."""

    def find_sealed(self, path: Path) -> str | None:
        """Why a person should think twice before granting a path."""


def get_wall_builder(host: Host) -> WallBuilder | None:
    """The session's, if it has one: a coordinator of the ecosystem has none."""
    builder: WallBuilder | None = host.get_capability("session.wall")
    return builder


def build_wall(host: Host) -> Wall | None:
    """The wall of a program that gets nothing beyond what the bundle allows."""
    builder = get_wall_builder(host)
    return None if builder is None else builder.build()
