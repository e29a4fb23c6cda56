"""What the server logs: one line each, with the request's id, and never a credential."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator

import pytest

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.server.logs import set_up_logging
from tests.hooks.server.live_client import join_live
from tests.hooks.server.world import World, run_server

Configure = Callable[..., io.StringIO]


@pytest.fixture
def configure() -> Iterator[Configure]:
    """Sets logging up as the command does, into a text; and back."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    names = ("amplifier_hooks", "amplifier_audit", "amplifier_core", "amplifier_hooks")
    levels = {name: logging.getLogger(name).level for name in names}
    root.handlers = []

    def set_up(level: str = "warning", form: str = "text") -> io.StringIO:
        stream = io.StringIO()
        set_up_logging(level, form, stream)
        return stream

    yield set_up
    root.handlers = handlers
    root.setLevel(level)
    for name, number in levels.items():
        logging.getLogger(name).setLevel(number)


async def test_a_failure_has_one_line_with_the_id_that_the_client_was_given(
    world: World, configure: Configure, monkeypatch: pytest.MonkeyPatch
):
    """The traceback is in that line; the answer has the headers of every other one."""

    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr(world.store.rules, "list", fail)
    log = configure()
    async with await world.person() as person:
        answer = await person.get("/rules")
    id = answer.headers["x-request-id"]
    assert (answer.status_code, answer.json()["error"]["request_id"]) == (500, id)
    assert answer.headers["x-frame-options"] == "DENY"
    failed, summary = log.getvalue().splitlines()
    assert f"[{id}]: GET /api/v1/rules failed" in failed
    assert "RuntimeError: first\\nsecond" in failed
    assert f"[{id}]: GET /api/v1/rules answered 500" in summary
    assert "caller ann" in summary


async def test_refusals_are_information_and_the_rest_is_for_who_debugs(
    world: World, configure: Configure
):
    """By default nothing is logged of a server that works."""
    async with await world.person() as person, world.client() as stranger:
        for level, wanted in (
            ("warning", []),
            ("info", ["401 credential", "422 invalid", "404 not_found"]),
            ("debug", ["200 ", "401 credential", "422 invalid", "404 not_found"]),
        ):
            log = configure(level, "json")
            await person.get("/approvals")
            await stranger.get("/approvals")
            await person.get("/approvals?limit=0")
            await person.get("/approvals/none")
            lines = [json.loads(line) for line in log.getvalue().splitlines()]
            assert [f"{one['status']} {one['problem']}" for one in lines if "status" in one] == (
                wanted
            )


@pytest.mark.parametrize("form", ["text", "json"])
async def test_nothing_that_a_client_sends_begins_a_line(
    world: World, configure: Configure, form: str
):
    """Paths, names of hosts, ids of requests: whatever is in them, one request is one line."""
    log = configure("info", form)
    hostile = "%0A2026-01-01T00:00:00Z%20ERROR%20forged%0D%1B[2J%E2%80%A8%E2%80%AE"
    async with await world.person() as person:
        await person.get(f"/approvals/{hostile}")
        await person.get(f"/approvals/{'x' * 5000}")
        await person.get("/nothing", headers={"X-Request-Id": "a b\tc"})
    lines = log.getvalue().splitlines()
    assert len(lines) == 3
    assert all(line.isprintable() and len(line) < 1000 for line in lines)
    assert not any(line.startswith("2026-01-01T00:00:00Z") for line in lines)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("3f2a-77.b_0", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("a b", False),
        ("a,b", False),
        ("<script>", False),
        ("ä", False),
    ],
)
async def test_an_id_of_the_client_is_kept_if_it_is_a_short_name(
    world: World, given: str, kept: bool
):
    """Anything else gets one of ours; each answer has it, refusals and pages too."""
    async with world.client() as client:
        headers = [(b"X-Request-Id", given.encode("latin-1"))]
        for path in ("/health", "/approvals", f"{world.address}/", f"{world.address}/nothing.js"):
            found = (await client.get(path, headers=headers)).headers["x-request-id"]
            assert (found == given) is kept, path
            assert found.isascii()


async def test_no_credential_is_ever_logged(store: Store, configure: Configure):
    """Not at the most talkative level, not in a path, not by libraries, not of WebSockets."""
    log = configure("debug")
    async with run_server(store) as world:
        token = await world.token("ann", "read", "decide")
        async with world.client(Authorization=f"Bearer {token}") as person:
            await person.get("/approvals")
            await person.get(f"/approvals/{token}?token={token}")
            await person.post("/login", json={"code": "secret-code-1"})
        async with await world.browser() as browser:
            await browser.get("/me")
            cookie = browser.cookies["amplifier_login"]
            csrf = browser.headers["x-amplifier-csrf"]
        async with join_live(world) as client:
            await client.hear("pending")
    written = log.getvalue()
    assert "/api/v1/approvals/amp_[REDACTED]" in written
    for secret in (token, token.removeprefix("amp_"), "secret-code-1", cookie, csrf):
        assert secret not in written
