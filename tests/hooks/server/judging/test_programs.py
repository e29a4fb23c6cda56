"""Both programs have the same routes, and the same answers."""

from __future__ import annotations

from tests.hooks.server.judging.scene import Scene, list_ends, open_session, read_trail


async def test_a_session_from_its_start_to_its_end(scene: Scene) -> None:
    """Allowed, denied, changed, reported, not reported; the trail says the same, and verifies."""
    async with scene.client() as client:
        program = await open_session(client)
        plain = await program.call("c1")
        denied = await program.call("c2", "Deny")
        changed = await program.call("c3", "Change")
        reported = await program.report("c1")
        ended = await program.end()
    assert (plain["decision"], plain["input"], plain["changed"]) == ("allow", {"value": 1}, False)
    assert (denied["decision"], denied["hook"]) == ("deny", "rules")
    assert denied["reason"] == "Operation denied by rules: not on my machine"
    assert "input" not in denied
    assert changed["input"] == {"value": 1, "safe": True}
    assert changed["changed"] is True
    assert (reported["decision"], reported["output"]) == ("allow", "done")
    assert (ended["status"], ended["reason"], ended["unreported"]) == ("ended", "complete", ["c3"])
    assert list_ends(program.id) == {"c1": ["returned"], "c3": ["unknown"]}
    assert read_trail(program.id)[-1]["type"] == "checkpoint"


async def test_a_person_is_asked_and_answers(scene: Scene) -> None:
    """Pending with the id of the question, until the answer; hooks judge once more then."""
    async with scene.client() as client:
        program = await open_session(client)
        pending = await program.call("c1", "Ask")
        asked = await scene.wait_for_question(program.id)
        assert pending["decision"] == "pending"
        assert [one["id"] for one in pending["approvals"]] == [asked.id]
        assert pending["approvals"][0]["prompt"].startswith("May it?")
        still = (await program.poll("c1")).json()
        assert still["decision"] == "pending"
        await scene.answer(program.id)
        allowed = (await program.poll("c1", 30)).json()
        assert (allowed["decision"], allowed["approvals"]) == ("allow", [])
        await program.report("c1")
        await program.end()
    assert (await scene.store.approvals.get(asked.id)).status == "executed"


async def test_a_call_that_a_person_allowed_and_nobody_reported_is_unknown(scene: Scene) -> None:
    """To people, too: neither done nor failed, until its claim lapses."""
    async with scene.client() as client:
        program = await open_session(client)
        await program.call("c1", "Ask")
        asked = await scene.wait_for_question(program.id)
        await scene.answer(program.id)
        assert (await program.poll("c1", 30)).json()["decision"] == "allow"
        await program.end()
    assert list_ends(program.id) == {"c1": ["unknown"]}
    assert (await scene.store.approvals.get(asked.id)).status in ("executing", "unknown")
