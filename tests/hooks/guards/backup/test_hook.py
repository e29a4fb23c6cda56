"""hooks-backup: what is about to be overwritten is copied."""

from __future__ import annotations

import asyncio
import os

import pytest

from amplifier_hooks.guards.backup import (
    list_backups,
)
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS
from tests.support.harness import Harness, finish


@pytest.mark.parametrize("tool", sorted(EDITING_TOOLS))
async def test_a_file_is_copied_before_it_is_overwritten(before, work, kept, tool):
    """Whichever tool overwrites it."""
    (work / "a.py").write_bytes(b"old\r\n\xff")
    (work / "a.py").chmod(0o751)
    result = await before("a.py", tool)
    assert result.action == "continue"
    assert result.user_message is None
    [made] = list_backups(kept)
    assert (made.path, made.size, made.mode, made.tool) == (str(work / "a.py"), 6, 0o751, tool)
    assert made.session_id == "s-1"
    assert (kept / made.id / "content").read_bytes() == b"old\r\n\xff"


@pytest.mark.parametrize(
    ("path", "tool"),
    [("new.py", "Write"), ("a", "Read"), ("a", "Bash"), ("", "Write"), ("a\0", "Write")],
)
async def test_what_overwrites_nothing_is_no_concern(before, work, kept, path, tool):
    """New files, other tools and paths that the tool will refuse are passed over in silence."""
    (work / "a").write_text("old")
    result = await before(path, tool)
    assert result.action == "continue"
    assert result.user_message is None
    assert list_backups(kept) == []


async def test_odd_calls_pass(work):
    """Whatever is in the event, the call goes on."""
    harness = Harness(work)
    unmount = await harness.mount("backup")
    for data in (
        {},
        {"tool_name": "Write"},
        {"tool_name": "Write", "tool_input": {"file_path": 7}},
    ):
        assert (await harness.hooks.emit("tool:pre", data)).action == "continue"
    await finish(unmount)
    assert harness.hooks.list_handlers() == {}


@pytest.mark.parametrize(
    ("prepare", "path", "config", "word"),
    [
        (lambda work: (work / "a").write_text("x" * 50), "a", {"max_file_bytes": 10}, "50 bytes"),
        (lambda work: (work / "a").mkdir(), "a", {}, "not an ordinary file"),
        (lambda work: os.mkfifo(work / "a"), "a", {}, "not an ordinary file"),
        (lambda work: (work / "a").symlink_to("../secret"), "a", {}, "outside"),
        (lambda work: None, "../secret", {}, "outside"),
        (lambda work: (work / "a").write_text("x"), "a", {"directory": "a/b"}, "a"),
        (lambda work: (work / "kept").symlink_to(".."), "b", {"directory": "kept"}, "leads out"),
    ],
)
async def test_a_copy_that_cannot_be_made_is_said_and_blocks_nothing(
    before, work, prepare, path, config, word
):
    """Never blocks the call, and says so when a backup could not be made."""
    (work / "b").write_text("old")
    prepare(work)
    result = await asyncio.wait_for(before(path, config=config), 10)
    assert result.action == "continue"
    assert result.user_message_level == "warning"
    assert result.user_message.startswith("No backup of ")
    assert word in result.user_message
    assert not list(work.parent.glob("*/*T*Z-*"))
