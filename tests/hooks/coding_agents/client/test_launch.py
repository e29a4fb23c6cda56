"""launch.json, as clients read it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client.launch import read_launch
from tests.support.guests import write_launch_text


def test_it_says_what_to_start(folder: Path) -> None:
    """Command line, environment, and where HTTP is served."""
    write_launch_text(folder, '{"argv": ["/p", "-m", "x"], "env": {"A": "b"}, "http": {"port": 1}}')
    assert read_launch(os.fsencode(folder)) == (["/p", "-m", "x"], {"A": "b"}, {"port": 1})


@pytest.mark.parametrize(
    "text",
    [
        '"argv"',
        "{}",
        '{"argv": [], "env": {}}',
        '{"argv": ["/p", 1], "env": {}}',
        '{"argv": ["/p"], "env": {"A": 1}}',
        '{"argv": ["/p\\u0000"], "env": {}}',
        '{"argv": ["/p"]}',
    ],
)
def test_what_starts_nothing_is_refused(folder: Path, text: str) -> None:
    """The sentence names the file and what to do."""
    write_launch_text(folder, text)
    with pytest.raises(ValueError, match=r"launch\.json does not say .* install the guard again"):
        read_launch(os.fsencode(folder))


def test_only_a_plain_small_file_is_read(folder: Path) -> None:
    """A pipe would be waited for, and a huge file fill the memory."""
    os.mkfifo(folder / "launch.json")
    with pytest.raises(ValueError, match="not a small file"):
        read_launch(os.fsencode(folder))
    (folder / "launch.json").unlink()
    write_launch_text(folder, " " * 1_000_001)
    with pytest.raises(ValueError, match="not a small file"):
        read_launch(os.fsencode(folder))
    (folder / "launch.json").rename(folder / "real")
    (folder / "launch.json").symlink_to("real")
    with pytest.raises(ValueError, match="symbolic links"):
        read_launch(os.fsencode(folder))


def test_a_file_that_others_can_write_is_not_obeyed(folder: Path) -> None:
    """It names a program that would run as us."""
    write_launch_text(folder, '{"argv": ["/p"], "env": {}}')
    (folder / "launch.json").chmod(0o620)
    with pytest.raises(ValueError, match="somebody else can write"):
        read_launch(os.fsencode(folder))


@pytest.mark.parametrize(("text", "words"), [(None, "No such file"), ("{", "no JSON")])
def test_without_a_readable_file_it_says_what_to_do(
    folder: Path, text: str | None, words: str
) -> None:
    """The guard is to be installed again."""
    if text is not None:
        write_launch_text(folder, text)
    with pytest.raises(ValueError, match=rf"launch\.json.*{words}.*install the guard again"):
        read_launch(os.fsencode(folder))
