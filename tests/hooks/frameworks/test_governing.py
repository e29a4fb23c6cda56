"""Asking the person at the terminal that the program was started from."""

from __future__ import annotations

import sys

import pytest

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.errors import ApprovalError
from amplifier_hooks.frameworks import governing
from amplifier_hooks.frameworks.governing import TerminalQuestions

QUESTION = ApprovalQuestion("May it?", ("Allow", "Deny"), 5, "deny", hook="policy")


@pytest.fixture(autouse=True)
def _fresh() -> None:
    governing._open.cache_clear()


async def test_without_a_terminal_nobody_is_asked() -> None:
    """The tests run without one."""
    with pytest.raises(ApprovalError, match="terminal"):
        await TerminalQuestions().decide(QUESTION)


async def test_without_the_packages_the_reason_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A program may have the adapter without the command line."""
    name = "amplifier_hooks.cli.approval.terminal_approval"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ApprovalError, match=r"install it with: .*\[cli\]"):
        await TerminalQuestions().decide(QUESTION)
