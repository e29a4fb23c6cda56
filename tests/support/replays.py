"""A pytest plugin that replays the sessions of tests: each must happen again as it happened.

pytest -p tests.support.replays tests/journeys
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.session import AmplifierSession
from amplifier_foundation.history import Header, RecordedHook, read_items
from amplifier_foundation.replay.playback import Playback
from amplifier_foundation.replay.recording import CannotReplay, Recording
from amplifier_foundation.replay.replay import Replay, SilentDisplay, equip, run_replay
from amplifier_foundation.replay.sink import ReplaySink
from amplifier_foundation.replay.stand_ins.approvals import RecordedApprovals, has_nobody
from amplifier_foundation.replay.stand_ins.loader import StandIns
from amplifier_foundation.replay.stand_ins.plan import build_plan
from tests.support.sessions import SessionHarness


def read_harness(harness: SessionHarness) -> Recording:
    """The recording of a session that a harness ran."""
    recording = Recording(Header(Path(), session=harness.session.session_id))
    for number, record in enumerate(harness.trail.records, 1):
        for item in read_items([{**record, "seq": number}]):
            recording.take(item)
    recording.check()
    return recording


def replay_harness(harness: SessionHarness, folder: Path) -> Replay:
    """Replay the session of a harness, with the plan that it began with."""
    recording = read_harness(harness)
    plan = {"hooks": [], "tools": [], "agents": {}, "approval": {}, "audit": {}, **harness.plan}
    working_dir = harness.coordinator.get_capability("session.working_dir")

    def make_open(playback: Playback) -> Any:
        async def open_one(state: Any) -> AmplifierSession:
            session = AmplifierSession(
                build_plan(plan, folder),
                session_id=recording.root,
                approval_system=None if has_nobody(recording) else RecordedApprovals(playback),
                display_system=SilentDisplay(),
                audit=ReplaySink(playback),
                state=state,
            )
            if working_dir is not None:
                session.coordinator.register_capability("session.working_dir", working_dir)
            equip(session, playback, StandIns(playback, plan))
            return session

        return open_one

    return run_replay(recording, make_open)


@pytest.fixture(autouse=True)
def replayed_sessions(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[SessionHarness]]:
    """After the test, replay every session that it ran in a harness."""
    ran: list[SessionHarness] = []
    end = SessionHarness.__aexit__

    async def note_end(self: SessionHarness, *error: object) -> None:
        await end(self, *error)
        ran.append(self)

    monkeypatch.setattr(SessionHarness, "__aexit__", note_end)
    yield ran
    for harness in ran:
        try:
            found = replay_harness(harness, tmp_path_factory.mktemp("replay"))
        except CannotReplay as why:
            print(f"not replayed: {why}")
            continue
        assert not found.differences, describe(found)


def describe(found: Replay) -> str:
    """Where a replay went another way, for whoever reads a failed test."""
    lines = []
    for one in found.differences:
        lines.append(f"{one.kind}: {one.what} (record {one.sequence}), expected {one.expected}")
        lines += [f"  {change.field}: {change.then!r} -> {change.now!r}" for change in one.changes]
    return "\n".join(lines)


__all__ = ["RecordedHook", "describe", "read_harness", "replay_harness", "replayed_sessions"]
