"""What a session's trail proves."""

from __future__ import annotations

from pathlib import Path

from amplifier_audit import AuditLog
from amplifier_hooks.approvals.models import SessionEntry
from tests.hooks.server.world import World


async def test_a_trail_that_is_here_is_verified(world: World, tmp_path: Path):
    """The trail with its verification state, and where that comes from."""
    await world.store.sessions.save(SessionEntry(id="s1", user="bot"))
    folder = tmp_path / "data" / "amplifier" / "audit" / "s1"
    log = AuditLog(folder, name="s1")
    log.append("note", {"text": "one"})
    await log.close()
    async with await world.person() as person:
        good = (await person.get("/sessions/s1/trail")).json()
        for segment in folder.glob("*.jsonl"):
            segment.write_bytes(segment.read_bytes().replace(b'"one"', b'"two"'))
        bad = (await person.get("/sessions/s1/trail")).json()
    assert good["source"] == "folder"
    assert good["verdict"] in ("proven", "consistent")
    assert good["findings"] == []
    assert bad["verdict"] == "tampered"
    assert bad["findings"][0]["message"]


async def test_a_trail_elsewhere_is_what_the_witness_has_seen(world: World):
    """And if there is no witness, that is said."""
    await world.store.sessions.save(SessionEntry(id="s2", user="bot"))
    async with await world.person() as person:
        found = (await person.get("/sessions/s2/trail")).json()
        assert (await person.get("/sessions/nothing/trail")).status_code == 404
    assert (found["source"], found["verdict"], found["size"]) == ("none", "unknown", None)
    assert "another machine" in found["message"]
