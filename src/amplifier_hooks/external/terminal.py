"""Asking the person at the terminal that the program was started from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_hooks.external.handover import say_no
from amplifier_hooks.external.loops import Home, start_own_loop
from amplifier_hooks.modules.installation import name_install_command

if TYPE_CHECKING:
    from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval


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
