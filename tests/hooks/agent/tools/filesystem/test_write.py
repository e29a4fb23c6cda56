"""Write puts a whole file in its place."""

from __future__ import annotations

import asyncio
import stat

from amplifier_core.models import HookResult
from tests.support.waiting import wait_until


async def test_a_new_file_gets_the_directories_it_needs(call, work, artifacts):
    """It is announced with its size in bytes, and nothing else is left there."""
    result = await call("Write", file_path="new/dir/a.txt", content="grüße\n")
    path = work / "new" / "dir" / "a.txt"
    assert path.read_text() == "grüße\n"
    assert result.output == f"Created {path.resolve()} (8 bytes)"
    assert artifacts == [("artifact:write", str(path.resolve()), 8)]
    assert [entry.name for entry in path.parent.iterdir()] == ["a.txt"]


async def test_a_file_is_replaced_in_one_step_and_keeps_its_mode(call, work):
    """Whoever has the old file open keeps all of it."""
    path = work / "run.sh"
    path.write_text("old")
    path.chmod(0o750)
    with path.open() as before:
        result = await call("Write", file_path=str(path), content="new")
        assert before.read() == "old"
    assert result.output.startswith("Replaced")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


async def test_a_read_only_file_is_left_alone(call, work):
    """The mode of a file is meant, also for the superuser."""
    path = work / "a"
    path.write_text("old")
    path.chmod(0o444)
    result = await call("Write", file_path="a", content="new")
    assert "read-only" in result.error
    assert path.read_text() == "old"


async def test_a_link_that_stays_inside_is_followed(call, work):
    """It keeps being one, and its target is written."""
    (work / "real.txt").write_text("old")
    (work / "link.txt").symlink_to("real.txt")
    await call("Write", file_path="link.txt", content="new")
    assert (work / "link.txt").is_symlink()
    assert (work / "real.txt").read_text() == "new"


async def test_a_hook_hears_of_a_write_and_is_answered(call, coordinator):
    """It can no longer stop it, but it can tell the person something."""

    async def comment(event, data):
        return HookResult(action="deny", reason="too late", user_message=f"{data['bytes']} bytes")

    coordinator.hooks.register("artifact:write", comment, name="commentator")
    assert (await call("Write", file_path="a", content="x")).success
    assert ("1 bytes", "info", "hook:commentator") in coordinator.screen.messages


async def test_a_name_may_have_a_line_end(call, work):
    """The answer is one line all the same."""
    result = await call("Write", file_path="a\nb", content="x")
    assert result.output == f"Created {work.resolve()}/a\\nb (1 bytes)"


async def test_a_cancelled_write_is_whole_or_not_there(call, work):
    """Whenever a call is cancelled, the file is the old one or the new one."""
    (work / "a").write_text("old" * 100_000)
    for step in range(20):
        task = asyncio.create_task(call("Write", file_path="a", content="new" * 100_000))
        await asyncio.sleep(step * 0.0005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert (work / "a").read_text() in {"old" * 100_000, "new" * 100_000}
    await wait_until(lambda: [entry.name for entry in work.iterdir()] == ["a"], timeout=20)
