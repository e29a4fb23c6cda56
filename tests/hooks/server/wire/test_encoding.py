"""Values as JSON."""

from __future__ import annotations

import json

import pytest

from amplifier_hooks.approvals.models import Approval, Identity, Status
from amplifier_hooks.server.encoding import answer, describe_approval, encode, hide_nonce
from tests.hooks.server.world import make_request


def make(status: Status = "pending") -> Approval:
    return Approval(
        id="id",
        nonce="nonce",
        status=status,
        request=make_request(),
        created=1.0,
        deadline=2.0,
        updated=1.0,
        seconds_left=1.0,
    )


def test_values_of_any_kind_become_objects_and_lists():
    """Sets are sorted, so that the same value is the same text."""
    identity = Identity("ann", frozenset({"read", "decide"}))
    assert json.loads(encode({"who": identity, "list": (1, None)})) == {
        "who": {"name": "ann", "scopes": ["decide", "read"]},
        "list": [1, None],
    }


def test_an_approval_has_its_scopes_while_it_is_pending():
    """What a person is about to grant is shown in words before the click."""
    assert describe_approval(make())["scopes"][0].id == "exact"
    assert "scopes" not in describe_approval(make("denied"))
    nested = json.loads(encode({"approvals": [make()]}))
    assert nested["approvals"][0]["request"]["options"][1]["label"] == "Allow once"


@pytest.mark.parametrize("text", ["plain", "ä🐍", "\ud800", "ä\ud800\0\u2028"])
def test_every_text_comes_back_as_it_was(text: str):
    """Also half of a surrogate pair, which UTF-8 cannot hold."""
    encoded = encode({"text": text})
    assert json.loads(encoded.encode()) == {"text": text}


def test_what_is_not_json_is_an_error_here_and_not_at_the_client():
    """NaN would end the page's parser."""
    with pytest.raises(ValueError, match="JSON"):
        encode(float("nan"))


def test_an_answer_is_json_with_its_status():
    """201 for what was made."""
    made = answer({"a": 1}, 201)
    assert (made.status_code, made.body, made.media_type) == (201, b'{"a":1}', "application/json")


def test_the_nonce_can_be_hidden():
    """Nothing else changes."""
    assert hide_nonce(make()).nonce == ""
    assert hide_nonce(make()).request == make().request
