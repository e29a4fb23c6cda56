"""The trail of a session: its folder, its options, and what it says on resume."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import AuditError, AuditUnavailable, create_key, verify
from amplifier_core.events import TOOL_PRE
from amplifier_core.testing import MemoryAudit
from amplifier_hooks import AssembledSession
from amplifier_hooks.agent.session.trail import (
    attach_trail,
    locate_trail,
    open_trail,
    read_unfinished,
)
from tests.audit.server.support import ME, find_log, run_server
from tests.audit.support import VERIFIER
from tests.support.project import Project


def test_a_session_id_cannot_lead_the_trail_elsewhere(tmp_path: Path) -> None:
    """Ids become folder names only when they are plain."""
    options = {"path": str(tmp_path)}
    assert locate_trail(options, "s-1.a") == tmp_path / "s-1.a"
    for odd in ("../../etc", "..", ".hidden", "a/b", "", "x" * 300, "\ud800"):
        folder = locate_trail(options, odd)
        assert folder.parent == tmp_path
        assert len(folder.name) == 64


async def test_a_signed_and_anchored_trail(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's first signed trail creates a key, and heads go to the anchor files."""
    monkeypatch.setenv("XDG_DATA_HOME", str(project.home))
    anchor = project.folder / "anchor"
    audit = {
        "enabled": True,
        "path": "trail",
        "sign": True,
        "mode": "commitment",
        "anchors": [str(anchor)],
    }
    async with project.session(project.bundle(audit=audit)) as session:
        await session.execute("one")
    assert (project.home / "amplifier" / "audit.key").exists()
    assert "amplifier-audit" in anchor.read_text()


async def test_an_anchor_that_cannot_be_written_keeps_a_session_from_starting(
    tmp_path: Path,
) -> None:
    """Somebody relies on it, and would find out when the proof is needed."""
    missing = tmp_path / "volume" / "anchor"
    options = {"enabled": True, "path": str(tmp_path / "trail"), "anchors": [str(missing)]}
    with pytest.raises(AuditError, match=r"volume/anchor cannot be written .* create its folder"):
        await open_trail(options, "s1", print)
    assert not missing.parent.exists()


def test_without_a_path_the_trail_lies_with_the_persons_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the XDG rules, below the folder of this program."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert locate_trail({}, "s1") == tmp_path / "amplifier" / "audit" / "s1"


@pytest.mark.parametrize("options", [{}, {"enabled": False}, {"enabled": None, "path": "x"}])
async def test_a_trail_that_is_not_enabled_is_not_opened(options: dict[str, Any]) -> None:
    """No folder, no file, and nothing to read from it."""
    assert await open_trail(options, "s1", print) is None
    assert read_unfinished(options, "s1") == ([], {})


async def test_the_options_of_the_bundle_reach_the_trail(tmp_path: Path) -> None:
    """Level, what a failure means, and how contents are kept."""
    options = {
        "enabled": True, "path": str(tmp_path), "level": "full", "on_failure": "warn",
        "mode": "commitment",
    }  # fmt: skip
    trail = await open_trail(options, "s1", print)
    assert trail is not None
    assert (trail.level, trail.on_failure) == ("full", "warn")
    await trail.close()
    assert (tmp_path / "s1").is_dir()


