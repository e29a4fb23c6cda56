"""No edit of a trail leads to a verdict about something that did not happen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from amplifier_audit.encoding import encode_body, encode_source
from amplifier_audit.log_directory import AuditDirectory
from amplifier_audit.record import Chain
from amplifier_audit.report import Report, find_exit_code
from amplifier_audit.verification import verify
from tests.audit.forgery import TYPES, Scene, find_end, find_lies, make_scene, run_cases
from tests.audit.support import (
    SIGNER,
    VERIFIER,
    acknowledge,
    first_segment,
    locate,
    run_program,
    write_log,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return make_scene(tmp_path_factory.mktemp("scene"))


@pytest.fixture
def scene(made: Scene, tmp_path: Path) -> Scene:
    """A copy, to be damaged."""
    made.copy_to(tmp_path / "copy")
    return Scene(tmp_path / "copy", made.lines, made.first, made.notes)


def append_forged(path: Path, type: str, body: dict[str, object]) -> None:
    """A record with right hashes, which no signature covers."""
    end = find_end(path)
    assert end is not None
    last = AuditDirectory(path).list_segments()[-1]
    source = encode_source(type, "ann", 1, None, None, None)
    with AuditDirectory(path).segment_path(last).open("ab") as file:
        file.write(Chain(end[0], end[1]).extend(source, encode_body(body)))


def test_an_untouched_trail_is_proven_to_its_last_record(scene: Scene) -> None:
    """By its own anchors, also where those of other sessions lie in the same file."""
    own = [n for n in scene.notes if n.checkpoint.name == "ann"]
    for anchors, key in ((own, VERIFIER), (own, None)):
        report = verify(scene.root / "ann", anchors=anchors, key=key, session="ann")
        assert (report.verdict, report.unproven, report.name) == ("proven", 0, "ann")
        assert find_exit_code(report, complete=True) == 0


def test_a_forged_removal_excuses_no_missing_segment(scene: Scene) -> None:
    """Segments deleted, and one unsigned line that says they were to be."""
    path = scene.root / "ann"
    first_segment(path).unlink()
    append_forged(path, "segment_removed", {"segment": 0})
    own = [n for n in scene.notes if n.checkpoint.name == "ann"]
    report = verify(path, anchors=own, key=VERIFIER)
    assert (report.verdict, locate(report)[0]) == ("tampered", "missing segment")
    assert report.finding is not None
    assert "no signed record says" in report.finding.message
    # Without a key nobody can tell it from a removal that no anchor has seen yet.
    report = verify(path, anchors=own)
    assert (report.verdict, locate(report)[0]) == ("consistent", "missing segment")


@pytest.mark.parametrize("type", [t for t in TYPES if t not in ("broken", "recovered")])
def test_records_behind_the_last_signature_are_counted_as_unproven(scene: Scene, type: str) -> None:
    """Of any type; the exit code can tell, if it is asked to."""
    path = scene.root / "ann"
    append_forged(path, type, {"mark": "forged"})
    own = [n for n in scene.notes if n.checkpoint.name == "ann"]
    report = verify(path, anchors=own, key=VERIFIER)
    if report.verdict == "proven":
        assert report.unproven == 1
        assert (find_exit_code(report), find_exit_code(report, complete=True)) == (0, 3)
    else:
        assert type in ("checkpoint", "sealed", "log_opened")


def test_the_files_of_another_session_are_not_proven(scene: Scene) -> None:
    """Every hash and every signature is right; the name is not."""
    shutil.rmtree(scene.root / "ann")
    shutil.copytree(scene.root / "bob", scene.root / "ann")
    others = [n for n in scene.notes if n.checkpoint.name == "bob"]
    told = verify(scene.root / "ann", anchors=others, key=VERIFIER, session="ann")
    assert (told.verdict, locate(told)[0]) == ("tampered", "wrong log")
    report = verify(scene.root / "ann", anchors=others, key=VERIFIER)
    assert (report.verdict, locate(report)[0], report.name) == ("consistent", "wrong log", "bob")
    copied = verify(scene.root / "ann", anchors=others, key=VERIFIER, session="bob")
    assert copied.verdict == "proven"


def test_a_trail_that_was_deleted_and_begun_anew_is_not_proven(scene: Scene) -> None:
    """The anchors know another log of the same name."""
    other = make_scene(scene.root / "again")
    own = [n for n in [*scene.notes, *other.notes] if n.checkpoint.name == "ann"]
    report = verify(scene.root / "again" / "ann", anchors=own, key=VERIFIER)
    assert report.verdict == "consistent"
    assert report.finding is not None
    assert "know another log of 'ann'" in report.finding.message


@pytest.mark.parametrize("left", ["state", "sealed", "failed"])
def test_a_trail_whose_segments_are_all_gone_is_tampered_with(scene: Scene, left: str) -> None:
    """As long as anything is there that only a writer leaves."""
    path = scene.root / "ann"
    (path / "failed").write_text("a sync failed")
    for one in path.iterdir():
        if one.name != left:
            shutil.rmtree(one) if one.is_dir() else one.unlink()
    report = verify(path)
    assert (report.verdict, locate(report)) == ("tampered", ("missing segment", 0))


@pytest.mark.parametrize("keep_state", [True, False])
def test_a_changed_first_byte_is_tampering(scene: Scene, keep_state: bool) -> None:
    """With and without what the writer left beside the segments; one file alone as well."""
    path = scene.root / "ann"
    content = first_segment(path).read_bytes()
    first_segment(path).write_bytes(b"x" + content[1:])
    if not keep_state:
        (path / "state").unlink()
        shutil.rmtree(path / "sealed")
    for place in (path, first_segment(path)):
        report = verify(place)
        assert (report.verdict, locate(report)) == ("tampered", ("edit", 0))


def test_an_emptied_trail_is_tampered_with_where_an_anchor_knows_its_name(scene: Scene) -> None:
    """Without one it may be a writer that was killed at its first write."""
    path = scene.root / "ann"
    shutil.rmtree(path)
    path.mkdir()
    first_segment(path).touch()
    report = verify(path, anchors=[n for n in scene.notes if n.checkpoint.name == "ann"])
    assert (report.verdict, locate(report)) == ("tampered", ("cut below anchor", 0))


async def test_a_state_written_anew_does_not_turn_an_edit_into_a_crash(tmp_path: Path) -> None:
    """A later writer would have cut the damage off before it went on behind it."""
    for _ in range(2):
        await write_log(tmp_path, 5, signer=SIGNER)
    lines = first_segment(tmp_path).read_bytes().splitlines(keepends=True)
    acknowledge(tmp_path, lines, 3)
    edited = [*lines[:3], lines[3].replace(b"continue", b"CONTINUE"), *lines[4:]]
    first_segment(tmp_path).write_bytes(b"".join(edited))
    report = verify(tmp_path, key=VERIFIER)
    assert (report.verdict, locate(report)) == ("tampered", ("edit", 3))


def test_what_a_failed_writer_left_is_reported(scene: Scene) -> None:
    """The trail ends there, whatever happened afterwards."""
    (scene.root / "ann" / "failed").write_text("00000000.jsonl is gone")
    own = [n for n in scene.notes if n.checkpoint.name == "ann"]
    report = verify(scene.root / "ann", anchors=own, key=VERIFIER)
    assert (report.verdict, report.failed) == ("recovered", "00000000.jsonl is gone")
    assert report.proven_to is not None


# Everything, one by one


def list_files(path: Path) -> list[Path]:
    return sorted(one for one in path.rglob("*") if one.is_file())


def check_truth(scene: Scene) -> Report:
    """The verdict with all proofs; nothing that it claims may be untrue."""
    path = scene.root / "ann"
    own = [n for n in scene.notes if n.checkpoint.name == "ann"]
    report = verify(path, anchors=own, key=VERIFIER, session="ann")
    assert find_lies(report, scene, path) == []
    return report


@pytest.mark.parametrize("keep_state", [True, False])
def test_cut_at_any_line_a_trail_is_not_proven_to_be_whole(scene: Scene, keep_state: bool) -> None:
    """The anchors know how long it was; each line of each segment, with the state and without."""
    path = scene.root / "ann"
    if not keep_state:
        (path / "state").unlink()
    for segment in sorted(path.glob("*.jsonl")):
        content = segment.read_bytes()
        lines = content.splitlines(keepends=True)
        for count in range(len(lines)):
            segment.write_bytes(b"".join(lines[:count]))
            report = check_truth(scene)
            # The last record holds the last checkpoint, which the anchor has as well.
            assert report.verdict == "tampered" or count == len(lines) - 1
        segment.write_bytes(content)
    assert check_truth(scene).verdict == "proven"


@pytest.mark.parametrize("place", [0, -1])
def test_a_changed_first_or_last_byte_of_any_file_is_never_proven(scene: Scene, place: int) -> None:
    """Of a segment it is tampering; the state and the seals are no proof, and may be lost."""
    for path in list_files(scene.root / "ann"):
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        path.write_bytes(bytes(content))
        report = check_truth(scene)
        if path.suffix == ".jsonl":
            assert report.verdict in ("tampered", "recovered"), path
        content[place] ^= 1
        path.write_bytes(bytes(content))


def check_subsets(scene: Scene, work: Path, step: int) -> None:
    """Delete subsets of all files, every `step`-th of them."""
    files = [path.relative_to(scene.root) for path in list_files(scene.root / "ann")]
    for chosen in range(1, 1 << len(files), step):
        scene.copy_to(work)
        for number, path in enumerate(files):
            if chosen >> number & 1:
                (work / path).unlink()
        copy = Scene(work, scene.lines, scene.first, scene.notes)
        if any((work / "ann").glob("*.jsonl")):
            report = check_truth(copy)
            lost = any(chosen >> n & 1 for n, path in enumerate(files) if path.suffix == ".jsonl")
            assert report.verdict == "tampered" or not lost


def test_deleting_some_subsets_of_files_is_found(scene: Scene, tmp_path: Path) -> None:
    """Whatever is missing, nothing untrue is said; a missing segment is tampering."""
    count = 1 << len(list_files(scene.root / "ann"))
    check_subsets(scene, tmp_path / "work", count // 40 | 1)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_deleting_any_subset_of_files_is_found(scene: Scene, tmp_path: Path) -> None:
    """All of them."""
    check_subsets(scene, tmp_path / "work", 1)


def test_random_attacks_lead_to_no_lie(tmp_path: Path) -> None:
    """Many of them: `python -m tests.audit.forgery --cases 100000`."""
    counts, lies = run_cases(tmp_path, 30, 4)
    assert lies == []
    assert len(counts) > 12


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_twenty_thousand_random_attacks_lead_to_no_lie() -> None:
    """One to four attacks each, judged in ten ways."""
    result = run_program("forgery", "--cases", "20000", "--seed", "7", timeout=7000)
    assert (result["cases"], result["problems"]) == (20_000, [])
