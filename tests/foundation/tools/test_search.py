"""Glob and Grep on real trees."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from amplifier_foundation.tools import search


@pytest.fixture
def tree(work):
    files = {
        "main.py": "import os\n\ndef main():\n    return os.name\n",
        "src/a.py": "def a():\n    pass\n",
        "src/deep/b.py": "def b():\n    pass\n",
        "src/deep/c.txt": "Main text\nsecond line\r\nthird main line\n",
        ".env": "KEY=main\n",
        ".git/config": "def main\n",
        ".amplifier/backups/main.py": "def main\n",
        "node_modules/m.py": "def main\n",
    }
    for number, (name, content) in enumerate(files.items()):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    (work / "binary.bin").write_bytes(b"def main\0\0")
    (work / "link").symlink_to(work.parent)
    (work / "link.txt").symlink_to(work.parent / "secret.txt")
    return work.resolve()


@pytest.fixture
async def call(coordinator, tree):
    async def execute(name, config=None, **given):
        await search.mount(coordinator, config)
        return await coordinator.tools[name].execute(given)

    return execute


def names(result, tree):
    assert result.success, result.error
    return [line.removeprefix(f"{tree}/") for line in result.output.splitlines()]


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
async def test_glob_finds_what_a_shell_would(call, tree, pattern, expected):
    """The file changed last comes first; links and .git are not entered."""
    result = await call("Glob", pattern=pattern.replace("{tree}", str(tree)))
    assert names(result, tree) == expected


async def test_glob_starts_where_it_is_told(call, tree):
    """`path` is the directory to search."""
    assert names(await call("Glob", pattern="*.py", path="src"), tree) == ["src/a.py"]


async def test_glob_says_when_it_found_nothing(call):
    """An empty answer is a sentence with a hint."""
    result = await call("Glob", pattern="b.py")
    assert result.success
    assert "`**/b.py` also looks further down" in result.output


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
async def test_glob_refuses_with_a_sentence(call, given, word):
    """Bad input gets a clear sentence."""
    result = await call("Glob", **given)
    assert not result.success
    assert word in result.error


async def test_glob_results_are_bounded(call, tree):
    """Bounded results, and it is said how many there were."""
    for number in range(30):
        (tree / f"{number}.md").touch()
    result = await call("Glob", {"max_results": 10}, pattern="*.md")
    assert len(result.output.splitlines()) == 11
    assert "30 files match" in result.output
    result = await call("Glob", {"max_files": 5}, pattern="**")
    assert "stopped after 5 files" in result.output


ENGINES = pytest.mark.parametrize("engine", ["re2", "re"])


@ENGINES
async def test_grep_names_the_files(call, tree, engine):
    """By default the files; binary files, links and .git are left out."""
    result = await call("Grep", {"engine": engine}, pattern="main|secret")
    assert names(result, tree) == [".env", "main.py", "src/deep/c.txt"]


@ENGINES
async def test_grep_shows_the_lines(call, tree, engine, artifacts):
    """content mode; artifact:read for each file of which text is shown."""
    result = await call("Grep", {"engine": engine}, pattern="^def (a|main)", output_mode="content")
    assert names(result, tree) == ["main.py:3:def main():", "src/a.py:1:def a():"]
    assert [path for _, path, _ in artifacts] == [str(tree / "main.py"), str(tree / "src/a.py")]


@ENGINES
async def test_grep_counts_ignores_case_and_filters(call, tree, engine):
    """count, -i, glob."""
    given = {"pattern": "main", "output_mode": "count", "-i": True, "glob": "*.txt"}
    assert names(await call("Grep", {"engine": engine}, **given), tree) == ["src/deep/c.txt:2"]


@ENGINES
async def test_grep_shows_lines_around(call, tree, engine):
    """-A, -B, -C; a dash marks the lines around."""
    given = {"pattern": "second line$", "path": "src/deep/c.txt", "output_mode": "content"}
    around = ["src/deep/c.txt-1-Main text", "src/deep/c.txt:2:second line"]
    config = {"engine": engine}
    assert names(await call("Grep", config, **given, **{"-B": 1}), tree) == around
    around.append("src/deep/c.txt-3-third main line")
    assert names(await call("Grep", config, **given, **{"-C": 5}), tree) == around
    bare = await call("Grep", config, **given, **{"-n": False})
    assert names(bare, tree) == ["src/deep/c.txt:second line"]


@ENGINES
async def test_grep_looks_over_line_ends_only_when_asked(call, tree, engine):
    """`\\s` does not cross a line unless multiline is set."""
    given = {"pattern": r"main\(\):\s+return", "output_mode": "content"}
    config = {"engine": engine}
    assert "No match" in (await call("Grep", config, **given)).output
    result = await call("Grep", config, **given, multiline=True)
    assert names(result, tree) == ["main.py:3:def main():", "main.py:4:    return os.name"]


@ENGINES
async def test_grep_knows_the_ends_of_a_line(call, tree, engine):
    """The ends of the text are the ends of the line."""
    found = await call("Grep", {"engine": engine}, pattern=r"\Asecond line")
    assert names(found, tree) == ["src/deep/c.txt"]


@ENGINES
async def test_grep_says_what_is_wrong_with_a_pattern(call, engine):
    """A pattern that does not compile is a sentence."""
    result = await call("Grep", {"engine": engine}, pattern="(main")
    assert not result.success
    assert "'(main'" in result.error


@ENGINES
async def test_grep_results_are_bounded(call, tree, engine):
    """head_limit and max_results."""
    (tree / "many.txt").write_text("main\n" * 1000)
    given = {"pattern": "main", "output_mode": "content"}
    config = {"engine": engine, "max_results": 50}
    result = await call("Grep", config, **given)
    assert len(result.output.splitlines()) == 51
    assert "only the first 50 results are shown" in result.output
    result = await call("Grep", config, **given, head_limit=3)
    assert len(result.output.splitlines()) == 4


async def test_grep_leaves_out_what_is_too_large(call, tree):
    """Huge files are counted, not read."""
    with (tree / "huge").open("wb") as file:
        file.truncate(100_000_000_000)
    result = await call("Grep", pattern="main")
    assert "1 files over 10,000,000 bytes were left out" in result.output


async def test_no_pattern_stalls_re2(call, tree):
    """A linear-time engine: the pattern that takes Python 41 seconds takes none."""
    (tree / "evil.txt").write_text("a" * 50_000 + "\n")
    started = time.monotonic()
    result = await call("Grep", pattern="(a+)+$x|(a|aa)+b")
    assert "No match" in result.output
    assert time.monotonic() - started < 5


async def test_a_stalled_pattern_of_re_is_ended_and_the_loop_lives(call, tree, monkeypatch):
    """Without RE2 a time limit holds, and nothing blocks the event loop."""
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


async def test_files_of_the_agent_are_no_modules_of_ours(call, tree, monkeypatch):
    """A json.py in the working directory does not run when Grep does."""
    (tree / "json.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(tree)
    assert (await call("Grep", {"engine": "re"}, pattern="main")).success
    assert not (tree / "ran").exists()


@pytest.mark.parametrize("engine", ["re2", "re"])
async def test_names_that_are_no_text_are_shown_as_text(call, tree, engine):
    """A file name may be any bytes; an answer is one line of text for each."""
    odd = os.fsencode(tree) + b"/odd\xff\nname.txt"
    with open(odd, "wb") as file:  # noqa: PTH123 - a path of bytes
        file.write(b"needle\n")
    for name, given in [("Glob", "odd*"), ("Grep", "needle")]:
        result = await call(name, {"engine": engine}, pattern=given)
        assert names(result, tree) == ["odd\ufffd\\nname.txt"]
        result.output.encode()


async def test_a_deep_tree_comes_to_an_end(call, tree):
    """A thousand nested directories neither recurse nor run out of descriptors."""
    path = tree
    for _ in range(500):
        path = path / "d"
    path.mkdir(parents=True)
    assert (await call("Glob", pattern="**/*.py")).success


async def test_both_tools_explain_themselves(coordinator, tree):
    """Description and schema are good enough for a model."""
    await search.mount(coordinator, None)
    for tool in coordinator.tools.values():
        assert tool.input_schema["required"] == ["pattern"]
        assert all("description" in field for field in tool.input_schema["properties"].values())
    assert {"-i", "-A", "-B", "-C"} <= set(coordinator.tools["Grep"].input_schema["properties"])
