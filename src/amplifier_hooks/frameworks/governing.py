"""The hooks of an adapter: from a bundle, a registry, or a session that was made by hand.

Without an approval system of the program's own, people are asked at the terminal.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_core.approval import AnyApprovalSystem, ApprovalAnswer, ApprovalQuestion
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.display import DisplaySystem
from amplifier_core.hooks import HookRegistry
from amplifier_core.session import AmplifierSession
from amplifier_core.trail import AuditSink
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.external.coverage_gaps import Ungoverned, check_ungoverned
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.handover import say_no
from amplifier_hooks.external.loops import Home, start_own_loop
from amplifier_hooks.external.opening import (
    BundleSource,
    CoordinatorSource,
    RegistrySource,
    Settings,
)
from amplifier_hooks.modules.installation import name_install_command

if TYPE_CHECKING:
    from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval

Governable = Governor | str | Path | Bundle | HookRegistry | SessionCoordinator | AmplifierSession
"""What an adapter takes; `govern` makes a Governor of it."""


def govern(
    source: Governable | None = None,
    *,
    approval: AnyApprovalSystem | None = None,
    display: DisplaySystem | None = None,
    audit: AuditSink | None = None,
    folder: str | Path | None = None,
    ungoverned: Ungoverned | None = None,
) -> Governor:
    """What an adapter takes: the hooks of a bundle, of a registry, or of a session made by hand.

    A bundle is read now, once. `approval`, `display` and `audit` are for runs of a bundle or a
    registry; without `approval`, people are asked as the bundle says, or at the terminal. `folder`
    is where the agents work. `ungoverned` is what happens to agents without hooks that a tool
    starts, instead of what the bundle says: "warn" names them, "deny" refuses them.
    """
    if ungoverned is not None and isinstance(
        source, Governor | SessionCoordinator | AmplifierSession
    ):
        kind = type(source).__name__
        raise ValueError(
            f"ungoverned={ungoverned!r} is for runs of a bundle or a registry; a {kind} has been "
            "made already: say it where it is made (session.ungoverned)"
        )
    if isinstance(source, Governor):
        return source
    where = None if folder is None else Path(folder)
    chosen = None if ungoverned is None else check_ungoverned(ungoverned)
    settings = Settings(approval or TerminalQuestions(), display, audit, where, chosen)
    if isinstance(source, AmplifierSession):
        return Governor(CoordinatorSource(source.coordinator))
    if isinstance(source, SessionCoordinator):
        return Governor(CoordinatorSource(source))
    if isinstance(source, HookRegistry):
        return Governor(RegistrySource(source, settings))
    if isinstance(source, Bundle):
        return Governor(BundleSource(source, settings))
    if source is None or isinstance(source, str | Path):
        return Governor(BundleSource.load(source, settings))
    kind = type(source).__name__
    raise TypeError(
        "Agents are governed by a bundle (its path, or a Bundle), a HookRegistry, a coordinator "
        f"or a session; got {kind}"
    )


class TerminalQuestions:
    """One question at a time on the terminal, whichever run it comes from."""

    async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """Ask; a program without a terminal, or without what draws the question, has nobody."""
        try:
            terminal = _open()
        except ImportError as error:
            return say_no(
                question,
                f"nobody can be asked at the terminal without the package {error.name!r}: name "
                "another way under approval.via in the bundle, or install it with: "
                f"{name_install_command('cli')}",
            )
        return await Home(start_own_loop()).run(terminal.decide(question))


@cache
def _open() -> TerminalApproval:
    # What draws the question is imported with the first one.
    from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval

    return TerminalApproval()
