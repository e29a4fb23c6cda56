"""A question that an agent puts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.server.bodies import ApprovalRequestBody
from tests.hooks.server.world import make_request


def parse(**changes: Any) -> ApprovalRequestBody:
    return ApprovalRequestBody.model_validate_json(
        json.dumps({**json.loads(to_json(make_request())), **changes})
    )


def test_a_request_arrives_as_it_was_but_for_who_asks():
    """The token says who asks, whatever the body says."""
    request = parse(requester="root").asked_by("bot")
    assert request.requester == "bot"
    sent = make_request(requester="bot", key=request.key)
    assert to_json(request) == to_json(sent)


def test_a_key_is_the_agents_own():
    """Two agents never meet at a key; one agent always finds its own."""
    assert parse().asked_by("bot").key == parse().asked_by("bot").key
    assert parse().asked_by("bot").key != parse().asked_by("other").key
    assert parse(key="a").asked_by("bot").key != parse(key="b").asked_by("bot").key
    assert len(parse(key="k" * 1000).asked_by("b" * 200).key) <= 400


@pytest.mark.parametrize(
    "changes",
    [
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": 10**12},
        {"timeout": "60"},
        {"options": []},
        {"options": [{"id": number, "label": "x", "allows": False} for number in range(17)]},
        {"options": [{"id": 1, "label": "x" * 201, "allows": True}]},
        {"options": [{"id": 1, "label": "x", "allows": 1}]},
        {"prompt": "x" * (64 * 1024 + 1)},
        {"default": "maybe"},
        {"requirement": {"persons": 0}},
        {"session_id": ""},
        {"session_id": "a\0"},
        {"nonce": "n"},
    ],
)
def test_what_cannot_be_asked_is_refused(changes: dict[str, Any]):
    """Limits: prompt length, options count and length, timeout range."""
    with pytest.raises(ValidationError):
        parse(**changes)
