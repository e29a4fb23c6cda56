"""An approval as a person reads it."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.models import Approval, StandingRule
from amplifier_hooks.cli.commands.approvals.view import (
    describe_state,
    format_seconds,
    make_row,
    make_rule_row,
    show_approval,
)
from amplifier_hooks.cli.text.fragments import join_text
from tests.support.stores import make_request

PENDING = Approval(
    id="ab" * 16,
    nonce="n",
    status="pending",
    request=make_request(),
    created=0,
    deadline=60,
    updated=0,
    seconds_left=60,
)
RULE = StandingRule(
    id="cd" * 16,
    author="ann",
    created=0,
    expires=100,
    hook="h",
    event="tool:pre",
    tool_name="Write",
    prompt="?",
    scope="exact",
    digest="d",
    working_dir="/w",
    machine="m",
    approval_id="a",
    uses=2,
)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (120, "2 min"), (7200, "2 h"), (2e5, "2 d")]
)
def test_a_time_span_has_one_unit(seconds: float, text: str) -> None:
    """Which is what a person needs to know."""
    assert format_seconds(seconds) == text


def test_a_row_has_the_start_of_the_id_the_state_and_what_it_is_about() -> None:
    """Foreign text cannot act on the terminal."""
    odd = PENDING.model_copy(
        update={
            "request": PENDING.request.model_copy(
                update={"prompt": "a\x1b[2K\nb", "machine": "\x07"}
            )
        }
    )
    row = make_row(odd, "abababab")
    assert row[:2] == ("abababab", "waits, 1 min left")
    assert not any("\x1b" in cell or "\x07" in cell or "\n" in cell for cell in row)
    assert row[-1] == "Write  notes/a.txt"


def test_a_state_names_who_decided_and_what() -> None:
    """Time and the agent decide nothing."""
    decided = PENDING.model_copy(update={"status": "denied", "option": "Deny", "decided_by": "ann"})
    assert describe_state(decided) == "denied, 'Deny' by ann"
    assert describe_state(PENDING.model_copy(update={"status": "expired"})) == "expired"


def test_the_input_is_shown_in_full() -> None:
    """A command as it is written, and all other fields as JSON."""
    long = "x" * 5000
    request = PENDING.request.model_copy(
        update={"tool_input": {"command": f"echo {long}\nls", "timeout": 5}}
    )
    text = "\n".join(
        join_text(line) for line in show_approval(PENDING.model_copy(update={"request": request}))
    )
    assert f"echo {long}\nls" in text
    assert '"timeout": 5' in text


def test_no_line_of_a_reason_looks_like_another_fact() -> None:
    """What an agent or a server has written stands under its own label."""
    request = PENDING.request.model_copy(update={"reason": "changed:\ndecision  Allow by ann"})
    text = "\n".join(
        join_text(line) for line in show_approval(PENDING.model_copy(update={"request": request}))
    )
    assert "reason    changed:\n          decision  Allow by ann" in text
    assert "\ndecision" not in text


def test_a_rule_says_how_long_and_how_often_it_still_holds() -> None:
    """And who took it back."""
    assert make_rule_row(RULE, "cdcdcdcd", 40)[:4] == ("cdcdcdcd", "ann", "1 min left", "used 2×")
    assert make_rule_row(RULE.model_copy(update={"uses_left": 3}), "cd", 200)[2:4] == (
        "over",
        "used 2×, 3 left",
    )
    assert (
        make_rule_row(RULE.model_copy(update={"revoked_by": "bob"}), "cd", 40)[2]
        == "revoked by bob"
    )
