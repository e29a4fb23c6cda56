"""A session is opened once for each key, by a bundle that a person trusts, or not at all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.server.judging import host
from amplifier_hooks.server.settings import JudgeSettings
from tests.hooks.server.judging.scene import (
    HOOKS,
    Scene,
    open_session,
    read_trail,
    run_judge,
    run_serve,
    write_project,
)
from tests.hooks.server.judging.switches import heard
from tests.support.trust import trust_project

DENYING = HOOKS.replace(
    'heard["start"] += 1', 'heard["start"] += 1\n    return HookResult(action="deny", reason="no")'
)
BODY = {"key": "k1", "program": "tests"}


async def post(client: httpx2.AsyncClient, **body: Any) -> httpx2.Response:
    """Ask for a session."""
    return await client.post("/sessions", json={**BODY, **body})


async def test_the_same_key_finds_the_same_session(client: httpx2.AsyncClient) -> None:
    """The same bytes, told to be a repetition; and one session only."""
    first = await post(client)
    again = await post(client)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert heard["start"] == 1
    state = first.json()
    assert state["status"] == "open"
    assert (state["lease"], state["deadline"], state["program"]) == (60.0, 30.0, "tests")


async def test_two_who_ask_at_once_get_the_same_session(client: httpx2.AsyncClient) -> None:
    """The second waits with the first."""
    answers = await asyncio.gather(*(post(client) for _ in range(5)))
    assert {one.content for one in answers} == {answers[0].content}
    assert heard["start"] == 1


async def test_a_key_belongs_to_one_body(client: httpx2.AsyncClient) -> None:
    """Anything else is a mistake in the program."""
    await post(client)
    other = await post(client, lease=10)
    assert (other.status_code, other.json()["error"]["code"]) == (409, "key_reused")


async def test_a_key_belongs_to_one_token(folder: Path, store: Store) -> None:
    """Two programs that make up the same one have two sessions."""
    serving = run_serve(JudgeSettings(folder=folder), store)
    async with serving as scene, scene.client() as one, scene.client(scene.other_token) as two:
        first = await post(one)
        second = await post(two)
    assert first.json()["session"] != second.json()["session"]


async def test_a_start_that_a_hook_refuses_is_refused_once(tmp_path: Path, folder: Path) -> None:
    """A retry gets the same no, and no hook is called again."""
    write_project(folder, DENYING)
    async with _run(folder) as scene, scene.client() as client:
        first = await post(client)
        again = await post(client)
    assert first.status_code == again.status_code == 403
    assert first.json()["error"]["code"] == again.json()["error"]["code"] == "session_denied"
    assert "no" in first.json()["error"]["message"]
    assert heard["start"] == 1


def _run(folder: Path, **more: Any) -> Any:
    store: Any = None
    return run_judge(JudgeSettings(folder=folder, **more), store)


async def test_an_untrusted_bundle_judges_nothing_until_a_person_trusts_it(
    client: httpx2.AsyncClient, folder: Path
) -> None:
    """The message says what would do; then the same key opens a session."""
    (folder / "judging_hooks.py").write_text(HOOKS + "\n# changed\n")
    refused = await post(client)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "untrusted")
    assert "amplifier trust" in refused.json()["error"]["message"]
    assert heard["start"] == 0
    trust_project(folder)
    assert (await post(client)).status_code == 201


async def test_a_session_keeps_the_bundle_that_it_was_opened_with(
    client: httpx2.AsyncClient, folder: Path
) -> None:
    """Whatever becomes of the files meanwhile."""
    program = await open_session(client)
    (folder / "judging_hooks.py").write_text("")
    assert (await program.call("c1", "Deny"))["decision"] == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "hooks: [{module: hooks-that-nobody-has}]",
        "hooks: 3",
        "session: {ungoverned: deny}",
        "hooks: [{module: x, source: ./broken.py}]",
    ],
)
async def test_a_bundle_that_cannot_be_used_opens_nothing(
    folder: Path, text: str, client: httpx2.AsyncClient
) -> None:
    """Nothing could be judged, so nothing is allowed."""
    (folder / "broken.py").write_text("raise RuntimeError")
    (folder / "amplifier.yaml").write_text(f"inherit: false\n{text}\n")
    _try_to_trust(folder)
    refused = await post(client)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "bundle"), refused.text


def _try_to_trust(folder: Path) -> None:
    try:
        trust_project(folder)
    except Exception:  # noqa: BLE001 - what cannot even be read cannot be trusted either
        return


@pytest.mark.parametrize(
    "change",
    [
        {"key": ""},
        {"key": "k" * 201},
        {"key": None},
        {"program": "p" * 61},
        {"program": "a\nb"},
        {"program": "a;b"},
        {"program": ""},
        {"lease": 4.9},
        {"lease": 3601},
        {"lease": "60"},
        {"requests": 1},
        {"unknown": 1},
        {"key": "a\0b"},
    ],
)
async def test_what_is_wrong_in_a_body_is_named(
    client: httpx2.AsyncClient, change: dict[str, Any]
) -> None:
    """422, with the field."""
    refused = await post(client, **change)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid")
    assert next(iter(change)) in refused.json()["error"]["message"]
    assert heard["start"] == 0


async def test_no_more_sessions_than_there_is_room_for(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that has ended makes room; one that was refused takes none."""
    monkeypatch.setattr(host, "MOST_OPEN", 1)
    program = await open_session(client)
    refused = await post(client)
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many")
    assert refused.headers["retry-after"] == "1"
    await program.end()
    await open_session(client)


async def test_sessions_that_ended_long_ago_are_forgotten(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last ones can still be asked about."""
    monkeypatch.setattr(host, "MOST_OVER", 2)
    programs = [await open_session(client) for _ in range(3)]
    for one in programs:
        await one.end()
    found = [(await client.get(one.path)).status_code for one in programs]
    assert found == [404, 200, 200]


async def test_the_trail_names_the_folder_and_begins_with_the_start(
    judge: Scene, folder: Path
) -> None:
    """As in every other session; its id is that of the answer."""
    async with judge.client() as client:
        program = await open_session(client)
        await program.end()
    records = read_trail(program.id)
    assert program.state["folder"] == str(folder)
    assert [one["type"] for one in records if one["type"].startswith("session_")] == [
        "session_started",
        "session_ended",
    ]
    assert {one["session"] for one in records} <= {program.id, None}
