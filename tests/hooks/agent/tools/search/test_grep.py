"""Grep finds text in files, with both engines."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from amplifier_hooks.agent.tools.search import grep

ENGINES = pytest.mark.parametrize("engine", ["re2", "re"])


@ENGINES
async def test_it_names_the_files(call, list_names, engine):
    """That is the default; binary files, links and .git are left out."""
    result = await call("Grep", {"engine": engine}, pattern="main|secret")
    assert list_names(result) == [".env", "main.py", "src/deep/c.txt"]


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
async def test_it_counts_ignores_case_and_filters(call, list_names, engine):
    """All at once."""
    given = {"pattern": "main", "output_mode": "count", "-i": True, "glob": "*.txt"}
    assert list_names(await call("Grep", {"engine": engine}, **given)) == ["src/deep/c.txt:2"]


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
async def test_the_ends_of_the_text_are_the_ends_of_a_line(call, list_names, engine):
    """As it goes through a file line by line."""
    found = await call("Grep", {"engine": engine}, pattern=r"\Asecond line")
    assert list_names(found) == ["src/deep/c.txt"]


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
    assert grep._choose_engine("auto") == "re2"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert grep._choose_engine("auto") == "re"
    assert grep._choose_engine("re2") == "re2"


async def test_no_pattern_stalls_re2(call, tree):
    """Its time grows with the text and no faster."""
    (tree / "evil.txt").write_text("a" * 50_000 + "\n")
    started = time.monotonic()
    result = await call("Grep", pattern="(a+)+$x|(a|aa)+b")
    assert "No match" in result.output
    assert time.monotonic() - started < 5


async def test_a_stalled_pattern_of_re_is_ended_and_the_loop_lives(call, tree, monkeypatch):
    """A time limit holds, and meanwhile other work goes on."""
    monkeypatch.setattr(grep, "START_UP", 1.0)
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
    monkeypatch.setattr(grep, "_CHILD", "raise SystemExit('out of luck')")
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
