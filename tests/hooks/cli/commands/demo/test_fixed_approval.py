"""Answers for who passed --yes or --no."""

from __future__ import annotations

import pytest

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.commands.demo.session import Answer, FixedApproval


@pytest.mark.parametrize(
    ("answer", "options", "option"),
    [
        ("yes", ["Deny", "Allow once", "Allow always"], "Allow once"),
        ("no", ["Allow once", "Deny"], "Deny"),
        ("no", ["Yes", "Never"], "Never"),
        ("yes", ["Deny", "Reject"], "Deny"),
        ("no", ["Allow"], "Deny"),
    ],
)
async def test_the_first_option_that_means_it_is_chosen(
    answer: Answer, options: list[str], option: str
) -> None:
    """By what the kernel says it means; where none does, nothing is allowed."""
    system = FixedApproval(answer)
    assert await system.request_approval("?", options, 5, "deny") == option
    decided = await system.decide(ApprovalQuestion("?", tuple(options), 5, "deny", hook="h"))
    assert decided.option == option


async def test_the_flag_stands_for_the_person() -> None:
    """So that the trail does not name somebody who was not there."""
    question = ApprovalQuestion("?", ("Allow", "Deny"), 5, "deny", hook="h")
    assert (await FixedApproval("yes").decide(question)).by == "--yes"
