"""What becomes of errors."""

from __future__ import annotations

import httpx2
import pytest

from amplifier_hooks.approvals import errors
from amplifier_hooks.server.encoding import ERRORS, describe_error
from tests.hooks.server.world import World


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.BadRequest("x"), 400, "bad_request"),
        (errors.NotAllowed("x"), 403, "not_allowed"),
        (errors.NotFound("x"), 404, "not_found"),
        (errors.Conflict("x"), 409, "conflict"),
        (errors.TooMany("x"), 429, "too_many"),
        (errors.StoreUnavailable("x"), 503, "unavailable"),
        (errors.StoreError("x"), 503, "unavailable"),
    ],
)
def test_each_error_of_the_store_has_a_status(error: errors.StoreError, status: int, code: str):
    """With a code for programs and the store's sentence for people."""
    found, body = describe_error(error)
    assert (found, body) == (status, {"error": {"code": code, "message": "x"}})
    assert found in ERRORS


async def test_a_conflict_says_how_it_stands(world: World):
    """With the approval, where there is one."""
    asked = await world.ask()
    assert describe_error(errors.Conflict("x", asked))[1]["approval"] is asked


async def test_a_wrong_field_is_named_without_being_repeated(world: World):
    """A secret in the wrong field does not come back."""
    async with await world.person() as person:
        body = {"name": "x", "scopes": ["read"], "password": "hunter2"}
        answer = await person.post("/tokens", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "invalid"
    assert "password" in answer.json()["error"]["message"]
    assert "hunter2" not in answer.text


async def test_a_failure_of_ours_is_500_with_a_sentence_and_nothing_else(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    """The log has the traceback; the client has not."""

    async def fail(*_: object, **__: object):
        raise RuntimeError("secret detail")

    monkeypatch.setattr(world.store.rules, "list", fail)
    token = await world.token("ann", "read")
    transport = httpx2.ASGITransport(app=world.app, raise_app_exceptions=False)
    base = f"{world.address}/api/v1"
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(transport=transport, base_url=base, headers=headers) as client:
        answer = await client.get("/rules")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "failure"
    assert "secret detail" not in answer.text
    assert "secret detail" in caplog.text
