"""A log as a whole: a directory with its state and seals, or a single segment."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.anchor_files import read_anchors
from amplifier_audit.anchors import anchor_to_file
from amplifier_audit.checkpoint import Note, make_note, parse_notes
from amplifier_audit.encoding import encode_body
from amplifier_audit.errors import NotALog
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import open_log
from amplifier_audit.reader import find_newest_checkpoint, read_records
from amplifier_audit.record import Chain
from amplifier_audit.settings import AuditSettings
from amplifier_audit.state import State, read_state
from amplifier_audit.verification import LogVerification, verify
from tests.audit.support import (
    FAST,
    SIGNER,
    VERIFIER,
    acknowledge,
    extend_log,
    feed_lines,
    first_segment,
    locate,
    make_lines,
    make_source,
    write_lines,
    write_log,
    write_state,
)

SMALL = AuditSettings(segment_bytes=4000)


# One directory, and one file


async def test_a_whole_log_is_consistent_and_with_an_anchor_proven(tmp_path: Path) -> None:
    """Over all its segments, with every signature checked."""
    await write_log(tmp_path / "log", 60, SMALL, signer=SIGNER)
    report = verify(tmp_path / "log", key=VERIFIER)
    assert (report.verdict, report.finding) == ("consistent", None)
    assert report.signed == report.checkpoints > 3
    note = find_newest_checkpoint(open_log(tmp_path / "log"))
    assert note is not None
    proven = verify(str(tmp_path / "log"), anchors=[note], key=VERIFIER)
    assert (proven.verdict, proven.proven_to) == ("proven", note.checkpoint.size)


async def test_one_segment_alone_says_what_it_cannot_know(tmp_path: Path) -> None:
    """Nothing is claimed of the records before it."""
    await write_log(tmp_path, 40, SMALL)
    report = verify(tmp_path / "00000001.jsonl")
    assert report.verdict == "consistent"
    assert report.first > 0
    assert "nothing is known of the first" in report.notes[0]


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    """Every 1,024 records, of what this run has read."""
    lines = make_lines(3000)
    write_lines(tmp_path, lines)
    told: list[int] = []
    verify(tmp_path, progress=told.append)
    assert told == [sum(map(len, lines[:1024])), sum(map(len, lines[:2048]))]
    verifier = feed_lines(lines[:1000])
    since = State(verifier.log or "", 0, sum(map(len, lines[:1000])), verifier.head)
    told.clear()
    LogVerification(open_log(tmp_path), since=since, progress=told.append).run()
    expected = [sum(map(len, lines[1000:1024])), sum(map(len, lines[1000:2048]))]
    assert told == expected
    # The same lines in two segments.
    write_lines(tmp_path, lines[:1500])
    (tmp_path / "00000001.jsonl").write_bytes(b"".join(lines[1500:]))
    told.clear()
    LogVerification(open_log(tmp_path), since=since, progress=told.append).run()
    assert told == expected


def test_there_is_no_position_to_go_on_from_without_a_segment_and_a_record(
    tmp_path: Path,
) -> None:
    """One file alone has no number, and an empty one belongs to no log."""
    write_lines(tmp_path, make_lines(5))
    alone = LogVerification(open_log(first_segment(tmp_path)))
    assert alone.run().verdict == "consistent"
    assert alone.end is None
    first_segment(tmp_path).write_bytes(b"")
    (tmp_path / "failed").write_text("a sync failed")
    empty = LogVerification(open_log(tmp_path))
    assert empty.run().size == 0
    assert empty.end is None


# What somebody took away


def test_a_file_that_never_was_a_log_is_refused(tmp_path: Path) -> None:
    """It is not called tampered with."""
    file = tmp_path / "notes.txt"
    file.write_text("hello\n", encoding="utf-8")
    with pytest.raises(NotALog, match="not an audit log"):
        verify(file)


async def test_a_log_of_which_no_segment_is_left_is_missing_from_its_first_record(
    tmp_path: Path,
) -> None:
    """What its writer left beside them proves that there were some."""
    await write_log(tmp_path, 40, SMALL)
    for segment in tmp_path.glob("*.jsonl"):
        segment.unlink()
    state = read_state(tmp_path / "state")
    assert state is not None
    report = verify(tmp_path)
    assert (report.verdict, locate(report)) == ("tampered", ("missing segment", 0))
    assert report.finding is not None
    known = f"all segments are gone; its writer acknowledged {state.head.size} records"
    assert report.finding.message == known
    (tmp_path / "state").unlink()
    report = verify(tmp_path)
    assert report.finding is not None
    assert report.finding.message == "all segments are gone"


async def test_removed_segments_without_their_seal_or_record_are_found(tmp_path: Path) -> None:
    """Retention leaves both; whoever deletes by hand does not."""
    await write_log(tmp_path, 40, SMALL)
    first_segment(tmp_path).unlink()
    report = verify(tmp_path)
    assert report.verdict == "tampered"
    assert locate(report) == ("missing segment", 0)
    assert report.finding is not None
    assert "no record says that segment 00000000 was to be removed" in report.finding.message
    shutil.rmtree(tmp_path / "sealed")
    report = verify(tmp_path)
    assert report.finding is not None
    assert "so is its seal" in report.finding.message


@pytest.mark.parametrize("content", [b"nonsense", b"\xff\xfe", b""])
async def test_a_seal_that_is_none_counts_as_missing(tmp_path: Path, content: bytes) -> None:
    """Whatever stands in its file."""
    await write_log(tmp_path, 40, SMALL)
    first_segment(tmp_path).unlink()
    (tmp_path / "sealed" / "00000000.note").write_bytes(content)
    report = verify(tmp_path)
    assert locate(report) == ("missing segment", 0)
    assert report.finding is not None
    assert (report.finding.segment, report.finding.byte) == ("00000001.jsonl", 0)


async def test_a_seal_of_other_records_is_found(tmp_path: Path) -> None:
    """The seal must be that of the lines before the first one that is there."""
    await write_log(tmp_path, 60, SMALL)
    first_segment(tmp_path).unlink()
    shutil.copy(tmp_path / "sealed" / "00000001.note", tmp_path / "sealed" / "00000000.note")
    report = verify(tmp_path)
    assert report.verdict == "tampered"
    assert report.finding is not None
    assert "the seal 00000000.note does not fit" in report.finding.message


async def test_a_missing_middle_segment_is_a_gap(tmp_path: Path) -> None:
    """The first record that is missing is named."""
    await write_log(tmp_path, 60, SMALL)
    first = next(read_records(open_log(tmp_path / "00000001.jsonl")))["seq"]
    (tmp_path / "00000001.jsonl").unlink()
    assert locate(verify(tmp_path)) == ("gap", first)


async def test_segments_that_were_renamed_or_stripped_are_found(tmp_path: Path) -> None:
    """A log cannot be made to begin later."""
    await write_log(tmp_path, 5)
    lines = first_segment(tmp_path).read_bytes().splitlines(keepends=True)
    first_segment(tmp_path).rename(tmp_path / "00000004.jsonl")
    assert locate(verify(tmp_path))[0] == "missing segment"
    (tmp_path / "00000004.jsonl").write_bytes(b"".join(lines[3:]))
    report = verify(tmp_path)
    assert report.finding is not None
    assert "lost its beginning" in report.finding.message


@pytest.mark.parametrize(
    "changes",
    [
        {"prev": "é" * 64},
        {"prev": ""},
        {"body": {"previous": None}},
        {"body": {"previous": {"frontier": [5]}}},
    ],
)
async def test_a_forged_beginning_is_a_verdict_and_no_traceback(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    """Whatever the first record says that came before it."""
    await write_log(tmp_path, 40, SMALL)
    path = tmp_path / "00000001.jsonl"
    first, *rest = path.read_bytes().splitlines(keepends=True)
    forged = json.dumps({**json.loads(first), **changes}, separators=(",", ":")).encode()
    path.write_bytes(b"".join([forged + b"\n", *rest]))
    first_segment(tmp_path).unlink()
    for place in (path, tmp_path):
        assert verify(place).verdict == "tampered"


async def test_a_cut_below_the_acknowledged_end_is_found(tmp_path: Path) -> None:
    """The writer's own state knows how many records there were."""
    await write_log(tmp_path, 20)
    lines = first_segment(tmp_path).read_bytes().splitlines(keepends=True)
    first_segment(tmp_path).write_bytes(b"".join(lines[:7]))
    report = verify(tmp_path)
    assert locate(report) == ("cut below anchor", 7)
    assert report.finding is not None
    assert report.finding.byte == sum(map(len, lines[:7]))
    assert report.finding.segment == "00000000.jsonl"


