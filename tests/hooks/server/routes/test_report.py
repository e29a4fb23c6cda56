"""The report of a session, from the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.server.routes import sessions
from tests.hooks.insight.reports.stories import write_trail
from tests.hooks.server.world import World


async def test_a_session_whose_trail_is_here_has_a_report(world: World, tmp_path: Path) -> None:
    """As a file to be saved, with the name of the session, in each format."""
    await world.store.sessions.save(SessionEntry(id="s1", user="bot", name="fix <b>it</b>"))
    write_trail(tmp_path / "data" / "amplifier" / "audit", "s1")
    async with await world.person() as person:
        page = await person.get("/sessions/s1/report")
        written = await person.get("/sessions/s1/report?format=md")
        data = await person.get("/sessions/s1/report?format=json")
        other = await person.get("/sessions/s1/report?format=pdf")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-disposition"] == 'attachment; filename="report-s1.html"'
    assert "fix &lt;b&gt;it&lt;/b&gt;" in page.text
    assert written.text.startswith("# Session s1")
    assert data.json()["chapters"][0]["proof"]["verdict"] == "consistent"
    assert other.status_code == 422


async def test_only_readers_get_it(world: World, tmp_path: Path) -> None:
    """An agent's token is not enough, and without one there is nothing."""
    await world.store.sessions.save(SessionEntry(id="s1", user="bot"))
    write_trail(tmp_path / "data" / "amplifier" / "audit", "s1")
    async with await world.agent() as agent:
        assert (await agent.get("/sessions/s1/report")).status_code == 403


async def test_what_cannot_be_reported_says_why(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trail elsewhere, one that is too large, one that is none, and no session at all."""
    root = tmp_path / "data" / "amplifier" / "audit"
    for name in ("away", "large", "odd"):
        await world.store.sessions.save(SessionEntry(id=name, user="bot"))
    write_trail(root, "large", denials=50)
    (root / "odd").mkdir()
    monkeypatch.setattr(sessions, "MOST_BYTES", 1_000)
    async with await world.person() as person:
        found = {
            name: await person.get(f"/sessions/{name}/report")
            for name in ("away", "large", "odd", "nothing")
        }
    codes = {name: answer.status_code for name, answer in found.items()}
    assert codes == {"away": 404, "large": 413, "odd": 404, "nothing": 404}
    assert "amplifier report away" in found["away"].json()["error"]["message"]
    assert "too large" in found["large"].json()["error"]["message"]
    assert "cannot be read" in found["odd"].json()["error"]["message"]
