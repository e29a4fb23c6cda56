"""Which files stand behind an entry, and whether they changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import ORCHESTRATOR_COMPLETE, TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.mount_plan import read_entry
from amplifier_hooks.agent.session.watched_files import OwnEdits, Stamp, list_files, stamp_files
from amplifier_hooks.agent.tools.todo import mount
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


class Wall:
    """A wall that ends the processes of these tools."""

    def __init__(self, *tools: str) -> None:
        self.tools = tools

    def ends_processes_of(self, tool: str) -> bool:
        return tool in self.tools


class Watched:
    """A session whose files change when `now` does."""

    def __init__(self, wall: Wall | None = None) -> None:
        self.now = 0
        self.host = SessionCoordinator(config={}, session_id="s")
        self.host.hooks.set_default_fields(session_id="s")
        if wall is not None:
            self.host.register_capability("session.wall", wall)
        self.edits = OwnEdits(self.host, self._stamp)
        self.edits.watch()

    def _stamp(self) -> Stamp:
        return (("file", self.now, 0, 0, 0),)

    async def tell(self, event: str, tool: str = "Todo", call: str = "1", **more: Any) -> None:
        data = {"tool_name": tool, "tool_input": {}, "tool_call_id": call, **more}
        await self.host.hooks.emit(event, data)


@pytest.fixture
async def watched() -> Watched:
    """A session with one tool of ours."""
    found = Watched(Wall("Bash"))
    await mount(found.host, {})
    return found


async def test_an_edit_between_calls_is_the_persons(watched: Watched) -> None:
    """Before the first, between two, and after the last."""
    for _ in range(2):
        watched.now += 1
        await watched.tell(TOOL_PRE)
        await watched.tell(TOOL_POST)
    watched.now += 1
    assert watched.edits.are_all


@pytest.mark.parametrize("end", [TOOL_POST, TOOL_ERROR])
async def test_an_edit_during_a_call_is_a_tools(watched: Watched, end: str) -> None:
    """Until the changes are in use, whoever made them."""
    await watched.tell(TOOL_PRE)
    assert not watched.edits.are_all
    watched.now += 1
    await watched.tell(end, error={"type": "x", "message": "y"})
    assert not watched.edits.are_all
    watched.edits.forget()
    assert watched.edits.are_all


async def test_calls_at_once_are_one_time(watched: Watched) -> None:
    """The last to end counts, and two sessions may use the same ids."""
    await watched.tell(TOOL_PRE, call="1")
    await watched.tell(TOOL_PRE, call="1", session_id="child")
    await watched.tell(TOOL_POST, call="1")
    assert not watched.edits.are_all
    watched.now += 1
    await watched.tell(TOOL_POST, call="1", session_id="child")
    assert not watched.edits.are_all


async def test_a_call_that_never_told_of_its_end_is_over_with_the_turn(watched: Watched) -> None:
    """One that a person refused, for instance; a child's turn is not the end."""
    await watched.tell(TOOL_PRE)
    await watched.tell(ORCHESTRATOR_COMPLETE, session_id="child")
    assert not watched.edits.are_all
    await watched.tell(ORCHESTRATOR_COMPLETE)
    assert watched.edits.are_all
    await watched.tell(TOOL_PRE)
    watched.now += 1
    await watched.edits.settle()
    assert not watched.edits.are_all


@pytest.mark.parametrize(
    ("tool", "wall", "trusted"),
    [
        ("Todo", None, True),
        ("Bash", Wall("Bash"), True),
        ("Bash", Wall(), False),
        ("Bash", None, False),
        ("Mine", Wall("Bash"), False),
        ("Mine", Wall("Mine"), True),
    ],
)
async def test_a_tool_that_may_leave_a_process_behind_ends_it(
    tool: str, wall: Wall | None, trusted: bool
) -> None:
    """From then on nobody can say who made an edit."""
    watched = Watched(wall)
    await mount(watched.host, {})
    await watched.tell(TOOL_PRE, tool)
    await watched.tell(TOOL_POST, tool)
    assert watched.edits.are_all is trusted
