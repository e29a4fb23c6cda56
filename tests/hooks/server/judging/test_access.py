"""Who may come in, and what is looked at: the same doors as of every other server of ours."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.http_guard import guard
from amplifier_hooks.server.settings import JudgeSettings
from tests.hooks.server.judging.scene import TOKEN, Scene, open_session, run_judge, run_serve
from tests.hooks.server.judging.switches import heard

EVENT = {"event": "call", "id": "c1", "tool": "Plain", "input": {}}
ROUTES = [
    ("GET", "", None),
    ("POST", "/events", EVENT),
    ("GET", "/events/c0", None),
    ("POST", "/renewal", {}),
    ("POST", "/end", {}),
]


def get_code(response: httpx2.Response) -> tuple[int, str]:
    """The status and the code of an error."""
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN}x", TOKEN[:-1]])
async def test_without_the_token_nothing_is_judged(scene: Scene, token: str) -> None:
    """Neither opened, nor looked at."""
    async with scene.client() as client:
        program = await open_session(client)
    async with scene.client(token) as stranger:
        opened = await stranger.post("/sessions", json={"key": "k", "program": "p"})
        assert get_code(opened) == (401, "credential")
        for method, path, body in ROUTES:
            response = await stranger.request(method, f"{program.path}{path}", json=body)
            assert get_code(response) == (401, "credential")
    assert heard["start"] == 1
    assert heard["c1"] == 0


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
async def test_a_session_of_another_token_is_not_there(
    folder: Path, store: Store, method: str, path: str, body: Any
) -> None:
    """As if there were none, whatever is asked of it, also after its end."""
    serving = run_serve(JudgeSettings(folder=folder), store)
    async with serving as scene, scene.client() as mine, scene.client(scene.other_token) as other:
        program = await open_session(mine)
        await program.call("c0")
        for _ in range(2):
            response = await other.request(method, f"{program.path}{path}", json=body)
            assert get_code(response) == (404, "no_session")
            await program.end()
    assert heard["c1"] == 0


@pytest.mark.parametrize("scopes", [["read"], ["agent"], ["run", "decide"], ["admin"]])
async def test_a_token_needs_the_scope(folder: Path, store: Store, scopes: list[str]) -> None:
    """403 for every other one."""
    async with run_serve(JudgeSettings(folder=folder), store) as scene:
        token, _ = await store.access.add_token("somebody", scopes)
        async with scene.client(token) as client:
            refused = await client.post("/sessions", json={"key": "k", "program": "p"})
    assert get_code(refused) == (403, "not_allowed")


async def test_a_program_never_decides(folder: Path, store: Store) -> None:
    """Whoever is judged could allow itself what it asks for."""
    with pytest.raises(Exception, match="make two tokens"):
        await store.access.add_token("both", ["judge", "decide"])
    async with run_serve(JudgeSettings(folder=folder), store) as scene, scene.client() as client:
        program = await open_session(client)
        await program.call("c1", "Ask")
        asked = await scene.wait_for_question(program.id)
        decision = {"option": 1, "nonce": asked.nonce, "key": "k"}
        address = f"{scene.address}/api/v1/approvals/{asked.id}/decision"
        refused = await client.post(address, json=decision)
    assert get_code(refused) == (403, "not_allowed")


async def test_the_judge_has_no_other_routes(judge: Scene) -> None:
    """Nothing is decided, listed or shown there."""
    async with judge.client() as client:
        for path in ("/api/v1/approvals", "/api/v1/tokens", "/", "/api/v1/sessions", "/metrics"):
            assert (await client.get(f"{judge.address}{path}")).status_code == 404, path
        health = await client.get(f"{judge.address}/api/v1/health", headers={"Authorization": ""})
        assert health.json() == {"status": "ok"}


async def test_a_whole_conversation_fits_and_more_is_refused(
    judge: Scene, client: httpx2.AsyncClient
) -> None:
    """16 MiB; what is larger is not read."""
    program = await open_session(client)
    allowed = await program.call("c1", input={"content": "x" * (15 * 1024 * 1024)})
    assert allowed["decision"] == "allow"
    reader, writer = await send_head(judge, program.path, 16 * 1024 * 1024 + 1)
    assert (await reader.readline()).startswith(b"HTTP/1.1 413")
    assert b'"too_large"' in await reader.read()
    writer.close()


async def send_head(
    scene: Scene, path: str, length: int, body: str = ""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The head of an event with a body of that length, and what there is of it."""
    host = scene.address.removeprefix("http://")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    head = (
        f"POST /api/v1/judge{path}/events HTTP/1.1\r\nHost: {host}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n{body}"
    )
    writer.write(head.encode())
    return reader, writer


