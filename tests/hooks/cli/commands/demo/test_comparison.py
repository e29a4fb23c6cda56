"""The files before and after, on disk and as the agent saw them."""

from __future__ import annotations

import json
from pathlib import Path

from amplifier_hooks.cli.commands.demo.report import (
    AFTER,
    PRODUCTION,
    SECRET,
    compare_files,
    write_files,
)


def test_each_file_stands_beside_what_became_of_it(tmp_path: Path) -> None:
    """Read back from the disk and from the transcript."""
    write_files(tmp_path / "project")
    (tmp_path / "project" / PRODUCTION).write_text(AFTER)
    read = "1 Deploys run at noon.\\n2 The bucket's key is [REDACTED:aws].\\n"
    (tmp_path / "transcript.json").write_text(json.dumps({"messages": [{"content": read}]}))
    before, after, disk, seen = [text for _, text in compare_files(tmp_path)]
    assert (before, after) == ("workers = 2", "workers = 4")
    assert disk == f"The bucket's key is {SECRET}."
    assert seen == "The bucket's key is [REDACTED:aws]."


def test_notes_that_nobody_read_are_said_to_be_unread(tmp_path: Path) -> None:
    """Nothing is claimed that was not seen."""
    write_files(tmp_path / "project")
    (tmp_path / "transcript.json").write_text("{}")
    assert compare_files(tmp_path)[-1] == ("notes.txt, as the agent saw it", "(not read)")
