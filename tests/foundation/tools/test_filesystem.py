"""Read, Write, Edit and MultiEdit on real files."""

from __future__ import annotations

import asyncio
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.hooks import HookRegistry
from amplifier_core.interfaces import Tool
from amplifier_core.message_models import ToolCall
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder
from amplifier_core.tool_call import call_tool
from amplifier_foundation.tools import filesystem
from amplifier_foundation.tools.base import Refused
from amplifier_foundation.tools.edits import apply_edit
from amplifier_foundation.tools.roots import Roots
from amplifier_foundation.tools.textfile import load_whole, replace


@pytest.fixture
async def call(coordinator):
    """Calls a tool by its name."""
    await filesystem.mount(coordinator, None)

    async def execute(name, **given):
        return await coordinator.tools[name].execute(given)

    return execute


async def test_four_tools_are_mounted_and_taken_away_again(coordinator):
    """mount returns what undoes it."""
    unmount = await filesystem.mount(coordinator, {})
    assert sorted(coordinator.tools) == ["Edit", "MultiEdit", "Read", "Write"]
    assert all(isinstance(tool, Tool) for tool in coordinator.tools.values())
    await unmount()
    await unmount()
    assert coordinator.tools == {}


async def test_config_may_select_a_subset(coordinator):
    """`tools` names the wanted ones; a name that is none says so."""
    await filesystem.mount(coordinator, {"tools": ["Read"]})
    assert list(coordinator.tools) == ["Read"]
    with pytest.raises(ModuleLoadError, match="Unknown tool 'Wirte'; have"):
        await filesystem.mount(coordinator, {"tools": ["Wirte"]})


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
async def test_a_wrong_input_is_a_sentence(call, name, given, word):
    """A refused or failed input is a failed result, never an exception."""
    result = await call(name, **given)
    assert not result.success
    assert word in result.error
    assert "\n" not in result.error


# Read


async def test_read_numbers_the_lines(call, work, artifacts):
    """Line numbers in Read; artifact:read after a successful read."""
    (work / "a.txt").write_text("one\ntwo\r\n\nfour")
    result = await call("Read", file_path="a.txt")
    assert result.output == "     1\tone\n     2\ttwo\n     3\t\n     4\tfour"
    assert artifacts == [("artifact:read", str(work.resolve() / "a.txt"), 14)]


async def test_read_takes_a_range_of_lines(call, work):
    """offset and limit; what is left is said."""
    (work / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 11)))
    result = await call("Read", file_path="a.txt", offset=3, limit=2)
    assert result.output.startswith("     3\t3\n     4\t4\n")
    assert "go on with offset 5" in result.output
    result = await call("Read", file_path="a.txt", offset=9)
    assert result.output == "     9\t9\n    10\t10"
    result = await call("Read", file_path="a.txt", offset=11)
    assert "has 10 lines" in result.error


async def test_read_says_what_is_no_text(call, work, artifacts):
    """Binary files are a sentence; nothing is announced."""
    (work / "a.bin").write_bytes(b"\x89PNG\0\0")
    result = await call("Read", file_path="a.bin")
    assert "binary file of 6 bytes" in result.error
    assert artifacts == []


async def test_read_says_that_a_file_is_empty(call, work):
    """An empty file is not an error."""
    (work / "a").touch()
    assert "is empty" in (await call("Read", file_path="a")).output


async def test_read_shows_what_is_not_utf_8(call, work):
    """A byte that is no text is shown as such."""
    (work / "a").write_bytes(b"\xef\xbb\xbfcaf\xe9\n")
    assert (await call("Read", file_path="a")).output == "     1\tcaf\ufffd"


async def test_read_is_bounded(coordinator, work):
    """A huge file, a huge line and a huge result are cut, and it is said."""
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
    result = await read.execute({"file_path": "wide"})
    assert "… (48000 more characters)" in result.output
    result = await coordinator.tools["Edit"].execute(
        {"file_path": "huge", "old_string": "line", "new_string": "x"}
    )
    assert "over the limit of 100,000" in result.error


async def test_a_missing_file_names_the_nearest(call, work):
    """What would do is said."""
    (work / "report.md").touch()
    result = await call("Read", file_path="reprot.md")
    assert result.error.startswith("No file 'reprot.md'; did you mean")
    assert "report.md" in result.error
    assert "No file" in (await call("Read", file_path="no/such/dir/x")).error


