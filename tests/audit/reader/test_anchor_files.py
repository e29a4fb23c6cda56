"""Files of checkpoints that were kept outside a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit.anchor_files import read_anchors, read_checkpoints
from amplifier_audit.checkpoint import make_note
from amplifier_audit.errors import BadCheckpoint
from amplifier_audit.log_directory import open_log
from amplifier_audit.verification import verify
from tests.audit.support import SIGNER, locate, make_anchor, make_lines, write_lines


def test_all_checkpoints_of_a_file_are_read_in_order(tmp_path: Path) -> None:
    """As the anchors appended them."""
    notes = [make_note("ab", size, bytes(32), SIGNER) for size in (1, 2, 3)]
    (tmp_path / "anchors").write_text("\n".join(note.text for note in notes))
    assert read_checkpoints(tmp_path / "anchors") == notes
    assert read_checkpoints(str(tmp_path / "anchors")) == notes


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "holds no checkpoint"),
        (b"\n\n", "holds no checkpoint"),
        (b"\xff\xfe", "it is not text"),
        (b"hello", "begins with 'hello'"),
    ],
)
def test_a_file_without_checkpoints_is_one_sentence(
    tmp_path: Path, content: bytes, word: str
) -> None:
    """Whoever names a file as an anchor expects something of it."""
    (tmp_path / "anchors").write_bytes(content)
    with pytest.raises(BadCheckpoint, match=word):
        read_checkpoints(tmp_path / "anchors")


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """With the reason that the system gives."""
    with pytest.raises(BadCheckpoint, match="No such file"):
        read_checkpoints(tmp_path / "none")


def test_a_file_may_serve_several_logs(tmp_path: Path) -> None:
    """Only the checkpoints of this log are its anchors; that there are others makes a doubt."""
    one, two = make_lines(10), make_lines(10)
    notes = [make_anchor(one, 4), make_anchor(two, 9), make_anchor(one, 8)]
    (tmp_path / "anchors").write_text("\n".join(note.text for note in notes))
    (tmp_path / "more").write_text(make_anchor(one, 10).text)
    log = open_log(write_lines(tmp_path / "log", one))
    found = read_anchors([tmp_path / "anchors", tmp_path / "more"], log)
    assert [note.checkpoint.size for note in found] == [4, 9, 8, 10]
    report = verify(tmp_path / "log", anchors=found)
    assert (report.proven_to, report.verdict) == (10, "consistent")
    assert verify(tmp_path / "log", anchors=[found[0], *found[2:]]).verdict == "proven"


def test_anchors_of_other_logs_only_are_not_dropped(tmp_path: Path) -> None:
    """Else a replaced log would pass for one without anchors."""
    (tmp_path / "anchors").write_text(make_anchor(make_lines(10), 4).text)
    log = open_log(write_lines(tmp_path / "log", make_lines(10)))
    found = read_anchors([tmp_path / "anchors"], log)
    assert len(found) == 1
    assert locate(verify(tmp_path / "log", anchors=found))[0] == "wrong log"


def test_anchors_of_a_log_whose_first_line_is_damaged_are_kept(tmp_path: Path) -> None:
    """Which log it is, then, only the anchors say."""
    (tmp_path / "anchors").write_text(make_anchor(make_lines(10), 4).text)
    log = open_log(write_lines(tmp_path / "log", [b"damaged\n"]))
    assert len(read_anchors([tmp_path / "anchors"], log)) == 1


def test_no_files_are_no_anchors(tmp_path: Path) -> None:
    """Then nothing can be proven."""
    log = open_log(write_lines(tmp_path, make_lines(3)))
    assert read_anchors([], log) == []
