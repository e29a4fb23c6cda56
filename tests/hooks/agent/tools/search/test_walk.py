"""The files below a place."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amplifier_hooks.agent.tools.search_walk as scan_module
from amplifier_hooks.agent.tools import search_walk as walk_module
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.search_walk import Request, Walk, make_finder, require_glob, scan

LIMITS: dict[str, Any] = {
    "max_results": 10,
    "max_bytes": 10_000,
    "max_files": 100,
    "seconds": 20,
    "skip": [".git"],
    "engine": "re2",
}
JOB = """
import amplifier_hooks.agent.tools.search_walk as scan
scan.GRACE = 1
scan.main()
"""


def make_request(pattern: str, **more: Any) -> Request:
    return Request(pattern=pattern, **{**LIMITS, **more})


def run_apart(code: str, folder: Path, **request: Any) -> subprocess.CompletedProcess[str]:
    job = {"asked": ".", "root": str(folder), "parts": [], "request": {**LIMITS, **request}}
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        input=json.dumps(job),
        text=True,
        timeout=50,
        check=False,
        capture_output=True,
    )


def test_a_report_has_the_lines_and_the_files_that_were_shown(tree, locate):
    """With the size of each, for the event."""
    report = scan(locate("src"), make_request("^def", mode="content"))
    assert report.lines == [f"{tree}/src/a.py:1:def a():", f"{tree}/src/deep/b.py:1:def b():"]
    assert report.shown == [(f"{tree}/src/a.py", 18), (f"{tree}/src/deep/b.py", 18)]
    assert report.notes == []


@pytest.mark.parametrize("mode", ["files_with_matches", "count"])
def test_a_file_that_is_only_named_or_counted_was_not_shown(locate, mode):
    """Nothing of its text gets out."""
    report = scan(locate("src"), make_request("^def", mode=mode))
    assert len(report.lines) == 2
    assert report.shown == []


def test_a_single_file_can_be_looked_through(tree, locate):
    """A glob is compared with its name."""
    place = locate("src/deep/c.txt")
    assert scan(place, make_request("line")).lines == [f"{tree}/src/deep/c.txt"]
    assert scan(place, make_request("line", glob="*.txt")).lines
    assert not scan(place, make_request("line", glob="*.py")).lines


def test_a_full_answer_ends_the_scan(locate):
    """What did not fit is not announced either."""
    report = scan(locate("."), make_request("main", mode="content", max_results=1))
    assert len(report.lines) == len(report.shown) == 1
    assert report.notes == ["only the first 1 results are shown"]


def test_what_is_too_large_is_left_out_and_counted(tree, locate):
    """It is not even read."""
    with (tree / "huge").open("wb") as file:
        file.truncate(100_000_000_000)
    report = scan(locate("."), make_request("main"))
    assert report.notes == ["1 files over 10,000 bytes were left out"]


def test_what_is_no_text_or_cannot_be_read_is_passed_over(tree, locate):
    """A null byte makes a file binary; a link is not followed."""
    report = scan(locate("."), make_request("def main|secret", skip=[".git", ".amplifier"]))
    assert report.lines == [f"{tree}/main.py", f"{tree}/node_modules/m.py"]


def test_a_scan_that_is_told_to_stop_says_so(locate):
    """With what it has so far."""
    stop = threading.Event()
    stop.set()
    report = scan(locate("."), make_request("main"), stop)
    assert (report.lines, report.notes) == ([], ["stopped after 20 seconds"])


def test_a_long_line_is_cut(tree, locate):
    """A file without line ends does not fill the answer."""
    (tree / "wide.txt").write_text("x" * 5000)
    [line] = scan(locate("wide.txt"), make_request("x", mode="content")).lines
    assert line.endswith("x…")
    assert len(line) < 700


def test_a_glob_that_cannot_be_read_is_refused(locate):
    """Before anything is opened."""
    require_glob("**/*.{py,txt}")
    with pytest.raises(Refused, match="alternatives"):
        require_glob("{a,b}" * 40)
    with pytest.raises(Refused, match="alternatives"):
        scan(locate("."), make_request("main", glob="{a,b}" * 40))


def test_a_process_of_its_own_answers_with_the_report_or_the_refusal(tree):
    """One JSON document each time."""
    code = "from amplifier_hooks.agent.tools.search_walk import main; main()"
    done = run_apart(code, tree, pattern="^def a", engine="re")
    assert json.loads(done.stdout)["lines"] == [f"{tree}/src/a.py"]
    done = run_apart(code, tree, pattern="(", engine="re")
    assert "'(' is not a regular expression" in json.loads(done.stdout)["refused"]


def test_a_scan_that_nobody_ends_runs_out_of_time_by_itself(tmp_path):
    """A hostile pattern whose parent was killed must not burn a core for ever."""
    (tmp_path / "bait.txt").write_text("a" * 40 + "!\n")
    done = run_apart(JOB, tmp_path, pattern="(a+)+$", engine="re", seconds=0.5)
    assert done.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
    assert scan_module.GRACE == 10


ENGINES = pytest.mark.parametrize("engine", ["re2", "re"])
TEXT = b"one\r\ntwo\n\nthree two\n"


def find(pattern: str, engine: Any, data: bytes = TEXT, **options: bool) -> list[tuple[int, int]]:
    return list(make_finder(pattern, engine, **options)(data))


@ENGINES
@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("two", [1, 3]),
        ("^two$", [1]),
        ("one$", [0]),
        ("^$", [2]),
        (r"\Atwo", [1]),
        ("three$", []),
        ("TWO", []),
        (r"e\s+t", [3]),
        ("nothing", []),
    ],
)
def test_matches_are_found_line_by_line(engine: Any, pattern: str, lines: list[int]) -> None:
    """A line has no end of its own, whichever signs end it."""
    assert find(pattern, engine) == [(line, line) for line in lines]


@ENGINES
def test_case_can_be_ignored(engine: Any) -> None:
    """It is not by itself."""
    assert find("TWO", engine, ignore_case=True) == [(1, 1), (3, 3)]


@ENGINES
def test_a_match_may_span_lines(engine: Any) -> None:
    """Its first and its last line are named; the end of a line belongs to the line."""
    assert find("two.+two", engine, multiline=True) == [(1, 3)]
    assert find(r"two\n", engine, multiline=True) == [(1, 1), (3, 3)]
    assert find("^t", engine, multiline=True) == [(1, 1), (3, 3)]


@ENGINES
def test_a_match_of_nothing_does_not_go_on_for_ever(engine: Any) -> None:
    """One at each place, and then the end."""
    assert len(find("x*", engine, b"ab", multiline=True)) == 3


@ENGINES
def test_a_file_without_a_last_line_end_has_the_same_lines(engine: Any) -> None:
    """There is no empty line behind the last."""
    assert find("^", engine, b"a\nb") == find("^", engine, b"a\nb\n") == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("engine", "pattern", "words"),
    [
        ("re2", "(two", "'(two' is not a pattern of RE2: missing )"),
        ("re2", "(?<=a)b", "look-around and back-references are not supported"),
        ("re", "(two", "'(two' is not a regular expression"),
        ("re", "\ud800", "is not a regular expression"),
    ],
)
def test_a_pattern_that_does_not_compile_is_refused(engine: Any, pattern: str, words: str) -> None:
    """With the engine's reason."""
    with pytest.raises(Refused) as caught:
        make_finder(pattern, engine)
    assert words in str(caught.value)


words = st.text("ab \n", max_size=20).map(str.encode)
patterns = st.sampled_from(["a", "b+", "^a", "b$", "a b", "(a|b) ", "^$", "[ab]{2}"])


@given(patterns, words, st.booleans())
def test_both_engines_find_the_same(pattern: str, data: bytes, multiline: bool) -> None:
    """Where they know the same language."""
    first = find(pattern, "re2", data, multiline=multiline)
    assert first == find(pattern, "re", data, multiline=multiline)


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
