"""Mounting the file tools."""

from __future__ import annotations

import asyncio
import os
import stat
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.hooks import HookRegistry
from amplifier_core.message_models import ToolCall
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder
from amplifier_core.tool_call import call_tool
from amplifier_hooks.agent.tools import filesystem
from amplifier_hooks.agent.tools.filesystem import FilesystemConfig, FileTool
from tests.support.waiting import wait_until


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


async def test_nothing_may_be_written_where_no_path_is_allowed(coordinator):
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


async def test_every_line_has_its_number(call, work, artifacts):
    """Whatever ends it; the event comes after a successful read."""
    (work / "a.txt").write_text("one\ntwo\r\n\nfour")
    result = await call("Read", file_path="a.txt")
    assert result.output == "     1\tone\n     2\ttwo\n     3\t\n     4\tfour"
    assert artifacts == [("artifact:read", str(work.resolve() / "a.txt"), 14)]


async def test_a_range_of_lines_can_be_asked_for(call, work):
    """What is left is said, and a range behind the end is refused."""
    (work / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 11)))
    result = await call("Read", file_path="a.txt", offset=3, limit=2)
    assert result.output.startswith("     3\t3\n     4\t4\n")
    assert "(10 lines; go on with offset 5)" in result.output
    result = await call("Read", file_path="a.txt", offset=9)
    assert result.output == "     9\t9\n    10\t10"
    result = await call("Read", file_path="a.txt", offset=11)
    assert result.error == "'a.txt' has 10 lines; offset 11 is behind"


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "(a is empty)"),
        # One byte does not make a text unreadable; a byte order mark is no text.
        (b"\xef\xbb\xbfcaf\xe9\n", "     1\tcaf\ufffd"),
        (b"\x89PNG\0\0", None),
    ],
    ids=["empty", "not UTF-8", "binary"],
)
async def test_any_file_is_shown_or_named(call, work, artifacts, data, shown):
    """Nothing is announced of a binary file, because nothing was shown."""
    (work / "a").write_bytes(data)
    result = await call("Read", file_path="a")
    assert result.output == shown or "'a' is a binary file of 6 bytes" in result.error
    assert bool(artifacts) == (shown is not None)


async def test_a_huge_file_a_huge_line_and_a_huge_answer_are_cut(coordinator, work):
    """And it is said."""
    await filesystem.mount(coordinator, {"max_bytes": 100_000, "max_output": 5000})
    with (work / "huge").open("wb") as file:
        file.truncate(50_000_000_000)
        file.write(b"line\n" * 30_000)
    (work / "wide").write_text("x" * 50_000)
    read = coordinator.tools["Read"]
    result = await read.execute({"file_path": "huge"})
    assert result.success
    assert len(result.output) < 6000
    assert "only the first 100,000 are looked at" in result.output
    result = await read.execute({"file_path": "huge", "offset": 90_000})
    assert "only the first 100,000 are looked at; offset 90000 is behind" in result.error
    result = await read.execute({"file_path": "wide"})
    assert "… (48000 more characters)" in result.output


async def test_the_end_of_what_is_looked_at_is_said(coordinator, work):
    """Nobody takes a part of a file for all of it."""
    await filesystem.mount(coordinator, {"max_bytes": 8})
    (work / "a").write_text("one\ntwo\nthree\n")
    result = await coordinator.tools["Read"].execute({"file_path": "a"})
    note = "(14 bytes, of which only the first 8 are looked at)"
    assert result.output == f"     1\tone\n     2\ttwo\n{note}"


async def test_at_least_one_line_is_shown(coordinator, work):
    """However small the answer must be; more lines than asked for are not."""
    await filesystem.mount(coordinator, {"max_output": 1, "max_lines": 2})
    (work / "a").write_text("one\ntwo\nthree\n")
    result = await coordinator.tools["Read"].execute({"file_path": "a"})
    assert result.output == "     1\tone\n(3 lines; go on with offset 2)"


