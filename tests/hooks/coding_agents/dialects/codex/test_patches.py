"""Patches of Codex CLI, one call for each file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.patches import parse_patch
from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import Data
from tests.hooks.coding_agents.dialects.recordings import read_recording

BODY = """*** Add File: src/new.py
+import os
+
*** Update File: /etc/app.conf
@@ [server]
 port = 1
-host = a
+host = b
*** Update File: old.py
*** Move to: moved.py
-x = 1
+x = 2
*** End of File
*** Delete File: ../gone.txt
"""
PATCH = f"*** Begin Patch\n{BODY}*** End Patch\n"


def find(tool: str, command: Any, **more: Any) -> tuple[Data, ...]:
    """What else a call does."""
    given = {"command": command}
    return read_recording("codex", "PreToolUse", tool_name=tool, tool_input=given, **more).also


def write(path: str, content: str) -> Data:
    """A call that writes a file."""
    return {"tool_name": "Write", "tool_input": {"file_path": path, "content": content}}


def edit(path: str, old: str, new: str) -> Data:
    """A call that changes a file."""
    given = {"file_path": path, "old_string": old, "new_string": new}
    return {"tool_name": "Edit", "tool_input": given}


PARTS = (
    write("/project/src/new.py", "import os\n\n"),
    edit("/etc/app.conf", "port = 1\nhost = a", "port = 1\nhost = b"),
    edit("/project/old.py", "x = 1", "x = 2"),
    write("/project/moved.py", "x = 2"),
    edit("/project/../gone.txt", "", ""),
)


def test_a_patch_is_a_call_for_each_file_that_it_touches() -> None:
    """Also for the one that a file is moved to, and for one that it deletes."""
    assert find("apply_patch", PATCH) == PARTS


def test_a_path_is_left_alone_where_the_folder_is_not_known() -> None:
    """A guess would be worse."""
    [part] = find("apply_patch", "*** Begin Patch\n*** Delete File: a\n*** End Patch", cwd=None)
    assert part == edit("a", "", "")


@pytest.mark.parametrize(
    "command",
    [
        f"<<'EOF'\n{PATCH}EOF\n",
        f"apply_patch <<EOF\n{PATCH}EOF",
        f"\n\n  {PATCH}\n",
        PATCH.replace("*** Add", "  *** Add"),
        PATCH.replace("Begin Patch", "Begin Patch  "),
    ],
)
def test_a_patch_is_read_wherever_the_program_reads_one(command: str) -> None:
    """It takes spaces and the words of a shell around it."""
    assert find("apply_patch", command) == PARTS


@pytest.mark.parametrize(
    "command",
    [
        "",
        "*** Begin Patch\n*** End Patch",
        BODY,
        f"*** Begin Patch\n{BODY}",
        f"*** End Patch\n{BODY}*** Begin Patch",
        f"{PATCH}{PATCH}",
        f"rm -rf x\n{PATCH}",
        "*** Begin Patch\n*** Add File:\n+x\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
        "*** Begin Patch\n*** Add File: safe\r+/../../secret\n+x\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\x0bc\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\n*** Move to: b\n*** End Patch",
        "*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** Move to:\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\n*** Rename File: b\n*** End Patch",
        "*** Begin Patch\n*** Update File: a\nx\n*** End Patch",
        "*** Begin Patch\n+x\n*** Add File: a\n+x\n*** End Patch",
        5,
        None,
        ["*** Begin Patch"],
    ],
)
def test_a_patch_that_cannot_be_read_is_not_let_through(command: Any) -> None:
    """Nobody could say which files it touches."""
    with pytest.raises(UnreadablePayload, match="patch"):
        find("apply_patch", command)


def test_only_a_line_feed_ends_a_line() -> None:
    """The program's parser knows no other end, but drops a carriage return before it."""
    lines = [
        "*** Begin Patch",
        "*** Add File: a",
        "+x\x0c*** Add File: b\u2028",
        "*** End Patch",
        "",
    ]
    assert find("apply_patch", "\r\n".join(lines)) == (
        write("/project/a", "x\x0c*** Add File: b\u2028\n"),
    )


@pytest.mark.parametrize(
    ("before", "folder"),
    [
        ("apply_patch <<'EOF'\n", "/project"),
        ("cd src && apply_patch <<'EOF'\n", "/project/src"),
        ("cd '/srv/a b'; applypatch <<'EOF'\n", "/srv/a b"),
        ("cd a && cd b && apply_patch <<'EOF'\n", "/project/a/b"),
        ("true; echo hi | apply_patch <<-EOF\n", "/project"),
    ],
)
def test_a_patch_in_a_shell_is_found_too(before: str, folder: str) -> None:
    """In the folder that the command changes to."""
    patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\nEOF"
    assert find("Bash", before + patch) == (write(f"{folder}/a.txt", "x\n"),)


def test_every_patch_of_a_command_is_found() -> None:
    """Not only the first."""
    one = "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE\n"
    assert find("Bash", one + one.replace("File: a", "File: b")) == (
        edit("/project/a", "", ""),
        edit("/project/b", "", ""),
    )


@pytest.mark.parametrize(
    "command",
    [
        "apply_patch '*** Begin Patch\n*** Add File: a'",
        "apply_patch <<E\n*** Begin Patch\nnonsense\n*** End Patch\nE",
        "apply_patch <<E\n*** Begin Patch\n*** Add File: $HOME/a\n+x\n*** End Patch\nE",
        "apply_patch <<E\n*** Begin Patch\n*** Add File: ~/a\n+x\n*** End Patch\nE",
        'cd "$(pwd)" && apply_patch <<E\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE',
    ],
)
def test_a_patch_in_a_shell_that_only_the_shell_can_read_is_not_let_through(command: str) -> None:
    """A path may be anything in there."""
    with pytest.raises(UnreadablePayload):
        find("Bash", command)


@pytest.mark.parametrize("command", ["ls", "grep 'Begin Patch' a", "apply_patch < p", "echo x"])
def test_any_other_command_is_only_a_command(command: str) -> None:
    """Guards for the shell judge it."""
    assert find("Bash", command) == ()


def test_a_picture_is_read_from_a_file() -> None:
    """A guard for Read knows nothing of that tool."""
    assert read_recording("codex", "PreToolUse.view_image").also == (
        {"tool_name": "Read", "tool_input": {"file_path": "/opt/tool"}},
    )
    with pytest.raises(UnreadablePayload, match="cannot be taken apart"):
        read_recording("codex", "PreToolUse.view_image", tool_input={})


@given(st.lists(st.sampled_from([*BODY.splitlines(), "", "x", " ", "***"]), max_size=12))
def test_a_patch_is_read_or_refused(lines: list[str]) -> None:
    """Every file that it names is among the changes."""
    try:
        changes = parse_patch(lines)
    except UnreadablePayload:
        return
    named = [line.split(": ", 1)[1] for line in lines if " File: " in line]
    assert [change.path for change in changes] == named


@given(st.text(max_size=60), st.sampled_from(["apply_patch", "Bash"]))
def test_no_text_can_break_the_parser(text: str, tool: str) -> None:
    """It is refused at most."""
    try:
        found = find(tool, f"apply_patch *** Begin Patch\n{text}\n*** End Patch")
    except UnreadablePayload:
        found = ()
    assert {part["tool_name"] for part in found} <= {"Write", "Edit"}