async def test_another_history_of_the_same_length_contradicts_the_state(tmp_path: Path) -> None:
    """The writer's own state is no anchor, but a log that contradicts it is not whole."""
    await write_log(tmp_path / "one", 5)
    await write_log(tmp_path / "two", 5)
    shutil.copy(first_segment(tmp_path / "two"), first_segment(tmp_path / "one"))
    report = verify(tmp_path / "one")
    assert report.verdict == "tampered"
    assert report.finding is not None
    assert (report.finding.kind, report.finding.byte is not None) == ("fork", True)


# Yesterday's copy


async def test_putting_back_yesterdays_copy_is_found_only_by_an_anchor(tmp_path: Path) -> None:
    """A copy of everything is consistent, and says no more than that."""
    log, anchors = tmp_path / "log", tmp_path / "anchors"
    await write_log(log, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    shutil.copytree(log, tmp_path / "yesterday")
    await write_log(log, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    shutil.rmtree(log)
    shutil.copytree(tmp_path / "yesterday", log)
    notes = parse_notes(anchors.read_text())
    assert verify(log, key=VERIFIER).verdict == "consistent"
    report = verify(log, key=VERIFIER, anchors=notes)
    assert report.verdict == "tampered"
    assert locate(report) == ("cut below anchor", report.size)


async def test_a_fork_after_the_copy_is_found_by_the_anchor(tmp_path: Path) -> None:
    """Two histories, both signed with the same stolen key: the anchor knows one of them."""
    log, anchors = tmp_path / "log", tmp_path / "anchors"
    await write_log(log, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    shutil.copytree(log, tmp_path / "fork")
    await write_log(log, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    await write_log(tmp_path / "fork", 30, signer=SIGNER)
    notes = parse_notes(anchors.read_text())
    assert verify(log, key=VERIFIER, anchors=notes).verdict == "proven"
    assert verify(tmp_path / "fork", key=VERIFIER).verdict == "consistent"
    report = verify(tmp_path / "fork", key=VERIFIER, anchors=notes)
    assert (report.verdict, locate(report)[0]) == ("tampered", "fork")


async def test_a_log_whose_first_segments_retention_removed_says_so(tmp_path: Path) -> None:
    """How many segments, and how many records nobody can read any more."""
    settings = AuditSettings(segment_bytes=4000, retain_segments=1)
    await write_log(tmp_path, 60, settings)
    first = open_log(tmp_path).numbers[0]
    report = verify(tmp_path)
    assert report.verdict == "consistent"
    assert report.notes == (f"{first} segments were removed; {report.first} records not read",)


# What a crash leaves


def test_a_torn_last_line_is_what_a_crash_leaves(tmp_path: Path) -> None:
    """Where nobody knows what was acknowledged, only the end of the file can be torn."""
    lines = make_lines(5)
    write_lines(tmp_path, [*lines, b'{"v":1,"log"'])
    report = verify(tmp_path)
    assert (report.verdict, report.size) == ("recovered", 5)
    assert locate(report) == ("torn tail", 5)
    assert report.finding is not None
    assert report.finding.byte == sum(map(len, lines))
    run = LogVerification(open_log(tmp_path))
    run.run()
    assert run.end is not None
    assert (run.end.offset, run.end.head.size) == (report.finding.byte, 5)
    write_lines(tmp_path, [*lines[:3], b'{"v":1\n', *lines[3:]])
    assert verify(tmp_path).verdict == "tampered"


def test_half_a_first_line_is_no_crash_where_nothing_else_is_known(tmp_path: Path) -> None:
    """Not one record is there to say that it ever was more than this."""
    write_lines(tmp_path, [b'{"v":1,"log"'])
    report = verify(tmp_path)
    assert (report.verdict, locate(report)) == ("tampered", ("edit", 0))


def test_an_opening_that_was_itself_damaged_by_a_crash_is_a_torn_end(tmp_path: Path) -> None:
    """A writer that died while it began has not gone on behind anything."""
    lines = make_lines(5)
    opening = extend_log(lines, "log_opened", {"previous": feed_lines(lines).head.to_dict()})[5]
    write_lines(tmp_path, [*lines, opening.replace(b'"turn":1', b'"turn":2')])
    acknowledge(tmp_path, lines, 5)
    report = verify(tmp_path)
    assert (report.verdict, locate(report)) == ("recovered", ("torn tail", 5))


def test_only_an_opening_behind_the_damage_shows_a_later_writer(tmp_path: Path) -> None:
    """Other records there are of the writer that died: its pages reached the disk in any order."""
    lines = make_lines(8)
    opening = extend_log(lines, "log_opened", {"previous": feed_lines(lines).head.to_dict()})[8]
    for behind, verdict in ((lines[6:], "recovered"), ([opening], "tampered")):
        write_lines(tmp_path, [*lines[:5], b"x\n", *behind])
        acknowledge(tmp_path, lines, 5)
        assert verify(tmp_path).verdict == verdict


def test_the_opening_of_another_log_behind_the_damage_is_no_later_writer(tmp_path: Path) -> None:
    """Pages that were not synced may hold what a deleted log left on the disk."""
    lines = make_lines(5)
    other = extend_log(make_lines(9), "log_opened", {})[9]
    write_lines(tmp_path, [*lines, b"x\n", other])
    acknowledge(tmp_path, lines, 5)
    assert verify(tmp_path).verdict == "recovered"


@pytest.mark.parametrize("tail", [b"x", b"\0" * 99, b"x\n", b"x\ny\n", b"x" * 70_000])
def test_after_the_acknowledged_end_any_damage_may_be_a_crash(tmp_path: Path, tail: bytes) -> None:
    """Pages that were not synced may hold anything."""
    lines = make_lines(5)
    write_lines(tmp_path, [*lines, tail])
    acknowledge(tmp_path, lines, 5)
    assert verify(tmp_path).verdict == "recovered"
    acknowledge(tmp_path, lines, 4)
    assert verify(tmp_path).verdict == "recovered"


def test_a_crash_makes_up_no_checkpoint(tmp_path: Path) -> None:
    """A wrong one is tampering, also after the acknowledged end."""
    lines = make_lines(5)
    acknowledged = lines
    for body in ({"note": "nonsense"}, {}):
        write_lines(tmp_path, extend_log(lines, "checkpoint", body))
        acknowledge(tmp_path, acknowledged, 5)
        assert verify(tmp_path).verdict == "tampered"


def test_damage_is_a_crash_in_the_last_segment_only(tmp_path: Path) -> None:
    """A writer begins another one only after the last is whole."""
    lines = make_lines(5)
    write_lines(tmp_path, [*lines, b"torn"])
    (tmp_path / "00000001.jsonl").write_bytes(b"".join(make_lines(2)))
    acknowledge(tmp_path, lines, 5)
    assert verify(tmp_path).verdict == "tampered"


async def test_a_line_that_is_just_being_written_is_no_damage(tmp_path: Path) -> None:
    """As long as somebody has the log."""
    log = await AuditLog.open(tmp_path, AuditSettings())
    with first_segment(tmp_path).open("ab") as file:
        file.write(b'{"v":1,"lo')
    report = verify(tmp_path)
    assert report.verdict == "consistent"
    assert report.notes == ("the last line is just being written",)
    await log.close()


async def test_verifying_while_it_is_written_raises_no_alarm(tmp_path: Path) -> None:
    """A reader needs no lock and sees a log that holds together."""
    log = await AuditLog.open(tmp_path, AuditSettings(segment_bytes=20_000))
    stop = False

    async def write() -> None:
        while not stop:
            for _ in range(20):
                log.append("dispatch", {"text": "y" * 300})
            await asyncio.sleep(0.005)

    writing = asyncio.create_task(write())
    for _ in range(8):
        report = await asyncio.to_thread(verify, tmp_path)
        assert report.verdict == "consistent", report
    stop = True
    await writing
    await log.close()


# Going on from a saved position


async def verify_since(path: Path, since: State) -> Any:
    return LogVerification(open_log(path), since=since).run()


async def test_the_end_of_a_verification_is_where_the_next_one_begins(tmp_path: Path) -> None:
    """Across segments, and when nothing is new."""
    await write_log(tmp_path, 20, SMALL)
    run = LogVerification(open_log(tmp_path))
    assert run.run().verdict == "consistent"
    assert run.end is not None
    assert run.end.head == read_state(tmp_path / "state").head
    again = await verify_since(tmp_path, run.end)
    assert (again.verdict, again.first) == ("consistent", again.size)
    await write_log(tmp_path, 40, SMALL)
    later = await verify_since(tmp_path, run.end)
    assert (later.verdict, later.first) == ("consistent", run.end.head.size)
    assert later.size == verify(tmp_path).size


async def test_damage_after_a_saved_position_is_found_and_before_it_is_not_looked_for(
    tmp_path: Path,
) -> None:
    """That is what saving time costs, and what the report says by its first record."""
    await write_log(tmp_path, 20, FAST)
    lines = first_segment(tmp_path).read_bytes().splitlines(keepends=True)
    offset = sum(map(len, lines[:10]))
    head = feed_lines(lines[:10]).head
    since = State(json.loads(lines[0])["log"], 0, offset, head)
    lines[15] = lines[15].replace(b"continue", b"CONTINUE")
    first_segment(tmp_path).write_bytes(b"".join(lines))
    assert locate(await verify_since(tmp_path, since)) == ("edit", 15)
    later = State(since.log, 0, since.offset + 1, since.head)
    assert locate(await verify_since(tmp_path, later))[1] == 10


async def test_a_log_that_was_cut_before_the_saved_position_is_found(tmp_path: Path) -> None:
    """It has become shorter since the auditor was here."""
    await write_log(tmp_path, 20)
    run = LogVerification(open_log(tmp_path))
    run.run()
    assert run.end is not None
    content = first_segment(tmp_path).read_bytes()
    first_segment(tmp_path).write_bytes(content[:1000])
    report = await verify_since(tmp_path, run.end)
    assert report.verdict == "tampered"
    assert "cut below the saved position" in report.finding.message


async def test_a_position_in_a_segment_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    """Nothing can be said, then, about what lies between."""
    await write_log(tmp_path, 5)
    state = read_state(tmp_path / "state")
    assert state is not None
    first_segment(tmp_path).rename(tmp_path / "00000005.jsonl")
    with pytest.raises(NotALog, match="where the saved position lies, is not there"):
        await verify_since(tmp_path, state)


async def test_a_position_of_another_log_is_a_wrong_log(tmp_path: Path) -> None:
    """The auditor mixed up two files, or somebody replaced the log."""
    await write_log(tmp_path / "one", 5)
    await write_log(tmp_path / "two", 5)
    run = LogVerification(open_log(tmp_path / "one"))
    run.run()
    assert run.end is not None
    await write_log(tmp_path / "two", 5)
    report = await verify_since(tmp_path / "two", run.end)
    assert report.verdict == "tampered"


async def test_a_state_that_claims_less_than_there_is_changes_nothing(tmp_path: Path) -> None:
    """A state may be a little old; the records after it still count."""
    await write_log(tmp_path, 20)
    lines = first_segment(tmp_path).read_bytes().splitlines(keepends=True)
    acknowledge(tmp_path, lines, 3)
    report = verify(tmp_path)
    assert (report.verdict, report.size) == ("consistent", len(lines))
    state = read_state(tmp_path / "state")
    assert state is not None
    write_state(tmp_path, State(state.log, 0, state.offset, feed_lines(make_lines(3)).head))
    assert locate(verify(tmp_path)) == ("fork", 3)


# Whose it is, and what the anchors know beside it


async def write_proven(path: Path, **options: Any) -> tuple[Path, list[Note]]:
    """A log in a folder `ann`, with its anchors."""
    anchors = path / "anchors"
    await write_log(path / "ann", 10, anchors=(anchor_to_file(anchors),), **options)
    return path / "ann", parse_notes(anchors.read_text())


@pytest.mark.usefixtures("nameless")
async def test_a_proven_log_without_a_name_says_so(tmp_path: Path) -> None:
    """And which session it was, if that is proven; one with a name needs no such note."""
    log, anchors = await write_proven(tmp_path / "nameless")
    nameless = "the log does not say whose it is; its first session is 's1'"
    assert verify(log, anchors=anchors).notes == (nameless,)
    assert verify(log, anchors=anchors[:1]).notes == ("the log does not say whose it is",)
    assert verify(log).notes == ()
    log, anchors = await write_proven(tmp_path / "named", name="ann")
    assert verify(log, anchors=anchors).notes == ()


async def write_two(path: Path) -> tuple[Path, list[Note]]:
    """Two logs with one key and one file of anchors; the second is in the place of the first."""
    anchors = path / "anchors"
    for name in ("mine", "yours"):
        await write_log(path / name, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    shutil.rmtree(path / "mine")
    (path / "yours").rename(path / "mine")
    return path / "mine", read_anchors([anchors], open_log(path / "mine"))


async def test_a_log_in_the_place_of_another_is_not_proven(tmp_path: Path) -> None:
    """Also if nobody gave them names: then they have those of their folders."""
    log, anchors = await write_two(tmp_path)
    report = verify(log, anchors=anchors, key=VERIFIER)
    assert (report.verdict, locate(report)) == ("consistent", ("wrong log", 0))
    assert report.finding is not None
    assert "the trail of 'yours' in a folder called 'mine'" in report.finding.message


@pytest.mark.usefixtures("nameless")
async def test_of_several_logs_without_names_none_is_proven_to_belong_here(tmp_path: Path) -> None:
    """Anchors of earlier versions do not tell them apart; a session that fits does."""
    log, anchors = await write_two(tmp_path)
    report = verify(log, anchors=anchors, key=VERIFIER)
    assert (report.verdict, locate(report)) == ("consistent", ("wrong log", 0))
    assert report.finding is not None
    assert "the anchors know other logs without one" in report.finding.message
    assert verify(log, anchors=anchors, key=VERIFIER, session="s1").verdict == "proven"


async def test_two_logs_of_folders_of_one_name_are_not_taken_for_one_another(
    tmp_path: Path,
) -> None:
    """The anchors know both."""
    anchors = tmp_path / "anchors"
    for parent in ("a", "b"):
        path = tmp_path / parent / "log"
        await write_log(path, 10, signer=SIGNER, anchors=(anchor_to_file(anchors),))
    notes = read_anchors([anchors], open_log(tmp_path / "a" / "log"))
    report = verify(tmp_path / "a" / "log", anchors=notes, key=VERIFIER)
    assert (report.verdict, locate(report)[0]) == ("consistent", "missing segment")


@pytest.mark.usefixtures("nameless")
async def test_a_doubt_takes_the_place_of_a_proof(tmp_path: Path) -> None:
    """The log holds together, but is not proven to be the one that was asked for."""
    log, anchors = await write_proven(tmp_path)
    report = verify(log, anchors=anchors, session="bob")
    assert (report.verdict, locate(report)) == ("consistent", ("wrong log", 0))
    assert report.finding is not None
    assert "says that this is the trail of 'bob'" in report.finding.message


@pytest.mark.usefixtures("nameless")
async def test_a_doubt_makes_no_crash_undone(tmp_path: Path) -> None:
    """What was found of the crash is kept beside it."""
    log, anchors = await write_proven(tmp_path)
    with first_segment(log).open("ab") as file:
        file.write(b'{"v":1')
    report = verify(log, anchors=anchors, session="bob")
    assert (report.verdict, locate(report)[0]) == ("recovered", "wrong log")
    assert "the end is torn, as a crash leaves it" in report.notes[-1]


@pytest.mark.usefixtures("nameless")
async def test_damage_counts_more_than_a_doubt(tmp_path: Path) -> None:
    """The finding is the damage, whoever's log it is."""
    log, anchors = await write_proven(tmp_path)
    lines = first_segment(log).read_bytes().splitlines(keepends=True)
    write_lines(log, lines[:-4])
    (log / "state").unlink()
    report = verify(log, anchors=anchors, session="bob")
    assert (report.verdict, locate(report)[0]) == ("tampered", "cut below anchor")


async def test_anchors_of_an_earlier_log_of_the_same_name_are_a_doubt(tmp_path: Path) -> None:
    """The newest of them says what is missing."""
    _, earlier = await write_proven(tmp_path / "one", name="ann")
    log, own = await write_proven(tmp_path / "two", name="ann")
    report = verify(log, anchors=[*earlier, *own])
    assert (report.verdict, locate(report)) == ("consistent", ("missing segment", 0))
    assert report.finding is not None
    last = max(note.checkpoint.size for note in earlier)
    assert f"{earlier[0].checkpoint.log!r} with {last} records" in report.finding.message


async def test_a_removal_that_only_an_unproven_record_announces_is_a_doubt(
    tmp_path: Path,
) -> None:
    """Anybody may have appended that record; one before the anchor is believed."""
    await write_log(tmp_path, 40, SMALL)
    run = LogVerification(open_log(tmp_path))
    run.run()
    assert run.end is not None
    chain = Chain(run.end.log, run.end.head)
    before = make_note(chain.log, chain.size, chain.tree.compute_root())
    line = chain.extend(make_source("segment_removed"), encode_body({"segment": 0}))
    after = make_note(chain.log, chain.size, chain.tree.compute_root())
    with open_log(tmp_path).paths[-1].open("ab") as file:
        file.write(line)
    first_segment(tmp_path).unlink()
    report = verify(tmp_path, anchors=[before])
    assert (report.verdict, locate(report)) == ("consistent", ("missing segment", 0))
    assert report.finding is not None
    assert "no proven record says that segment 00000000 was" in report.finding.message
    assert verify(tmp_path, anchors=[after]).verdict == "proven"


async def test_what_a_failed_writer_left_is_in_the_report(tmp_path: Path) -> None:
    """Its log is not called whole."""
    await write_log(tmp_path, 5)
    (tmp_path / "failed").write_text("a sync failed")
    report = verify(tmp_path)
    assert (report.verdict, report.failed) == ("recovered", "a sync failed")


async def test_an_empty_log_is_no_log_unless_an_anchor_knows_its_name(tmp_path: Path) -> None:
    """Without one it may be a writer that was killed at its first write."""
    log, anchors = await write_proven(tmp_path, name="ann")
    shutil.rmtree(log)
    write_lines(log, [])
    report = verify(log, anchors=anchors)
    assert (report.verdict, locate(report)) == ("tampered", ("cut below anchor", 0))
    strange = [make_note("ab", 3, bytes(32), None, "bob")]
    with pytest.raises(NotALog, match="there are no records"):
        verify(log, anchors=strange)