async def test_one_passage_is_replaced_and_shown_in_its_surroundings(call, work, artifacts):
    """So that the agent need not read the file again."""
    (work / "a.py").write_text("".join(f"line {n}\n" for n in range(1, 20)))
    result = await call("Edit", file_path="a.py", old_string="line 10\n", new_string="ten\n")
    assert (work / "a.py").read_text().splitlines()[9] == "ten"
    shown = result.output.splitlines()
    assert shown[0] == f"Edited {work.resolve()}/a.py: 1 replacement."
    assert shown[1:] == [f"{n:>6}\t{'ten' if n == 10 else f'line {n}'}" for n in range(7, 17)]
    result = await call("Edit", file_path="a.py", old_string="line 19", new_string="last")
    assert result.output.endswith("    19\tlast")
    assert [event for event, _, _ in artifacts] == ["artifact:write"] * 2


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("nothing", "x", "not found"),
        ("b  c", "x", "line 2 has the same words with other white space"),
        ("a", "x", "found 3 times (lines 1, 3, 3)"),
        ("a", "a", "the same"),
        ("", "x", "use Write"),
        ("   \t", "x", "only white space"),
    ],
)
async def test_an_edit_that_cannot_be_made_says_why_and_changes_nothing(
    call, work, old, new, word, artifacts
):
    """Nor is anything announced."""
    (work / "a.txt").write_text("a\nb c\na, a\n")
    result = await call("Edit", file_path="a.txt", old_string=old, new_string=new)
    assert word in result.error
    assert (work / "a.txt").read_text() == "a\nb c\na, a\n"
    assert artifacts == []


async def test_all_occurrences_are_replaced_when_asked_for(call, work):
    """And counted."""
    (work / "a.txt").write_text("a a a")
    result = await call("Edit", file_path="a.txt", old_string="a", new_string="b", replace_all=True)
    assert (work / "a.txt").read_text() == "b b b"
    assert "3 replacements" in result.output


