"""Which files stand behind an entry, and whether they changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.mount_plan import read_entry
from amplifier_hooks.agent.session.reloading.watched_files import list_files, stamp_files
from tests.support.project import Project


def files_of(folder: Path, **entry: Any) -> list[str]:
    found = list_files(read_entry("hooks", {"module": "x", **entry}), folder)
    return [str(path.relative_to(folder)) for path in found]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "conf").mkdir()
    for name in ("rules.yaml", "conf/a.json", "conf/b.json", "script"):
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, []),
        ({"source": "own.py"}, ["own.py"]),
        ({"source": "git+https://host.invalid/repo"}, []),
        ({"config": {"file": "rules.yaml"}}, ["rules.yaml"]),
        ({"config": {"file": ["./rules.yaml"]}}, ["rules.yaml"]),
        ({"config": {"file": "gone.yaml", "n": 3}}, ["gone.yaml"]),
        ({"config": {"output": "rules.yaml"}}, []),
        ({"config": {"word": "script"}}, []),
        ({"config": {"command": "conf"}}, []),
        ({"config": {"settings": ["conf/*.json"]}}, ["conf/a.json", "conf/b.json"]),
        ({"config": {"files": ["conf/*.json"]}}, []),
        ({"config": {"settings": "rules.yaml"}}, ["rules.yaml"]),
        ({"config": {"odd": ["", "a" * 5000 + ".x", "nul\0.x", "~nobody-here/x.y", "/"]}}, []),
        ({"config": {"settings": ["[", "nul\0*", "/*/\0"]}}, []),
    ],
)
def test_the_source_and_the_files_that_options_name(
    folder: Path, entry: dict[str, Any], expected: list[str]
) -> None:
    """Rules and settings, by path or by pattern; other options may name the agent's own files."""
    assert sorted(files_of(folder, **entry)) == expected


def test_a_path_from_home_is_expanded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~/rules.yaml` is the person's own file."""
    monkeypatch.setenv("HOME", str(folder))
    assert files_of(folder, config={"file": "~/rules.yaml"}) == ["rules.yaml"]


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text(), max_size=3), max_size=4))
def test_no_option_can_break_the_search(config: dict[str, Any]) -> None:
    """Options hold whatever their module wants; looking for files in them never fails."""
    entry = read_entry("hooks", {"module": "x", "config": config})
    assert all(path.is_file() for path in list_files(entry, Path("/nowhere")))


@pytest.mark.parametrize("change", ["content", "touch", "delete", "replace", "nothing"])
def test_a_stamp_follows_the_file(folder: Path, change: str) -> None:
    """Written, touched, gone, or another file of the same size and time: it is not the same."""
    path = folder / "rules.yaml"
    before, stat = stamp_files([path]), path.stat()
    if change == "content":
        path.write_text("longer")
    elif change == "touch":
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    elif change == "delete":
        path.unlink()
    elif change == "replace":
        other = folder / "other"
        other.write_text("y")
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        other.replace(path)
    assert (stamp_files([path]) == before) is (change == "nothing")


def test_a_folder_stands_for_its_python_files(folder: Path) -> None:
    """A module that is a package changes with any of its files, and with nothing else in it."""
    (folder / "conf" / "deep").mkdir()
    part = folder / "conf" / "deep" / "part.py"
    before = stamp_files([folder / "conf"])
    (folder / "conf" / "notes.txt").write_text("x")
    assert stamp_files([folder / "conf"]) == before
    part.write_text("x = 1")
    assert stamp_files([folder / "conf"]) != before


def test_the_order_of_the_files_does_not_count(folder: Path) -> None:
    """Nor whether a file is named twice."""
    one, two = folder / "rules.yaml", folder / "script"
    assert stamp_files([one, two]) == stamp_files([two, one, two])


async def test_settings_files_that_a_pattern_finds_are_watched(project: Project) -> None:
    """Changing a hook file takes effect at the next turn, also one that was not there before."""
    hook = {"module": "hooks-shell", "config": {"settings": ["conf/*.json"]}}

    def settings(reason: str) -> str:
        command = f"echo {reason} >&2; exit 2"
        entry = {"hooks": [{"type": "command", "command": command}]}
        return json.dumps({"hooks": {"UserPromptSubmit": [entry]}})

    (project.folder / "conf").mkdir()
    async with project.dev_session(project.bundle(hooks=[hook])) as session:
        assert "closed" not in await session.execute("go")
        project.write("conf/one.json", settings("closed"))
        assert "closed" in await session.execute("go")
        project.write("conf/one.json", settings("shut"))
        assert "shut" in await session.execute("go")
