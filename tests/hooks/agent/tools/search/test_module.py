"""Mounting the search tools."""

from __future__ import annotations

import asyncio
import os
import threading
import time

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.agent.tools import search
from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.search import format_answer, run_in_thread, split_pattern
from tests.support.waiting import wait_until

ENGINES = pytest.mark.parametrize("engine", ["re2", "re"])


@ENGINES
@pytest.mark.parametrize(
    ("given", "found"),
    [
        # Names are the default; binary files, links and .git are left out.
        ({"pattern": "main|secret"}, [".env", "main.py", "src/deep/c.txt"]),
        (
            {"pattern": "main", "output_mode": "count", "-i": True, "glob": "*.txt"},
            ["src/deep/c.txt:2"],
        ),
        # The ends of the text are the ends of a line, as it goes line by line.
        ({"pattern": r"\Asecond line"}, ["src/deep/c.txt"]),
    ],
)
async def test_it_names_and_counts_the_files(call, list_names, engine, given, found):
    """With any case, and those that fit a glob alone, where that is wanted."""
    assert list_names(await call("Grep", {"engine": engine}, **given)) == found


@ENGINES
async def test_it_shows_the_lines(call, tree, list_names, engine, artifacts):
    """Each file of which text is shown has been read, and that is announced."""
    result = await call("Grep", {"engine": engine}, pattern="^def (a|main)", output_mode="content")
    assert list_names(result) == ["main.py:3:def main():", "src/a.py:1:def a():"]
    assert [(event, path) for event, path, _ in artifacts] == [
        ("artifact:read", str(tree / "main.py")),
        ("artifact:read", str(tree / "src/a.py")),
    ]


@ENGINES
async def test_it_shows_lines_around(call, list_names, engine):
    """A dash marks those that do not match; numbers can be left out."""
    given = {"pattern": "second line$", "path": "src/deep/c.txt", "output_mode": "content"}
    around = ["src/deep/c.txt-1-Main text", "src/deep/c.txt:2:second line"]
    config = {"engine": engine}
    assert list_names(await call("Grep", config, **given, **{"-B": 1})) == around
    around.append("src/deep/c.txt-3-third main line")
    assert list_names(await call("Grep", config, **given, **{"-C": 5})) == around
    bare = await call("Grep", config, **given, **{"-n": False})
    assert list_names(bare) == ["src/deep/c.txt:second line"]


@ENGINES
async def test_it_looks_over_line_ends_only_when_asked(call, list_names, engine):
    """White space in a pattern does not cross a line by itself."""
    given = {"pattern": r"main\(\):\s+return", "output_mode": "content"}
    config = {"engine": engine}
    assert "No match" in (await call("Grep", config, **given)).output
    result = await call("Grep", config, **given, multiline=True)
    assert list_names(result) == ["main.py:3:def main():", "main.py:4:    return os.name"]


@ENGINES
async def test_it_says_what_is_wrong_with_a_pattern(call, engine):
    """Also when the search runs in a process of its own."""
    result = await call("Grep", {"engine": engine}, pattern="(main")
    assert not result.success
    assert "'(main'" in result.error


@ENGINES
async def test_its_answer_has_an_end(call, tree, engine):
    """The shorter of two limits counts, and it is said."""
    (tree / "many.txt").write_text("main\n" * 1000)
    given = {"pattern": "main", "output_mode": "content"}
    config = {"engine": engine, "max_results": 50}
    result = await call("Grep", config, **given)
    assert len(result.output.splitlines()) == 51
    assert "only the first 50 results are shown" in result.output
    result = await call("Grep", config, **given, head_limit=3)
    assert len(result.output.splitlines()) == 4
    result = await call("Grep", config, **given, head_limit=300)
    assert len(result.output.splitlines()) == 51


def test_it_takes_the_engine_that_cannot_stall_if_there_is_one(monkeypatch):
    """Otherwise that of the standard library."""
    assert search._choose_engine("auto") == "re2"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert search._choose_engine("auto") == "re"
    assert search._choose_engine("re2") == "re2"