@pytest.mark.parametrize("kind", ["pipe", "device"])
async def test_what_never_ends_is_not_read(coordinator, work, kind):
    """A pipe without a writer or an endless device cannot hang a call."""
    await filesystem.mount(coordinator, {"roots": [str(work), "/dev"]})
    path = work / "pipe" if kind == "pipe" else "/dev/zero"
    if kind == "pipe":
        os.mkfifo(path)
    for name, more in [("Read", {}), ("Write", {"content": "x"})]:
        tool = coordinator.tools[name]
        result = await asyncio.wait_for(tool.execute({"file_path": str(path), **more}), 5)
        assert "no ordinary file" in result.error


# Write


async def test_write_creates_the_file_and_its_directories(call, work, artifacts):
    """Write creates; artifact:write after a successful write."""
    result = await call("Write", file_path="new/dir/a.txt", content="grüße\n")
    path = work / "new" / "dir" / "a.txt"
    assert path.read_text() == "grüße\n"
    assert result.output == f"Created {path.resolve()} (8 bytes)"
    assert artifacts == [("artifact:write", str(path.resolve()), 8)]
    assert [entry.name for entry in path.parent.iterdir()] == ["a.txt"]


async def test_write_replaces_in_one_step_and_keeps_the_mode(call, work):
    """Atomic: whoever has the old file open keeps it whole; the mode stays."""
    path = work / "run.sh"
    path.write_text("old")
    path.chmod(0o750)
    with path.open() as before:
        result = await call("Write", file_path=str(path), content="new")
        assert before.read() == "old"
    assert result.output.startswith("Replaced")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750


async def test_write_leaves_a_read_only_file_alone(call, work):
    """The mode of a file is meant, also for the superuser."""
    path = work / "a"
    path.write_text("old")
    path.chmod(0o444)
    result = await call("Write", file_path="a", content="new")
    assert "read-only" in result.error
    assert path.read_text() == "old"


async def test_write_goes_through_a_link_that_stays_inside(call, work):
    """A link inside the roots keeps being one; its target is written."""
    (work / "real.txt").write_text("old")
    (work / "link.txt").symlink_to("real.txt")
    await call("Write", file_path="link.txt", content="new")
    assert (work / "link.txt").is_symlink()
    assert (work / "real.txt").read_text() == "new"


async def test_a_hook_hears_of_a_write_and_is_answered(call, coordinator):
    """What a hook answers to artifact:write is carried out by the coordinator."""

    async def comment(event, data):
        return HookResult(action="deny", reason="too late", user_message=f"{data['bytes']} bytes")

    coordinator.hooks.register("artifact:write", comment, name="commentator")
    assert (await call("Write", file_path="a", content="x")).success
    assert ("1 bytes", "info", "hook:commentator") in coordinator.screen.messages


async def test_an_older_coordinator_hears_through_its_registry(work):
    """A coordinator of the ecosystem has hooks, but no `notify`."""

    class Older:
        def __init__(self):
            self.hooks = HookRegistry()
            self.tools = {}

        def get_capability(self, name):
            return str(work)

        async def mount(self, point, module, name=None):
            self.tools[name] = module

    older, seen = Older(), EventRecorder()
    older.hooks.register("artifact:write", seen)
    await filesystem.mount(older, None)
    assert (await older.tools["Write"].execute({"file_path": "a", "content": "x"})).success
    assert seen.names == ["artifact:write"]


async def test_a_call_on_the_one_path_runs_the_input_that_hooks_left(coordinator, work):
    """tool:pre may rewrite the path; the tool reads, writes and announces the new one."""

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


@pytest.mark.parametrize(
    "path", [".amplifier/bundle.yaml", ".Amplifier/x/y", "sub/../.amplifier/z"]
)
async def test_the_agents_own_settings_are_protected(call, work, path):
    """T19: configuration is outside what a tool may write."""
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


