"""The files below a place."""

from __future__ import annotations

import os
import threading

import pytest

from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.search import walk as walk_module
from amplifier_hooks.agent.tools.search.walk import Walk


def list_paths(place, skip=(), max_entries=1000, seconds=20.0):
    return [entry.path for entry in Walk(place, skip, max_entries, seconds)]


def test_every_file_is_met_once_in_order(tree, locate):
    """Directory by directory; what is to be skipped is not entered."""
    assert list_paths(locate("src")) == ["a.py", "deep/b.py", "deep/c.txt"]
    assert list_paths(locate("src"), skip=["deep"]) == ["a.py"]


def test_links_to_directories_are_not_followed(locate):
    """They may lead out, or in a circle."""
    found = list_paths(locate("."))
    assert "main.py" in found
    assert not [path for path in found if path.startswith("link/")]


def test_a_file_is_a_walk_of_one(locate):
    """Its path below itself is empty."""
    [entry] = Walk(locate("src/a.py"), (), 10, 20.0)
    assert (entry.path, entry.name) == ("", "a.py")


def test_a_file_can_be_opened_from_its_entry(locate):
    """Until the next step."""
    for entry in Walk(locate("src"), (), 10, 20.0):
        assert os.stat(entry.name, dir_fd=entry.parent).st_size > 0


def test_what_is_not_there_is_refused(locate):
    """As it was written."""
    with pytest.raises(Refused, match="No file or directory 'nowhere/x'"):
        list_paths(locate("nowhere/x"))


def test_a_walk_ends_at_its_limit_and_says_so(locate):
    """By files, by time, or because somebody wants it to."""
    walk = Walk(locate("."), (), 2, 20.0)
    assert len(list(walk)) == 2
    assert walk.unfinished == "stopped after 2 files"
    walk = Walk(locate("."), (), 1000, -1.0)
    assert list(walk) == []
    assert walk.unfinished == "stopped after -1 seconds"
    stop = threading.Event()
    walk = Walk(locate("."), (), 1000, 20.0, stop)
    for _ in walk:
        stop.set()
    assert walk.unfinished == "stopped after 20 seconds"


def test_a_walk_that_met_everything_says_nothing(locate):
    """There is nothing to add."""
    walk = Walk(locate("src"), (), 3, 20.0)
    assert len(list(walk)) == 3
    assert walk.unfinished is None


def test_a_deep_tree_has_a_bottom(tree, locate, monkeypatch):
    """Below a certain depth nobody looks."""
    monkeypatch.setattr(walk_module, "MAX_DEPTH", 1)
    assert list_paths(locate("src")) == ["a.py", "deep/b.py", "deep/c.txt"]
    assert [path for path in list_paths(locate(".")) if path.startswith("src/deep")] == []


async def test_a_very_deep_tree_comes_to_an_end(call, tree):
    """Hundreds of nested directories neither recurse nor run out of descriptors."""
    path = tree
    for _ in range(500):
        path = path / "d"
    path.mkdir(parents=True)
    assert (await call("Glob", pattern="**/*.py")).success
