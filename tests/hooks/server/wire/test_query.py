"""Parameters that nobody reads, and paths that are not there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hooks.server.world import World


async def test_an_unknown_parameter_is_refused_with_the_nearest_one(world: World):
    """A filter with a slip would list everything."""
    await world.ask()
    async with await world.person() as person:
        slip = await person.get("/approvals?stattus=pending")
        far = await person.get("/approvals?zzz=1")
        none = await person.get("/tokens?limit=5")
        renamed = await person.get("/sessions/none?while=idle")
    assert (slip.status_code, slip.json()["error"]["code"]) == (422, "invalid")
    assert slip.json()["error"]["message"] == "'stattus' is no parameter; did you mean 'status'?"
    assert "there are: after, hook, limit, machine" in far.json()["error"]["message"]
    assert (none.status_code, "there are none here" in none.text) == (422, True)
    assert renamed.status_code == 404


async def test_every_route_refuses_a_parameter_that_it_does_not_have(world: World):
    """Also those that come later; what tells whether the server runs takes any address."""
    routes = [
        (method.upper(), path.removeprefix("/api/v1"))
        for path, methods in world.app.openapi()["paths"].items()
        for method in methods
    ]
    scopes = ("read", "decide", "run", "admin")
    async with await world.person("ann", *scopes) as person, await world.agent() as agent:
        for method, path in routes:
            client = agent if path.startswith(("/agent", "/witness")) else person
            concrete = path.replace("{id}", "x").replace("{fence}", "1").replace("{log}", "x")
            body: dict[str, Any] = {"json": {}} if method == "POST" else {}
            answer = await client.request(method, f"{concrete}?no_such=1", **body)
            wanted = 200 if path in ("/health", "/ready") else 422
            assert answer.status_code == wanted, (method, path, answer.text)
    assert len(routes) > 30


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/nothing", 404),
        ("POST", "/approvals/x/nothing", 404),
        ("POST", "/judge", 404),
        ("GET", "/nothing", 404),
        ("POST", "/approvals", 405),
        ("GET", "/approvals/x/decision", 405),
    ],
)
async def test_what_is_not_there_is_404_and_what_is_there_otherwise_405(
    world: World, method: str, path: str, status: int
):
    """With the methods that there are."""
    async with await world.person() as person:
        answer = await person.request(method, path)
    assert answer.status_code == status
    if status == 405:
        assert answer.headers["allow"] == ("GET" if method == "POST" else "POST")