@pytest.mark.parametrize(("old", "new"), [("one\ntwo", "1\n2"), ("one", "1\n1.5")])
async def test_a_file_keeps_its_line_ends(call, work, old, new):
    """A file with carriage returns keeps them everywhere."""
    (work / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    result = await call("Edit", file_path="a.txt", old_string=old, new_string=new)
    assert result.success
    data = (work / "a.txt").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")


async def test_what_is_not_utf_8_is_not_damaged(call, work):
    """Bytes that would not survive are left alone."""
    (work / "a").write_bytes(b"caf\xe9 one")
    result = await call("Edit", file_path="a", old_string="one", new_string="two")
    assert "'a' is not UTF-8" in result.error
    assert "editing would damage it" in result.error
    assert (work / "a").read_bytes() == b"caf\xe9 one"


async def test_a_byte_order_mark_stays(call, work):
    """What was not asked for does not change."""
    (work / "a").write_bytes(b"\xef\xbb\xbfone")
    await call("Edit", file_path="a", old_string="one", new_string="two")
    assert (work / "a").read_bytes() == b"\xef\xbb\xbftwo"


async def test_a_file_over_the_limit_is_not_edited(coordinator, work):
    """A part of it would be lost."""
    await filesystem.mount(coordinator, {"max_bytes": 100})
    (work / "large").write_text("line\n" * 100)
    result = await coordinator.tools["Edit"].execute(
        {"file_path": "large", "old_string": "line", "new_string": "x"}
    )
    assert "'large' has 500 bytes, over the limit of 100; change it with Bash" in result.error


async def test_parallel_edits_lose_nothing(call, work):
    """Parallel calls of one reply all take effect."""
    (work / "a").write_text("".join(f"<{n}>" for n in range(40)))
    edits = (
        call("Edit", file_path="a", old_string=f"<{n}>", new_string=f"[{n}]") for n in range(40)
    )
    results = await asyncio.gather(*edits)
    assert all(result.success for result in results)
    assert (work / "a").read_text() == "".join(f"[{n}]" for n in range(40))


async def test_several_edits_are_made_in_order(call, work, artifacts):
    """Each sees the result of the one before; the file is written once."""
    (work / "a").write_text("one two two")
    edits = [
        {"old_string": "one", "new_string": "1"},
        {"old_string": "1 two", "new_string": "1 2"},
        {"old_string": "two", "new_string": "3"},
    ]
    result = await call("MultiEdit", file_path="a", edits=edits)
    assert (work / "a").read_text() == "1 2 3"
    assert "3 replacements" in result.output
    assert len(artifacts) == 1


async def test_several_edits_are_made_all_or_none(call, work, artifacts):
    """One that cannot be made leaves the file as it was, and is named."""
    (work / "a").write_text("one two")
    edits = [
        {"old_string": "one", "new_string": "1"},
        {"old_string": "three", "new_string": "3"},
    ]
    result = await call("MultiEdit", file_path="a", edits=edits)
    assert result.error.startswith("Edit 2 of 2: old_string was not found")
    assert result.error.endswith("nothing was changed")
    assert (work / "a").read_text() == "one two"
    assert artifacts == []


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


async def test_four_tools_are_mounted_and_taken_away_again(coordinator):
    """Also twice."""
    unmount = await filesystem.mount(coordinator, {})
    assert sorted(coordinator.tools) == ["Edit", "MultiEdit", "Read", "Write"]
    await unmount()
    await unmount()
    assert coordinator.tools == {}


async def test_a_bundle_may_want_some_of_them(coordinator):
    """A name that is none says so, and so does a wrong option."""
    await filesystem.mount(coordinator, {"tools": ["Read"]})
    assert list(coordinator.tools) == ["Read"]
    with pytest.raises(ModuleLoadError, match="tool-filesystem: Unknown tool 'Wirte'; have"):
        await filesystem.mount(coordinator, {"tools": ["Wirte"]})
    with pytest.raises(ModuleLoadError, match="option 'roots' cannot be 7"):
        await filesystem.mount(coordinator, {"roots": 7})


async def test_schemas_are_plain_and_described(coordinator):
    """A model can use a tool from its description and schema alone."""
    await filesystem.mount(coordinator, None)
    for tool in coordinator.tools.values():
        schema = tool.input_schema
        assert schema["type"] == "object"
        assert "file_path" in schema["required"]
        assert schema["additionalProperties"] is False
        assert "$ref" not in str(schema)
        assert all("description" in field for field in schema["properties"].values())
        assert len(tool.description) > 80
    edits = coordinator.tools["MultiEdit"].input_schema["properties"]["edits"]
    assert set(edits["items"]["required"]) == {"old_string", "new_string"}


@pytest.mark.parametrize(
    ("name", "given", "word"),
    [
        ("Read", {}, "'file_path' is required"),
        ("Read", {"path": "x"}, "did you mean 'file_path'?"),
        ("Read", {"file_path": 7}, "'file_path' cannot be 7"),
        ("Read", {"file_path": "x", "offset": 0}, "greater than or equal to 1"),
        ("Read", {"file_path": ""}, "empty"),
        ("Read", {"file_path": "a\0b"}, "NUL"),
        ("Read", {"file_path": "."}, "is a directory"),
        ("Write", {"file_path": ".", "content": "x"}, "is a directory"),
        ("Write", {"file_path": "x", "content": "\ud800"}, "cannot be UTF-8"),
        ("MultiEdit", {"file_path": "x", "edits": []}, "'edits' cannot be []"),
    ],
)
async def test_a_wrong_input_is_one_sentence(call, name, given, word):
    """It fails the call and raises nothing."""
    result = await call(name, **given)
    assert not result.success
    assert word in result.error
    assert "\n" not in result.error


async def test_a_coordinator_of_the_ecosystem_can_mount_them(work):
    """It has capabilities, mount points and a registry; more is not needed."""

    class Older:
        def __init__(self):
            self.hooks = HookRegistry()
            self.tools = {}

        def get_capability(self, name):
            return str(work)

        async def mount(self, point, module, name=None):
            self.tools[name] = module

    seen = EventRecorder()
    older: Any = Older()
    older.hooks.register("artifact:write", seen)
    await filesystem.mount(older, None)
    assert (await older.tools["Write"].execute({"file_path": "a", "content": "x"})).success
    assert seen.names == ["artifact:write"]


async def test_a_tool_works_on_the_input_that_hooks_left(coordinator, work, artifacts):
    """A hook may send it to another file; that one is read, written and announced."""

    async def elsewhere(event, data):
        given = {**data["tool_input"], "file_path": "other.txt"}
        return HookResult(action="modify", data={**data, "tool_input": given})

    await filesystem.mount(coordinator, None)
    coordinator.hooks.register("tool:pre", elsewhere)
    edits = [{"old_string": "one", "new_string": "two"}]
    (work / "other.txt").write_text("one")
    call = ToolCall(id="1", name="MultiEdit", arguments={"file_path": "a.txt", "edits": edits})
    assert (await call_tool(coordinator, call)).success
    assert (work / "other.txt").read_text() == "two"
    assert not (work / "a.txt").exists()
    assert artifacts == [("artifact:write", str(work.resolve() / "other.txt"), 3)]