async def test_a_cancelled_write_is_whole_or_not_there(call, work):
    """Whenever a call is cancelled, the file is the old one or the new one."""
    (work / "a").write_text("old" * 100_000)
    for step in range(20):
        task = asyncio.create_task(call("Write", file_path="a", content="new" * 100_000))
        await asyncio.sleep(step * 0.0005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert (work / "a").read_text() in {"old" * 100_000, "new" * 100_000}
    await asyncio.sleep(0.1)
    assert [entry.name for entry in work.iterdir()] == ["a"]


async def test_protection_counts_from_the_root(coordinator, tmp_path):
    """A session may work below a directory that is called like a protected one."""
    root = tmp_path / ".amplifier" / "work"
    root.mkdir(parents=True)
    await filesystem.mount(coordinator, {"roots": [str(root)]})
    given = {"file_path": str(root / "a"), "content": "x"}
    assert (await coordinator.tools["Write"].execute(given)).success


# Edit


async def test_edit_replaces_the_one_passage(call, work, artifacts):
    """An exact match is replaced; the answer shows it in its surroundings."""
    (work / "a.py").write_text("".join(f"line {n}\n" for n in range(1, 20)))
    result = await call("Edit", file_path="a.py", old_string="line 10\n", new_string="ten\n")
    assert (work / "a.py").read_text().splitlines()[9] == "ten"
    assert "1 replacement" in result.output
    assert "    10\tten" in result.output
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
async def test_edit_says_why_it_did_nothing(call, work, old, new, word, artifacts):
    """Not found and found N times say so."""
    (work / "a.txt").write_text("a\nb c\na, a\n")
    result = await call("Edit", file_path="a.txt", old_string=old, new_string=new)
    assert word in result.error
    assert (work / "a.txt").read_text() == "a\nb c\na, a\n"
    assert artifacts == []


async def test_edit_replaces_all_when_asked(call, work):
    """replace_all."""
    (work / "a.txt").write_text("a a a")
    result = await call("Edit", file_path="a.txt", old_string="a", new_string="b", replace_all=True)
    assert (work / "a.txt").read_text() == "b b b"
    assert "3 replacements" in result.output


@pytest.mark.parametrize(("old", "new"), [("one\ntwo", "1\n2"), ("one", "1\n1.5")])
async def test_edit_keeps_the_line_ends_of_the_file(call, work, old, new):
    """A file with carriage returns keeps them everywhere."""
    (work / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    result = await call("Edit", file_path="a.txt", old_string=old, new_string=new)
    assert result.success
    data = (work / "a.txt").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")


async def test_edit_does_not_damage_what_is_not_utf_8(call, work):
    """Bytes that would not survive are left alone."""
    (work / "a").write_bytes(b"caf\xe9 one")
    result = await call("Edit", file_path="a", old_string="one", new_string="two")
    assert "not UTF-8" in result.error
    assert (work / "a").read_bytes() == b"caf\xe9 one"


async def test_edit_keeps_a_byte_order_mark(call, work):
    """What was not asked for does not change."""
    (work / "a").write_bytes(b"\xef\xbb\xbfone")
    await call("Edit", file_path="a", old_string="one", new_string="two")
    assert (work / "a").read_bytes() == b"\xef\xbb\xbftwo"


async def test_parallel_edits_lose_nothing(call, work):
    """Parallel calls of one reply all take effect."""
    (work / "a").write_text("".join(f"<{n}>" for n in range(40)))
    edits = (
        call("Edit", file_path="a", old_string=f"<{n}>", new_string=f"[{n}]") for n in range(40)
    )
    results = await asyncio.gather(*edits)
    assert all(result.success for result in results)
    assert (work / "a").read_text() == "".join(f"[{n}]" for n in range(40))


def test_a_file_that_another_program_changed_is_not_overwritten(work):
    """An edit replaces the file that it read, and no other."""
    place = Roots(work.resolve(), (work.resolve(),)).locate("a")
    (work / "a").write_text("old")
    seen = load_whole(place, 100)
    (work / "a").write_text("changed by another")
    with pytest.raises(Refused, match="changed while it was being edited"):
        replace(place, b"new", seen)
    (work / "a").unlink()
    with pytest.raises(Refused, match="changed while it was being edited"):
        replace(place, b"new", seen)
    assert list(work.iterdir()) == []


# MultiEdit


async def test_multi_edit_applies_in_order(call, work, artifacts):
    """Each edit sees the result of the one before."""
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


async def test_multi_edit_is_all_or_nothing(call, work, artifacts):
    """One edit that cannot be made leaves the file as it was."""
    (work / "a").write_text("one two")
    edits = [
        {"old_string": "one", "new_string": "1"},
        {"old_string": "three", "new_string": "3"},
    ]
    result = await call("MultiEdit", file_path="a", edits=edits)
    assert result.error.startswith("Edit 2 of 2: old_string was not found")
    assert (work / "a").read_text() == "one two"
    assert artifacts == []


PIECES = st.text("ab\n\r", min_size=1, max_size=6)


@given(st.text("ab\n\r", max_size=30), PIECES, PIECES)
def test_an_edit_is_str_replace_or_a_refusal(text, old, new):
    """Without carriage returns an edit is exactly one replacement."""
    text, old, new = (part.replace("\r", "") for part in (text, old, new))
    try:
        edited = apply_edit(text, old, new, replace_all=False)
    except Refused:
        assert text.count(old) != 1 or not old or old == new
    else:
        assert edited.text == text.replace(old, new)
        assert text.count(old) == 1
