"""Roots, protection and limits, as all file tools have them."""

from __future__ import annotations

import asyncio
import os

import pytest

from amplifier_hooks.agent.tools import filesystem
from amplifier_hooks.agent.tools.filesystem.file_tool import FilesystemConfig, FileTool


def make_tool(coordinator, **config):
    return FileTool(coordinator, FilesystemConfig(**config))


async def test_configured_roots_replace_the_working_directory(coordinator, work, tmp_path):
    """Relative ones start at the working directory, and that is none of them by itself."""
    (work / "in").mkdir()
    (tmp_path / "other").mkdir()
    await filesystem.mount(coordinator, {"roots": ["in", str(tmp_path / "other")]})
    write = coordinator.tools["Write"]
    assert (await write.execute({"file_path": "in/a", "content": "x"})).success
    assert (await write.execute({"file_path": str(tmp_path / "other/a"), "content": "x"})).success
    refused = await write.execute({"file_path": "a", "content": "x"})
    assert "outside the allowed directories" in refused.error


async def test_a_root_that_is_not_there_is_said_at_the_call(coordinator, tmp_path):
    """It may be made in the meantime."""
    await filesystem.mount(coordinator, {"roots": [str(tmp_path / "nowhere")]})
    given = {"file_path": str(tmp_path / "nowhere/a"), "content": "x"}
    result = await coordinator.tools["Write"].execute(given)
    assert "nowhere" in result.error


@pytest.mark.parametrize(
    "path", [".amplifier/bundle.yaml", ".Amplifier/x/y", "sub/../.amplifier/z"]
)
async def test_the_agents_own_settings_are_protected(call, work, path):
    """No tool may write what configures the tools; case and detours do not matter."""
    result = await call("Write", file_path=path, content="x")
    assert "protected by the pattern '.amplifier/'" in result.error
    assert not (work / ".amplifier").exists()


async def test_protection_holds_through_a_link(call, work):
    """A link to a protected place is that place."""
    (work / ".amplifier").mkdir()
    (work / "harmless").symlink_to(".amplifier")
    result = await call("Write", file_path="harmless/bundle.yaml", content="x")
    assert "protected" in result.error
    assert list((work / ".amplifier").iterdir()) == []


async def test_protection_counts_from_the_root(coordinator, tmp_path):
    """A session may work below a directory that is called like a protected one."""
    root = tmp_path / ".amplifier" / "work"
    root.mkdir(parents=True)
    await filesystem.mount(coordinator, {"roots": [str(root)]})
    given = {"file_path": str(root / "a"), "content": "x"}
    assert (await coordinator.tools["Write"].execute(given)).success


async def test_what_is_protected_can_still_be_read(call, work):
    """The agent may know its settings."""
    (work / ".amplifier").mkdir()
    (work / ".amplifier" / "bundle.yaml").write_text("a: 1\n")
    assert (await call("Read", file_path=".amplifier/bundle.yaml")).output == "     1\ta: 1"


@pytest.mark.parametrize("kind", ["pipe", "device"])
async def test_what_never_ends_is_not_opened(coordinator, work, kind):
    """A pipe without a writer or an endless device cannot hang a call."""
    await filesystem.mount(coordinator, {"roots": [str(work), "/dev"]})
    path = work / "pipe" if kind == "pipe" else "/dev/zero"
    if kind == "pipe":
        os.mkfifo(path)
    for name, more in [("Read", {}), ("Write", {"content": "x"})]:
        tool = coordinator.tools[name]
        result = await asyncio.wait_for(tool.execute({"file_path": str(path), **more}), 5)
        assert "not an ordinary file" in result.error


def test_a_line_has_its_number_and_an_end(coordinator):
    """A tab parts them; of a long line the beginning is shown."""
    tool = make_tool(coordinator, max_line_length=5)
    assert tool._number("abcde", 7) == "     7\tabcde"
    assert tool._number("abcdefgh", 1234567) == "1234567\tabcde… (3 more characters)"


async def test_less_may_be_written_than_read(coordinator, work, tmp_path):
    """`allowed_write_paths` counts instead of the roots, also where these do not reach."""
    (work / "in").mkdir()
    (work / "a").write_text("old\n")
    await filesystem.mount(coordinator, {"allowed_write_paths": ["in", str(tmp_path / "other")]})
    (tmp_path / "other").mkdir()
    tools = coordinator.tools
    for path in ("in/a", str(tmp_path / "other/a")):
        assert (await tools["Write"].execute({"file_path": path, "content": "x"})).success
    assert (await tools["Read"].execute({"file_path": "a"})).success
    change = {"old_string": "old", "new_string": "new"}
    for name, given in (("Write", {"content": "x"}), ("Edit", change)):
        refused = await tools[name].execute({"file_path": "a", **given})
        assert "outside the allowed directories" in refused.error
    assert (work / "a").read_text() == "old\n"


async def test_nothing_may_be_written_where_no_path_is_allowed(coordinator, work):
    """An empty list is a list."""
    await filesystem.mount(coordinator, {"allowed_write_paths": []})
    refused = await coordinator.tools["Write"].execute({"file_path": "a", "content": "x"})
    assert "outside the allowed directories []" in refused.error


async def test_relative_paths_may_start_elsewhere(coordinator, work):
    """`working_dir`, itself relative to the session's; what lies above it is outside."""
    (work / "sub").mkdir()
    await filesystem.mount(coordinator, {"working_dir": "sub"})
    write = coordinator.tools["Write"]
    assert (await write.execute({"file_path": "a", "content": "x"})).success
    assert (work / "sub" / "a").exists()
    assert not (await write.execute({"file_path": "../a", "content": "x"})).success
