"""Segments that are verified on their own: joined, they are what one reading finds."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import parallel
from amplifier_audit.checkpoint import make_note
from amplifier_audit.errors import AuditError
from amplifier_audit.line_verifier import LineVerifier, Unsigned
from amplifier_audit.log_directory import open_remains
from amplifier_audit.parallel import (
    SegmentTask,
    VerifiedSegment,
    list_tasks,
    run_task,
)
from amplifier_audit.quick_lines import Shapes
from amplifier_audit.record import Head, parse_record
from amplifier_audit.report import Report
from amplifier_audit.settings import AuditSettings
from amplifier_audit.state import State
from amplifier_audit.verification import LogVerification
from tests.audit.forgery import Attacker, Scene, make_scene
from tests.audit.support import OTHER, SIGNER, VERIFIER, feed_lines, write_log, write_state

SMALL = AuditSettings(segment_bytes=4000, gather_seconds=0.001)
SHAPES = Shapes()


@pytest.fixture(autouse=True)
def joined(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Tasks run in this process, which is the same and quicker; which of them were joined."""

    def verify_here(
        tasks: Sequence[SegmentTask | None],
        jobs: int,
        progress: Callable[[int], None] | None = None,
    ) -> dict[int, VerifiedSegment]:
        found = {n: run_task(task, SHAPES, progress) for n, task in enumerate(tasks) if task}
        return {number: segment for number, segment in found.items() if segment}

    told: list[bool] = []
    real = VerifiedSegment.join

    def join(segment: VerifiedSegment, verifier: LineVerifier) -> bool:
        told.append(real(segment, verifier))
        return told[-1]

    monkeypatch.setattr(parallel, "verify_side_by_side", verify_here)
    monkeypatch.setattr(VerifiedSegment, "join", join)
    return told


def run(path: Path, **options: Any) -> tuple[Report | str, State | None]:
    """What is found, and from where a later verification can go on."""
    try:
        verification = LogVerification(open_remains(path), **options)
        return verification.run(), verification.end
    except AuditError as error:
        return str(error), None


def check(path: Path, **options: Any) -> Report:
    """Both ways find the same."""
    one, end = run(path, **options)
    both = run(path, jobs=2, **options)
    assert both == (one, end)
    assert isinstance(one, Report)
    return one


def read_segments(path: Path) -> list[list[bytes]]:
    """The lines of each."""
    return [one.read_bytes().splitlines(keepends=True) for one in sorted(path.glob("0*.jsonl"))]


@pytest.fixture
async def log(tmp_path: Path) -> Path:
    """Of five segments or more, signed."""
    path = tmp_path / "log"
    await write_log(path, 60, SMALL, signer=SIGNER, name="log")
    assert len(read_segments(path)) >= 5
    return path


def test_all_segments_of_a_whole_log_are_joined(log: Path, joined: list[bool]) -> None:
    """With and without a key."""
    for key in (VERIFIER, None):
        joined.clear()
        assert check(log, key=key).verdict == "consistent"
        assert joined == [True] * len(read_segments(log))


def test_anchors_are_checked_where_they_belong(log: Path, joined: list[bool]) -> None:
    """A right one and one of another history, at every size: also at the borders."""
    lines = [line for segment in read_segments(log) for line in segment]
    name = parse_record(lines[0])["log"]
    verifier = LineVerifier()
    for line in lines:
        verifier.feed(line)
        size, root = verifier.size, verifier.tree.compute_root()
        right = make_note(name, size, root, SIGNER)
        assert check(log, anchors=[right]).proven_to == size
        assert all(joined)
        wrong = make_note(name, size, bytes(32))
        assert check(log, anchors=[right, wrong]).verdict == "tampered"
        joined.clear()
    missing = make_note(name, size + 1, root)
    assert check(log, anchors=[missing]).verdict == "tampered"
    assert check(log, anchors=[make_note("other", 3, root)]).verdict == "tampered"
    assert check(log, anchors=[make_note(name, 3, root, OTHER)], key=VERIFIER).verdict == "tampered"


def test_a_verification_goes_on_from_any_record(log: Path, joined: list[bool]) -> None:
    """The segments before are not read."""
    verifier = LineVerifier()
    for number, segment in enumerate(read_segments(log)):
        for place, line in enumerate(segment, 1):
            verifier.feed(line)
            offset = sum(map(len, segment[:place]))
            since = State(verifier.log or "", number, offset, verifier.head)
            assert check(log, since=since).verdict == "consistent"
            assert all(joined)
            beyond = replace(since, offset=10**6)
            assert check(log, since=beyond).verdict == "tampered"
            joined.clear()


def test_an_edit_is_named_in_any_segment(log: Path) -> None:
    """Whichever it is; the ones behind it are of no use then."""
    for path in sorted(log.glob("0*.jsonl")):
        content = path.read_bytes()
        place = content.index(b'"dispatch"')
        path.write_bytes(content[:place] + b'"dispatck"' + content[place + 10 :])
        report = check(log, key=VERIFIER)
        assert report.finding is not None
        assert (report.finding.kind, report.finding.segment) == ("edit", path.name)
        path.write_bytes(content)


def test_a_torn_end_is_what_a_crash_left(log: Path, joined: list[bool]) -> None:
    """Only the last segment is read a second time."""
    last = max(log.glob("0*.jsonl"))
    last.write_bytes(last.read_bytes() + b'{"v":1,"lo')
    assert check(log).verdict == "recovered"
    assert joined == [True] * (len(read_segments(log)) - 1)


