"""Recording sessions and replaying them; also a pytest plugin that does so for all of a test.

pytest -p tests.support.replays tests/journeys
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.session import AmplifierSession
from amplifier_hooks.agent.session.inspection.trails import holds_log
from amplifier_hooks.insight.replay.job import (
    Job,
    Replay,
    ReplaySink,
    SilentDisplay,
    do_job,
    install_substitutes,
    run_replay,
)
from amplifier_hooks.insight.replay.plan import Substitutes, build_plan
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recorded_answers import RecordedApprovals, has_nobody
from amplifier_hooks.insight.replay.recording import CannotReplay, Recording
from amplifier_hooks.trails import Header, read_header, read_items
from tests.support.sessions import Script, SessionHarness
from tests.support.tallies import AS_BEFORE, Tally

_SECTIONS: dict[str, Any] = {"hooks": [], "tools": [], "agents": {}, "approval": {}, "audit": {}}

NOT_REPLAYED = "decisions only|nothing to replay|begins in the middle"
"""Why a trail of a test may be left alone: it is told to be short, or has no beginning."""

tally = Tally()


def record_session(script: Script, *prompts: str, **more: Any) -> SessionHarness:
    """Run a session to its end, and return it with its trail."""

    async def run() -> SessionHarness:
        async with SessionHarness(script, **more) as harness:
            for prompt in prompts or ("go",):
                await harness.session.execute(prompt)
        return harness

    return asyncio.run(run())


def read_harness(harness: SessionHarness) -> Recording:
    """The recording of a session that a harness ran."""
    return read_records(harness.trail.records, harness.session.session_id)


def read_records(records: Sequence[Mapping[str, Any]], session: str) -> Recording:
    """The recording that these records tell of."""
    recording = Recording(Header(Path(), session=session))
    for number, record in enumerate(records, 1):
        for item in read_items([{**record, "seq": number}]):
            recording.add(item)
    recording.check()
    return recording


def replay_harness(
    harness: SessionHarness, folder: Path, *, keep_going: bool = False, **changes: Any
) -> Replay:
    """Replay the session of a harness with the plan that it began with, or a changed one."""
    recording = read_harness(harness)
    plan = {**_SECTIONS, **harness.plan, **changes}
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
            install_substitutes(session, playback, Substitutes(playback, plan))
            return session

        return open_one

    return run_replay(recording, make_open, keep_going=keep_going)


def describe(found: Replay) -> str:
    """Where a replay went another way, for whoever reads a failed test."""
    lines = []
    for one in found.differences:
        lines.append(f"{one.kind}: {one.what} (record {one.sequence}), expected {one.expected}")
        lines += [f"  {change.field}: {change.then!r} -> {change.now!r}" for change in one.changes]
    return "\n".join(lines)


@pytest.fixture(autouse=True)
def replayed_sessions(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
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
            tally[name_reason(str(why))] += 1
            continue
        assert not found.differences, describe(found)
        tally[AS_BEFORE] += 1
    folder = request.node.funcargs.get("tmp_path")
    for trail in [] if folder is None else list_logs(folder):
        tally[replay_log(trail, tmp_path_factory.mktemp("replay"))] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was replayed, and what was not."""
    terminalreporter.write_line(tally.tell("replays"))


def name_reason(why: str) -> str:
    """The few words of a reason for which a trail may be left alone; others are errors."""
    found = re.search(NOT_REPLAYED, why)
    assert found is not None, why
    return found.group()


def list_logs(folder: Path) -> list[Path]:
    """The directories of logs that a test left in its folder."""
    return sorted({one.parent for one in folder.rglob("*.jsonl") if holds_log(one.parent)})


def replay_log(trail: Path, scratch: Path) -> str:
    """Replay what a program of the test has recorded; returns that it is identical, or why not."""
    header = read_header(trail)
    job = Job(
        str(trail),
        header.folder,
        header.bundle_file,
        recorded=header.bundle_digest,
        scratch=str(scratch),
    )
    if why := find_missing(job):
        return why
    told = do_job(job)
    if "found" not in told:
        assert told["kind"] == "cannot", told
        return name_reason(told["why"])
    found = Replay.from_dict(told["found"])
    assert not found.differences, f"{trail}\n{describe(found)}"
    return AS_BEFORE


def find_missing(job: Job) -> str:
    """What the test has not left of the bundle that its session had."""
    if not job.recorded:
        return "the trail names no bundle"
    if not Path(job.folder).is_dir():
        return "its folder is gone"
    if job.bundle and not Path(job.bundle).is_file():
        return "its bundle file is gone"
    if not job.bundle and job.load().bundle.digest != job.recorded:
        return "its bundle was made by a program"
    return ""