@pytest.mark.parametrize("sign", ["path", True])
async def test_a_signing_key_is_used_or_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: Any
) -> None:
    """The key at the path; or the person's own, which the first trail makes and the next finds."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    key = tmp_path / "own.key"
    create_key(key)
    options = {"enabled": True, "path": str(tmp_path), "sign": str(key) if sign == "path" else True}
    made = tmp_path / "data" / "amplifier" / "audit.key"
    contents: list[bytes] = []
    for session_id in ("one", "two"):
        trail = await open_trail(options, session_id, print)
        assert trail is not None
        await trail.close()
        contents.append(made.read_bytes() if made.exists() else b"")
    assert contents[0] == contents[1]
    assert made.exists() is (sign is True)


def test_a_folder_without_a_trail_has_nothing_to_tell(tmp_path: Path) -> None:
    """A session that never ran left nothing behind."""
    assert read_unfinished({"enabled": True, "path": str(tmp_path)}, "s1") == ([], {})


async def test_a_trail_that_is_given_is_used_and_stays_open(tmp_path: Path) -> None:
    """Whoever opened it closes it; none is opened beside it."""
    sink = MemoryAudit()
    options = {"enabled": True, "path": str(tmp_path)}
    trail = await attach_trail(options, "s1", sink, resumed=False)
    assert (trail.sink, trail.owned, trail.alarms, trail.unknown) == (sink, (), [], [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("enabled", [True, False])
async def test_a_trail_of_its_own_is_closed_by_the_session(tmp_path: Path, enabled: bool) -> None:
    """What is opened for a session belongs to it; a bundle without a trail opens none."""
    options = {"enabled": enabled, "path": str(tmp_path)}
    trail = await attach_trail(options, "s1", None, resumed=False)
    assert (trail.sink is not None, len(trail.owned)) == (enabled, int(enabled))
    for close in trail.owned:
        await close()
    assert (tmp_path / "s1").is_dir() is enabled


@pytest.mark.parametrize("resumed", [True, False])
async def test_only_a_resumed_session_looks_for_what_an_earlier_one_left(
    tmp_path: Path, resumed: bool
) -> None:
    """A call that was started and never finished is found before the trail goes on."""
    options = {"enabled": True, "path": str(tmp_path)}
    earlier = await open_trail(options, "s1", print)
    assert earlier is not None
    earlier.append("tool_started", {"tool": "T", "id": "1"}, session="s1")
    await earlier.close()
    trail = await attach_trail(options, "s1", None, resumed=resumed)
    assert [one.call_id for one in trail.unknown] == (["1"] if resumed else [])
    for close in trail.owned:
        await close()


# Calls without a trail

CALL: Any = {"tool_name": "Read", "tool_input": {}, "tool_call_id": "1"}


async def take_segment(project: Project, session: AssembledSession) -> Path:
    """Move the open segment away, as a command of the agent could without a sandbox."""
    segment = project.folder / "trail" / session.session_id / "00000000.jsonl"
    segment.rename(project.folder / "elsewhere")
    return segment


@pytest.mark.parametrize(
    ("on_failure", "allowed"), [("deny", False), ("stop", False), ("warn", True)]
)
async def test_a_trail_that_was_taken_away_ends_calls_that_need_no_approval(
    project: Project, on_failure: str, allowed: bool
) -> None:
    """At once, without waiting for the next sync; `warn` goes on."""
    audit = {"enabled": True, "path": "trail", "on_failure": on_failure}
    async with project.session(project.bundle(audit=audit)) as session:
        assert (await session.coordinator.judge(TOOL_PRE, CALL)).allowed
        await take_segment(project, session)
        outcome = await session.coordinator.judge(TOOL_PRE, CALL)
        assert outcome.allowed is allowed
        if not allowed:
            assert "00000000.jsonl is gone" in outcome.denial
            assert "amplifier audit verify" in outcome.denial


async def test_putting_the_files_back_does_not_bring_the_trail_back(project: Project) -> None:
    """What was written meanwhile is not in them; verify reports the mark."""
    audit = {"enabled": True, "path": "trail"}
    async with project.session(project.bundle(audit=audit)) as session:
        segment = await take_segment(project, session)
        assert not (await session.coordinator.judge(TOOL_PRE, CALL)).allowed
        (project.folder / "elsewhere").rename(segment)
        assert not (await session.coordinator.judge(TOOL_PRE, CALL)).allowed
    report = verify(segment.parent)
    assert (report.verdict, report.failed) == ("recovered", "00000000.jsonl is gone")
    assert report.name == session.session_id


class FailingSink(MemoryAudit):
    """A trail on a disk that is full; nobody took its files."""

    failure = "No space left on device"

    def find_loss(self) -> str | None:
        return None


@pytest.mark.parametrize(
    ("on_failure", "allowed"), [("deny", True), ("stop", False), ("warn", True)]
)
async def test_a_full_disk_ends_all_calls_only_if_that_is_wanted(
    project: Project, on_failure: str, allowed: bool
) -> None:
    """By default it ends those that need approval; the kernel sees to that."""
    bundle = project.bundle(audit={"on_failure": on_failure})
    async with project.session(bundle, audit=FailingSink()) as session:
        assert (await session.coordinator.judge(TOOL_PRE, CALL)).allowed is allowed


async def test_a_sink_that_cannot_tell_is_not_asked(project: Project) -> None:
    """A trail of somebody's own making need not know how to find a loss."""
    async with project.session(audit=MemoryAudit()) as session:
        assert (await session.coordinator.judge(TOOL_PRE, CALL)).allowed