def test_another_history_than_the_acknowledged_one_is_found(log: Path) -> None:
    """In whichever segment it is."""
    verifier = LineVerifier()
    for number, segment in enumerate(read_segments(log)):
        verifier = feed_lines(segment, start=verifier.head, log=verifier.log)
        offset = sum(map(len, segment))
        state = State(verifier.log or "", number, offset, verifier.head)
        write_state(log, state)
        assert check(log).verdict == "consistent"
        write_state(log, replace(state, head=replace(verifier.head, hash="f" * 64)))
        assert check(log).verdict == "tampered"


def test_segments_that_changed_places_are_found(log: Path) -> None:
    """Each is right in itself."""
    paths = sorted(log.glob("0*.jsonl"))
    for one, other in ((0, 1), (1, 2), (2, len(paths) - 1)):
        before = paths[one].read_bytes(), paths[other].read_bytes()
        paths[one].write_bytes(before[1])
        paths[other].write_bytes(before[0])
        assert check(log).verdict == "tampered"
        paths[one].write_bytes(before[0])
        paths[other].write_bytes(before[1])
    paths[1].unlink()
    assert check(log).verdict == "tampered"


@pytest.mark.parametrize("promises", [(1000, 3, 1000), (3, 7, 2), (2, 2, 5)])
async def test_what_writers_promise_goes_over_borders(
    tmp_path: Path, promises: tuple[int, ...], joined: list[bool]
) -> None:
    """A segment that another writer began than the last one is read again, if it may matter."""
    for every in promises:
        settings = replace(SMALL, checkpoint_every=every)
        await write_log(tmp_path, 20, settings, signer=SIGNER)
    for key in (VERIFIER, None):
        assert check(tmp_path, key=key).verdict == "consistent"
    assert sum(joined) > len(joined) // 2


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> list[Scene]:
    """Logs with and without retention."""
    root = tmp_path_factory.mktemp("scenes")
    return [make_scene(root / "kept"), make_scene(root / "removed", retain=2)]


def list_options(scene: Scene) -> Iterator[dict[str, Any]]:
    """All that a verifier could be asked."""
    log = parse_record(scene.lines["ann"][-1])["log"]
    for anchors in ([note for note in scene.notes if note.checkpoint.log == log], []):
        for key in (VERIFIER, None):
            yield {"anchors": anchors, "key": key, "name": "ann"}
            yield {"anchors": anchors, "key": key}


def test_removed_segments_are_reported_alike(scenes: list[Scene]) -> None:
    """Their seals are a part of the beginning."""
    for scene in scenes:
        for options in list_options(scene):
            assert check(scene.root / "ann", **options).verdict in ("proven", "consistent")


def test_random_attacks_are_reported_alike(scenes: list[Scene], tmp_path: Path) -> None:
    """Whatever somebody does to the files."""
    verdicts: dict[str, int] = {}
    for number in range(40):
        chance = random.Random(f"alike {number}")
        scene, work = chance.choice(scenes), tmp_path / "work"
        scene.copy_to(work)
        attacker = Attacker(work, chance)
        done = [attacker.attack() for _ in range(chance.choice((1, 1, 2, 3)))]
        if not (work / "ann").exists():
            continue
        for options in list_options(scene):
            one = run(work / "ann", **options)
            assert run(work / "ann", jobs=2, **options) == one, done
            verdict = one[0].verdict if isinstance(one[0], Report) else "unreadable"
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
    shutil.rmtree(tmp_path / "work", ignore_errors=True)
    assert {"proven", "consistent", "tampered"} <= set(verdicts)


def make_verified(path: Path) -> tuple[LineVerifier, VerifiedSegment]:
    """A verifier behind the first segment, and the second one verified."""
    segments = read_segments(path)
    verifier = feed_lines(segments[0], key=VERIFIER)
    paths = sorted(path.glob("0*.jsonl"))
    task = list_tasks(LineVerifier(key=VERIFIER), paths, 0, None)[1]
    assert task is not None
    found = run_task(task, SHAPES)
    assert found is not None
    return verifier, found


@pytest.mark.parametrize(
    "change",
    [
        {"log": "other"},
        {"start": Head()},
        {"unsigned": Unsigned(own=2)},
        {"unsigned": Unsigned(records=1, own=1)},
        {"until": 9},
    ],
    ids=str,
)
async def test_nothing_is_joined_elsewhere_than_where_it_began(
    log: Path, change: dict[str, Any]
) -> None:
    """The verifier is left as it is."""
    verifier, found = make_verified(log)
    before = verifier.report("consistent")
    assert not replace(found, task=replace(found.task, **change)).join(verifier)
    assert verifier.report("consistent") == before
    assert found.join(verifier)
    assert verifier.size == found.verifier.size


def test_what_was_promised_is_of_no_matter_without_a_key(log: Path) -> None:
    """Nobody counts signatures then."""
    verifier, found = make_verified(log)
    verifier.key = None
    assert replace(found, task=replace(found.task, unsigned=Unsigned(own=9))).join(verifier)


def test_a_segment_that_does_not_say_where_it_begins_has_no_task(log: Path, tmp_path: Path) -> None:
    """Nor does one that is no file any more; those behind have theirs."""
    paths = sorted(log.glob("0*.jsonl"))
    for content in (b"", b"x\n", read_segments(log)[1][1]):
        paths[1].write_bytes(content)
        tasks = list_tasks(LineVerifier(), paths, 0, None)
        assert [bool(task) for task in tasks] == [True, False, *[True] * (len(paths) - 2)]
        assert tasks[0] is not None
    gone = list_tasks(LineVerifier(), [paths[0], tmp_path / "gone"], 0, None)
    assert gone[1] is None


def test_a_task_that_cannot_be_read_is_left_to_whoever_says_why(tmp_path: Path) -> None:
    """It finds nothing."""
    assert run_task(SegmentTask(tmp_path / "gone", Head(), None), SHAPES) is None
