"""The wall for programs that tools and hooks start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Host
from amplifier_hooks.sandbox.wall import Wall


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
    """The session's, if it has one: a coordinator of the ecosystem has none.

    ModuleLoadError if the plan insists on a wall and nobody in the session builds one.
    """
    builder: WallBuilder | None = host.get_capability("session.wall")
    if builder is None and _insists_on_wall(host):
        raise ModuleLoadError(
            "The mount plan has a sandbox that this session does not build, so no program is "
            "started: open the plan with open_session(bundle_from_plan(plan))"
        )
    return builder


def _insists_on_wall(host: Host) -> bool:
    plan: Any = getattr(host, "config", None)
    section = plan.get("sandbox") if isinstance(plan, Mapping) else None
    if not isinstance(section, Mapping):
        return section is not None and section not in (False, "off", "auto")
    return section.get("mode") == "required" or section.get("network") in ("ask", "deny")


def build_wall(host: Host) -> Wall | None:
    """The wall of a program that gets nothing beyond what the bundle allows."""
    builder = get_wall_builder(host)
    return None if builder is None else builder.build()