async def test_no_pattern_stalls_re2(call, tree):
    """Its time grows with the text and no faster."""
    (tree / "evil.txt").write_text("a" * 50_000 + "\n")
    started = time.monotonic()
    result = await call("Grep", pattern="(a+)+$x|(a|aa)+b")
    assert "No match" in result.output
    assert time.monotonic() - started < 5


async def test_a_stalled_pattern_of_re_is_ended_and_the_loop_lives(call, tree, monkeypatch):
    """A time limit holds, and meanwhile other work goes on."""
    monkeypatch.setattr(search, "START_UP", 1.0)
    (tree / "evil.txt").write_text("a" * 60 + "!\n")
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticker = asyncio.create_task(tick())
    result = await call("Grep", {"engine": "re", "seconds": 0.2}, pattern="(a+)+$")
    ticker.cancel()
    assert "took longer than 0.2 seconds" in result.error
    assert ticks > 20


async def test_a_search_that_breaks_says_so(call, monkeypatch):
    """With the end of what the process printed."""
    monkeypatch.setattr(search, "_CHILD", "raise SystemExit('out of luck')")
    result = await call("Grep", {"engine": "re"}, pattern="main")
    assert result.error == "The search failed: out of luck"


async def test_files_of_the_agent_are_no_modules_of_ours(call, tree, monkeypatch):
    """A json.py in the working directory does not run when Grep does."""
    (tree / "json.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(tree)
    assert (await call("Grep", {"engine": "re"}, pattern="main")).success
    assert not (tree / "ran").exists()


@ENGINES
async def test_names_that_are_no_text_are_shown_as_text(call, tree, list_names, engine):
    """A file name may be any bytes; an answer is one line of text for each."""
    odd = os.fsencode(tree) + b"/odd\xff\nname.txt"
    with open(odd, "wb") as file:  # noqa: PTH123 - a path of bytes
        file.write(b"needle\n")
    for name, given in [("Glob", "odd*"), ("Grep", "needle")]:
        result = await call(name, {"engine": engine}, pattern=given)
        assert list_names(result) == ["odd\ufffd\\nname.txt"]
        result.output.encode()


async def test_work_is_done_beside_the_loop():
    """And its result comes back."""
    assert await run_in_thread(lambda stop: threading.current_thread()) is not (
        threading.current_thread()
    )


async def test_a_cancelled_call_tells_the_thread_to_stop():
    """A thread cannot be ended, but it can look."""
    started, stopped = threading.Event(), threading.Event()

    def work(stop: threading.Event) -> None:
        started.set()
        if stop.wait(20):
            stopped.set()

    task = asyncio.create_task(run_in_thread(work))
    await wait_until(started.is_set, timeout=20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await wait_until(stopped.is_set, timeout=20)


def test_notes_stand_below_the_lines():
    """In parentheses, so that nobody takes them for a file."""
    assert format_answer(["a", "b"], ["more"]) == "a\nb\n(more)"
    assert format_answer(["a"], []) == "a"


async def test_a_search_may_start_elsewhere(call, list_names):
    """`working_dir`: relative paths start there."""
    found = await call("Glob", {"working_dir": "src"}, pattern="**/*.py")
    assert list_names(found) == ["src/deep/b.py", "src/a.py"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["main.py"]),
        ("**/*.py", ["src/deep/b.py", "src/a.py", "main.py"]),
        ("src/**", ["src/deep/c.txt", "src/deep/b.py", "src/a.py"]),
        ("**/{a,b}.py", ["src/deep/b.py", "src/a.py"]),
        (".env", [".env"]),
        ("{tree}/src/*.py", ["src/a.py"]),
        ("{tree}/main.py", ["main.py"]),
    ],
)
async def test_it_finds_what_a_shell_would(call, tree, list_names, pattern, expected):
    """The file changed last comes first; links and .git are not entered."""
    result = await call("Glob", pattern=pattern.replace("{tree}", str(tree)))
    assert list_names(result) == expected


