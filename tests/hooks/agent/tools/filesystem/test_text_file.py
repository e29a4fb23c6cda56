"""A text file on disk: read within limits, replaced in one step."""

from __future__ import annotations

import gc
import stat
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.filesystem import (
    Replaced,
    get_lock,
    load,
    load_whole,
    replace,
    replace_passage,
)

PIECES = st.text("ab\n\r", min_size=1, max_size=6)


@given(st.text("ab\n\r", max_size=30), PIECES, PIECES)
def test_an_edit_is_one_replacement_or_a_refusal(text: str, old: str, new: str) -> None:
    """Without carriage returns it is exactly what `str.replace` does."""
    text, old, new = (part.replace("\r", "") for part in (text, old, new))
    try:
        replaced = replace_passage(text, old, new, replace_all=False)
    except Refused:
        assert text.count(old) != 1 or not old or old == new
    else:
        assert replaced.text == text.replace(old, new)
        assert text.count(old) == 1


@given(st.text("ab\n\r", max_size=30), PIECES, PIECES)
def test_a_file_with_carriage_returns_stays_one(text: str, old: str, new: str) -> None:
    """Where every line of it ends in both, and the passage is written with line feeds."""
    text = text.replace("\r", "").replace("\n", "\r\n")
    old, new = old.replace("\r", ""), new.replace("\r", "")
    try:
        replaced = replace_passage(text, old, new, replace_all=True)
    except Refused:
        return
    if "\r\n" in text:
        assert replaced.text.count("\n") == replaced.text.count("\r\n")


@pytest.mark.parametrize(
    ("text", "old", "new", "replace_all", "replaced"),
    [
        # All occurrences are counted, the line of the first one from 1.
        ("a\nb\nb\n", "b", "c", True, Replaced("a\nc\nc\n", 2, 2)),
        # In a file that has both kinds of line ends a bare line feed is taken literally.
        ("a\nb\r\nc", "a\nb", "x\ny", False, Replaced("x\ny\r\nc", 1, 1)),
        # A line feed at the beginning stands for the whole end of the line before.
        ("a\r\nb\r\nc", "\nb", "", False, Replaced("a\r\nc", 1, 1)),
        # Occurrences are listed up to a limit.
        (
            "a\n" * 12,
            "a",
            "b",
            False,
            r"found 12 times \(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …\)",
        ),
        # Line numbers of Read are the usual mistake.
        ("one\n", "     1\tone", "two", False, "copy the passage exactly, without line numbers"),
    ],
)
def test_a_passage_is_replaced_or_refused_with_advice(
    text: str, old: str, new: str, replace_all: bool, replaced: Replaced | str
) -> None:
    """With its place."""
    if isinstance(replaced, Replaced):
        assert replace_passage(text, old, new, replace_all=replace_all) == replaced
        return
    with pytest.raises(Refused, match=replaced):
        replace_passage(text, old, new, replace_all=replace_all)


def test_a_file_is_loaded_up_to_a_limit(work, locate):
    """Whether that is all of it is known."""
    (work / "a").write_text("12345")
    part, whole = load(locate("a"), 3), load(locate("a"), 5)
    assert (part.data, part.complete) == (b"123", False)
    assert (whole.data, whole.complete) == (b"12345", True)


def test_a_missing_file_comes_with_the_nearest_name(work, locate):
    """Or with the directory that is missing, too."""
    (work / "report.md").touch()
    with pytest.raises(Refused, match=r"No file 'reprot.md'; did you mean '.*/report\.md'\?"):
        load(locate("reprot.md"), 100)
    with pytest.raises(Refused, match=r"^No file 'something else'$"):
        load(locate("something else"), 100)
    with pytest.raises(Refused, match=r"the directory '.*/no/such' cannot be listed"):
        load(locate("no/such/x"), 100)


def test_replacing_says_whether_the_file_is_new(work, locate):
    """And keeps the mode of one that is not."""
    assert replace(locate("sub/a"), b"one") is True
    (work / "sub/a").chmod(0o640)
    assert replace(locate("sub/a"), b"two") is False
    assert (work / "sub/a").read_bytes() == b"two"
    assert stat.S_IMODE((work / "sub/a").stat().st_mode) == 0o640


@pytest.mark.parametrize("kind", ["directory", "link", "read-only"])
def test_only_an_ordinary_file_that_may_be_written_is_replaced(work, locate, kind):
    """A link cannot have been there when the path was resolved."""
    place, path = locate("a"), work / "a"
    if kind == "directory":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("b")
    else:
        path.write_text("old")
        path.chmod(0o444)
    words = {
        "directory": "is a directory",
        "link": "not an ordinary file",
        "read-only": "read-only",
    }
    with pytest.raises(Refused, match=words[kind]):
        replace(place, b"new")
    assert [entry.name for entry in work.iterdir()] == ["a"]


def test_a_file_that_another_program_changed_is_not_overwritten(work, locate):
    """An edit replaces the file that it read, and no other."""
    place = locate("a")
    (work / "a").write_text("old")
    seen = load_whole(place, 100)
    (work / "a").write_text("changed by another")
    with pytest.raises(Refused, match="changed while it was being edited"):
        replace(place, b"new", seen)
    (work / "a").unlink()
    with pytest.raises(Refused, match="changed while it was being edited"):
        replace(place, b"new", seen)
    assert list(work.iterdir()) == []


def test_a_file_has_one_lock_however_it_was_named(work, locate):
    """As long as somebody holds it."""
    (work / "link").symlink_to("a")
    lock = get_lock(locate("a"))
    assert get_lock(locate("./a")) is lock
    assert get_lock(locate("link")) is lock
    assert get_lock(locate("b")) is not lock


def test_a_lock_that_nobody_holds_is_forgotten(work, locate):
    """A long session does not keep one for every file that it ever wrote."""
    forgotten = weakref.ref(get_lock(locate("a")))
    gc.collect()
    assert forgotten() is None
