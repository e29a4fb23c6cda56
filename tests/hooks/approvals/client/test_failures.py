"""What a server's refusal means."""

from __future__ import annotations

import json

import pytest

from amplifier_hooks.approvals import errors
from amplifier_hooks.approvals.encoding import to_json
from amplifier_hooks.approvals.http_connection import read_failure
from amplifier_hooks.approvals.models import Approval
from tests.hooks.server.world import make_request


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (302, errors.StoreUnavailable),
        (400, errors.BadRequest),
        (401, errors.NotAllowed),
        (403, errors.NotAllowed),
        (404, errors.NotFound),
        (408, errors.StoreUnavailable),
        (409, errors.Conflict),
        (413, errors.BadRequest),
        (422, errors.BadRequest),
        (429, errors.TooMany),
        (500, errors.StoreUnavailable),
        (503, errors.StoreUnavailable),
    ],
)
def test_the_errors_are_the_stores_own(status: int, kind: type[Exception]):
    """Whether the store is here or there makes no difference to who asks."""
    assert type(read_failure("host", status, None)) is kind
    told = read_failure("host", status, {"error": {"message": "why"}})
    assert type(told) is kind
    assert status in (302, 408) or "why" in str(told)


def test_a_conflict_brings_the_approval():
    """How it stands."""
    approval = Approval(
        id="id",
        nonce="",
        status="denied",
        request=make_request(),
        created=1.0,
        deadline=2.0,
        updated=1.0,
        seconds_left=0.0,
    )
    body = {"error": {"message": "late"}, "approval": json.loads(to_json(approval))}
    failure = read_failure("host", 409, body)
    assert isinstance(failure, errors.Conflict)
    assert failure.approval == approval


@pytest.mark.parametrize("body", [[], "x", {"error": "x"}, {"approval": 5}, {"approval": {}}])
def test_whatever_a_server_sends_is_an_error_and_nothing_else(body: object):
    """Another server may stand there."""
    assert isinstance(read_failure("host", 409, body), errors.Conflict)


def test_a_long_story_is_cut():
    """Nobody reads two megabytes."""
    assert len(str(read_failure("h", 400, {"error": {"message": "x" * 10**6}}))) < 3000