async def test_it_starts_where_it_is_told(call, list_names):
    """In a directory of the tree."""
    assert list_names(await call("Glob", pattern="*.py", path="src")) == ["src/a.py"]


async def test_it_says_when_it_found_nothing(call):
    """That is no failure; a hint shows how to look further."""
    result = await call("Glob", pattern="b.py")
    assert result.success
    assert result.output == "No file matches 'b.py' in '.'; `**/b.py` also looks further down"
    assert "further down" not in (await call("Glob", pattern="**/nothing")).output


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"pattern": ""}, "names no file"),
        ({"pattern": "../*"}, "has a `..`"),
        ({"pattern": "/etc/*"}, "outside the allowed directories"),
        ({"pattern": "*", "path": "nowhere"}, "No file or directory 'nowhere'"),
        ({"pattern": "{a,b}" * 40}, "alternatives"),
        ({"patern": "*"}, "did you mean 'pattern'?"),
    ],
)
async def test_it_refuses_with_a_sentence(call, given, word):
    """Whatever is wrong with the input."""
    result = await call("Glob", **given)
    assert not result.success
    assert word in result.error


async def test_the_answer_of_glob_has_an_end(call, tree):
    """It is said how many there were, or that not all were looked at."""
    for number in range(30):
        (tree / f"{number}.md").touch()
    result = await call("Glob", {"max_results": 10}, pattern="*.md")
    assert len(result.output.splitlines()) == 11
    assert "30 files match" in result.output
    result = await call("Glob", {"max_files": 5}, pattern="**")
    assert "stopped after 5 files" in result.output


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ("*.py", "here")),
        ("src/*.py", ("src/*.py", "here")),
        ("/a/b/*.py", ("*.py", "/a/b")),
        ("/a/*/c.py", ("*/c.py", "/a")),
        ("/a/{b,c}/d", ("{b,c}/d", "/a")),
        ("/a/b.py", ("b.py", "/a")),
        ("/*", ("*", "/")),
    ],
)
def test_an_absolute_pattern_names_its_own_directory(pattern, expected):
    """All of it that comes before the first wildcard."""
    assert split_pattern(pattern, "here") == expected


@pytest.mark.parametrize("pattern", ["", "  ", "a\0b", "../a", "a/../b", "/a/../*"])
def test_a_pattern_that_names_no_file_or_climbs_is_refused(pattern):
    """The directory belongs into `path`, where it is checked."""
    with pytest.raises(Refused, match="The pattern"):
        split_pattern(pattern, ".")


async def test_both_tools_explain_themselves(coordinator):
    """Description and schema are good enough for a model."""
    await search.mount(coordinator, None)
    for tool in coordinator.tools.values():
        assert len(tool.description) > 80
        assert tool.input_schema["required"] == ["pattern"]
        assert all("description" in field for field in tool.input_schema["properties"].values())
    assert {"-i", "-A", "-B", "-C"} <= set(coordinator.tools["Grep"].input_schema["properties"])


async def test_they_are_mounted_and_taken_away_again(coordinator):
    """Both, or the one that is wanted."""
    unmount = await search.mount(coordinator, {"tools": ["Glob"]})
    assert list(coordinator.tools) == ["Glob"]
    await unmount()
    unmount = await search.mount(coordinator, {})
    assert list(coordinator.tools) == ["Glob", "Grep"]
    await unmount()
    assert coordinator.tools == {}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"tools": ["Find"]}, "tool-search: Unknown tool 'Find'; have"),
        ({"engine": "perl"}, "'engine' cannot be 'perl'"),
        ({"seconds": 0}, "'seconds' cannot be 0"),
    ],
)
async def test_options_are_checked_at_the_mount(coordinator, config, words):
    """Not at the first search."""
    with pytest.raises(ModuleLoadError) as caught:
        await search.mount(coordinator, config)
    assert words in str(caught.value)
