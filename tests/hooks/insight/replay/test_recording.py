"""A recorded session as it is replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.insight.replay.recording import CannotReplay, Recording, read_recording
from amplifier_hooks.trails import Header, RecordedHook
from tests.hooks.insight.replay.items import event, note
from tests.support.project import Project, script


def make(*items: object, level: str = "normal") -> Recording:
    """A recording of these items."""
    recording = Recording(Header(Path(), session="s", level=level))
    for item in items:
        recording.take(item)  # type: ignore[arg-type]
    return recording


def test_each_process_has_a_part_of_its_own() -> None:
    """What is written before its start belongs to it; one that says no end was broken off."""
    recording = make(
        note("bundle_loaded", 1),
        note("session_started", 2, resumed=False),
        note("session_suspended", 3),
        note("bundle_loaded", 4),
        note("session_started", 5, resumed=True),
        note("session_ended", 6, reason="user_exit"),
        note("bundle_loaded", 7),
        note("session_started", 8, resumed=True),
        event("prompt:submit", 9),
    )
    runs = recording.list_runs()
    assert [(one.end, one.resumed, one.items[0].sequence) for one in runs] == [
        ("suspended", False, 1),
        ("ended", True, 4),
        ("broken off", True, 7),
    ]
    assert runs[1].reason == "user_exit"


def test_sub_agents_are_known_by_their_parents() -> None:
    """And the session itself has none."""
    recording = make(
        note("session_started", 1, parent=None),
        note("session_started", 2, session="child", parent="s"),
        RecordedHook(1, "h", "tool:pre", 0),
    )
    assert recording.parents == {"child": "s"}
    assert [one.name for one in recording.hooks] == ["h"]


def test_a_sub_agent_that_did_not_start_is_known_by_its_events() -> None:
    """A guard of it did not load: it told of that, and of its end."""
    recording = make(
        note("session_started", 1, parent=None),
        event("module:load_failed", 2, session="child", parent_id="s"),
        event("session:end", 3, session="child", parent_id="s"),
        event("session:end", 4, parent_id=None),
    )
    assert recording.parents == {"child": "s"}


@pytest.mark.parametrize(
    ("recording", "why"),
    [
        (make(event("session:start"), level="decisions"), "audit.level: normal"),
        (make(note("session_started")), "nothing to replay"),
        (make(event("module:load_failed")), "did not start; there is nothing to replay"),
        (make(event("provider:response", 7)), "Record 7 has no answer .* hooks backtest"),
    ],
)
def test_a_trail_that_holds_too_little_says_what_is_missing(recording: Recording, why: str) -> None:
    """And what would do."""
    with pytest.raises(CannotReplay, match=why):
        recording.check()


async def test_a_trail_is_read_whole(project: Project, tmp_path: Path) -> None:
    """Its session, its events, its hooks."""
    audit = {"enabled": True, "path": str(tmp_path / "trails")}
    bundle = project.bundle(hooks=["hooks-datetime"], audit=audit, providers=script("hello"))
    async with project.session(bundle) as session:
        await session.execute("x")
    (path,) = (tmp_path / "trails").iterdir()
    recording = read_recording(path)
    (said,) = recording.list_events(recording.root, "provider:response")
    assert said.data["response"]["content"][0]["text"] == "hello"
    assert "hooks-datetime" in {one.module for one in recording.hooks}