async def test_a_resumed_session_says_that_its_trail_is_gone(tmp_path: Path) -> None:
    """A new one begins, and the person knows that it is not the old one."""
    options = {"enabled": True, "path": str(tmp_path)}
    for resumed in (False, True, True):
        trail = await attach_trail(options, "s1", None, resumed=resumed)
        assert trail.alarms == []
        for close in trail.owned:
            await close()
    (tmp_path / "s1").rename(tmp_path / "moved")
    trail = await attach_trail(options, "s1", None, resumed=True)
    assert len(trail.alarms) == 1
    assert "No earlier trail of this session" in trail.alarms[0]
    for close in trail.owned:
        await close()


async def test_the_trail_of_another_session_is_not_continued(tmp_path: Path) -> None:
    """Somebody put it there."""
    options = {"enabled": True, "path": str(tmp_path)}
    trail = await open_trail(options, "bob", print)
    assert trail is not None
    await trail.close()
    (tmp_path / "bob").rename(tmp_path / "ann")
    with pytest.raises(AuditUnavailable, match="is the trail of 'bob', not of 'ann'"):
        await open_trail(options, "ann", print)


# A writer behind a socket


async def test_a_session_can_leave_the_writing_to_another_process(project: Project) -> None:
    """Its trail is then below that writer's folder, and the session has no key."""
    (root := project.folder / "server").mkdir()
    async with run_server(root) as socket:
        audit = {"enabled": True, "socket": str(socket), "server_user": str(ME)}
        async with project.session(project.bundle(audit=audit)) as session:
            assert (await session.coordinator.judge(TOOL_PRE, CALL)).allowed
    report = verify(find_log(root, session.session_id), key=VERIFIER, session=session.session_id)
    assert (report.verdict, report.unproven, report.name) == ("consistent", 0, session.session_id)
    assert report.size > 5


async def test_without_its_writer_a_session_does_not_begin(tmp_path: Path) -> None:
    """Nor with one that runs as the session's own user, unless it was named."""
    options = {"enabled": True, "socket": str(tmp_path / "socket")}
    with pytest.raises(AuditUnavailable, match="No audit writer at"):
        await open_trail(options, "s1", print)
    async with run_server(tmp_path):
        with pytest.raises(AuditUnavailable, match="name the user with server_user"):
            await open_trail(options, "s1", print)


@pytest.mark.parametrize("name", ["path", "sign", "anchors"])
async def test_what_the_writer_decides_the_bundle_does_not(name: str) -> None:
    """Two answers to where the files are would be one too many."""
    options = {"enabled": True, "socket": "/x", name: ["somewhere"]}
    with pytest.raises(AuditError, match=f"remove audit.{name}, or audit.socket"):
        await open_trail(options, "s1", print)


async def test_what_a_resumed_session_left_unfinished_cannot_be_read(tmp_path: Path) -> None:
    """A session that could read its trail could be made to show it; the person is told."""
    async with run_server(tmp_path) as socket:
        options = {"enabled": True, "socket": str(socket), "server_user": str(ME)}
        trail = await attach_trail(options, "s1", None, resumed=True)
        assert trail.unknown == []
        assert "Only the audit writer can tell" in trail.alarms[0]
        for close in trail.owned:
            await close()