@pytest.mark.parametrize(
    ("content", "kind", "code"),
    [
        (b"{", "application/json", (400, "json")),
        (b'{"event": "call", "event": "call"}', "application/json", (400, "json")),
        (b'{"id": NaN}', "application/json", (400, "json")),
        (b"event=call", "application/x-www-form-urlencoded", (415, "content_type")),
        (b"[]", "application/json", (422, "invalid")),
        (b"", "application/json", (422, "invalid")),
        (b'{"event": "dance", "id": "c1"}', "application/json", (422, "invalid")),
        (b'{"id": "c1"}', "application/json", (422, "invalid")),
    ],
)
async def test_a_body_that_is_no_event_is_refused(
    client: httpx2.AsyncClient, content: bytes, kind: str, code: tuple[int, str]
) -> None:
    """With what is wrong."""
    program = await open_session(client)
    headers = {"Content-Type": kind}
    refused = await client.post(f"{program.path}/events", content=content, headers=headers)
    assert get_code(refused) == code


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({**EVENT, "id": ""}, "id"),
        ({**EVENT, "id": "x" * 201}, "id"),
        ({**EVENT, "id": "a\0"}, "id"),
        ({**EVENT, "id": 1}, "id"),
        ({**EVENT, "wait": 61}, "wait"),
        ({**EVENT, "wait": -1}, "wait"),
        ({**EVENT, "tool": ""}, "tool"),
        ({**EVENT, "input": "ls"}, "input"),
        ({**EVENT, "inputs": {}}, "inputs"),
        ({"event": "result", "id": "r", "call": "c"}, "output, error and not_run"),
        ({"event": "result", "id": "r", "call": "c", "output": 1, "not_run": "x"}, "not_run"),
        ({"event": "result", "id": "r", "call": "c", "error": {"type": "x"}}, "error.message"),
        ({"event": "prompt", "id": "p"}, "text"),
        ({"event": "reply", "id": "p", "text": "", "calls": [{"id": "1"}]}, "calls.0.name"),
        ({"event": "request", "id": "p", "messages": ["hi"]}, "messages.0"),
    ],
)
async def test_a_field_that_is_wrong_is_named(
    client: httpx2.AsyncClient, body: dict[str, Any], field: str
) -> None:
    """And nothing is judged."""
    program = await open_session(client, requests=True)
    refused = await program.post(**body)
    assert get_code(refused) == (422, "invalid")
    assert field in refused.json()["error"]["message"]
    assert heard["c1"] == 0


async def test_a_parameter_that_is_misspelled_is_named(client: httpx2.AsyncClient) -> None:
    """`?wiat=30` would not wait."""
    program = await open_session(client)
    await program.call("c1")
    refused = await client.get(f"{program.path}/events/c1", params={"wiat": 30})
    assert "did you mean 'wait'" in refused.json()["error"]["message"]
    too_long = await client.get(f"{program.path}/events/c1", params={"wait": 61})
    assert get_code(too_long) == (422, "invalid")


async def test_a_slow_client_is_not_waited_for(
    folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others go on; the one is told that its body did not come."""
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.2)
    async with run_judge(JudgeSettings(folder=folder), store) as scene, scene.client() as client:
        program = await open_session(client)
        reader, writer = await send_head(scene, program.path, 100, '{"event": "call"')
        assert (await program.call("c1"))["decision"] == "allow"
        assert (await reader.readline()).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_halves_of_surrogate_pairs_are_judged_as_they_are(
    client: httpx2.AsyncClient,
) -> None:
    """Models write them; they come back as they were sent."""
    program = await open_session(client)
    headers = {"Content-Type": "application/json"}
    for event in (
        {"event": "prompt", "id": "p1", "text": "a\ud800"},
        {**EVENT, "input": {"x": "\ud800"}},
        {"event": "result", "id": "r1", "call": "c1", "output": "\udfff"},
    ):
        content = json.dumps(event).encode()
        answer = await client.post(f"{program.path}/events", content=content, headers=headers)
        assert answer.json()["decision"] == "allow"
        assert b"\\ud" in answer.content
    await program.end()
