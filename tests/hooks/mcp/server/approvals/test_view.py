"""An approval as a caller sees it."""

from __future__ import annotations

import json
from dataclasses import replace

from amplifier_hooks.approvals.models import Approval, Vote
from amplifier_hooks.mcp.server.approvals.view import show_approval
from amplifier_hooks.mcp.server.bounds import BRIEF, FULL
from amplifier_hooks.mcp.server.policy.masking import build_presenter
from tests.hooks.mcp.server.world import KEYED, SECRET
from tests.support.stores import make_request

PRESENTER = build_presenter(None)
WAITING = Approval(
    id="a1",
    nonce="n0nce-of-this-question",
    status="pending",
    request=make_request(tool_input={"command": f"send {SECRET}", "password": KEYED}),
    created=1_800_000_000.0,
    deadline=1_800_000_060.0,
    updated=1_800_000_000.0,
    seconds_left=59.5,
    fence=7,
)


def test_nothing_that_helps_to_decide_is_shown() -> None:
    """Not the nonce, not the keys, not the claim; nor what the input keeps secret."""
    shown = show_approval(WAITING, PRESENTER, FULL).model_dump_json()
    for hidden in (WAITING.nonce, WAITING.request.key, SECRET, KEYED, "fence", "nonce", "digest"):
        assert hidden not in shown
    assert WAITING.id in shown


def test_a_question_whose_time_is_over_counts_as_expired() -> None:
    """Nobody may have swept the store, and this server cannot."""
    assert show_approval(WAITING, PRESENTER, BRIEF).seconds_left == 59
    late = show_approval(replace(WAITING, seconds_left=0.0), PRESENTER, BRIEF)
    assert (late.status, late.seconds_left) == ("expired", None)


def test_a_decision_is_shown_with_who_made_it_and_their_words() -> None:
    """And the input that was allowed in place of the one asked about."""
    decided = replace(
        WAITING,
        status="approved",
        option="Allow once",
        decided_by="bob",
        decided_via="web",
        decided_at=1_800_000_030.0,
        comment=f"fine, but not {SECRET}",
        edited_input={"command": "send nothing"},
        votes=(Vote("bob", "web", 1_800_000_030.0, "Allow once"),),
    )
    shown = show_approval(decided, PRESENTER, BRIEF)
    assert shown.decision is not None
    assert (shown.decision.by, shown.decision.option) == ("bob", "Allow once")
    assert shown.decision.comment == "fine, but not [REDACTED:github-token]"
    assert shown.decision.edited_input == {"command": "send nothing"}
    assert shown.decision.at == "2027-01-15T08:00:30+00:00"
    assert shown.allowed_by == ["bob"]


def test_long_inputs_are_cut() -> None:
    """A page holds many of them."""
    long = replace(WAITING, request=make_request(tool_input={"content": "word " * 10_000}))
    assert len(json.dumps(show_approval(long, PRESENTER, BRIEF).model_dump())) < 3_000
