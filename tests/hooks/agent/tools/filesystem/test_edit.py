"""Edit and MultiEdit replace passages of a file."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.agent.tools import filesystem


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
    assert "not UTF-8" in result.error
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
    assert "has 500 bytes, over the limit of 100" in result.error


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
