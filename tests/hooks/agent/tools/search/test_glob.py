"""Glob finds files by the pattern of their path."""

from __future__ import annotations

import pytest

from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.search.glob import split_pattern


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


async def test_its_answer_has_an_end(call, tree):
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
