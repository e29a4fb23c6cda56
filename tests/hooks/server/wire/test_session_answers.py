"""The shape of answers about sessions is what is really answered."""

from __future__ import annotations

from pydantic import TypeAdapter

from amplifier_hooks.approvals.models import SessionEntry, SessionRecord
from amplifier_hooks.server.answers import (
    DescribedSession,
    RecordPage,
    SessionPage,
    StatisticsAnswer,
    TrailAnswer,
)
from tests.hooks.server.world import World


async def test_answers_fit_their_description(world: World):
    """Clients are written by the description."""
    await world.ask()
    await world.store.sessions.save(SessionEntry(id="session-1", user="bot", status="waiting"))
    await world.store.records.publish(
        "session-1", [SessionRecord(number=1, time=1.0, type="dispatch")]
    )
    async with await world.person() as person:
        page = SessionPage.model_validate_json((await person.get("/sessions")).text)
        one = await person.get("/sessions/session-1")
        records = await person.get("/sessions/session-1/records")
        trail = await person.get("/sessions/session-1/trail")
        figures = await person.get("/statistics")
    assert page.sessions[0].id == "session-1"
    described = TypeAdapter(DescribedSession).validate_json(one.text)
    assert described.approval_required[0].request.session_id == "session-1"
    assert RecordPage.model_validate_json(records.text).records[0].number == 1
    assert TrailAnswer.model_validate_json(trail.text).source == "none"
    assert StatisticsAnswer.model_validate_json(figures.text).overrulings[0].asked == 1
