"""Approvals as values: frozen, and the same after a journey as plain data."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.models import Approval, ApprovalRequest, Choice, Vote
from tests.support.stores import make_request, require


def test_an_approval_survives_the_journey_as_json() -> None:
    """With its request, options, requirement and votes."""
    approval = Approval(
        id="id",
        nonce="nonce",
        status="pending",
        request=make_request(notes=("a", "b"), requirement=require(persons=2, scope="release")),
        created=1.0,
        deadline=61.0,
        updated=2.0,
        seconds_left=59.0,
        votes=(Vote(by="ann", via="web", at=2.0, option="Allow once"),),
        edited_input={"a": [1, {"b": None}]},
    )
    assert Approval.model_validate(json.loads(to_json(approval))) == approval


def test_an_approval_cannot_be_changed() -> None:
    """Only the store changes one."""
    approval = Approval(
        id="id",
        nonce="nonce",
        status="pending",
        request=make_request(),
        created=1.0,
        deadline=61.0,
        updated=2.0,
        seconds_left=59.0,
    )
    with pytest.raises(ValidationError, match="frozen"):
        approval.status = "approved"  # type: ignore[misc]


@pytest.mark.parametrize("option", [True, "1", 1.0, None])
def test_an_option_is_chosen_by_its_number_and_nothing_like_it(option: object) -> None:
    """True is 1 in Python, and a person has chosen neither."""
    with pytest.raises(ValidationError, match="valid integer"):
        Choice(option=option, nonce="n", key="k")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": None},
        {"reason": 7},
        {"options": [{"id": 0, "label": "Deny"}]},
        {"options": [{"id": True, "label": "Deny", "allows": False}]},
        {"default": "maybe"},
        {"requirement": {"persons": True}},
        {"requirement": {"requester_may_approve": "yes"}},
        {"tool_input": ["a"]},
        {"tool_input": {1: "a"}},
        {"timeout": "60"},
    ],
)
def test_a_request_of_other_types_is_none(change: dict[str, object]) -> None:
    """On the agent's side as well as on the server's."""
    asked = make_request()
    request = json.loads(to_json(asked))
    assert ApprovalRequest.model_validate({**request, "novelty": 7}) == asked
    with pytest.raises(ValidationError):
        ApprovalRequest.model_validate({**request, **change})
