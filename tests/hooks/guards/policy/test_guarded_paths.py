"""Guarded globs, and the paths that fall under them however they are written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.guarded_paths import GuardedPaths, _resolve_head
from amplifier_hooks.guards.policy.tool_calls import iterate_texts_under


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project whose `link` and `one` lead into production."""
    root = tmp_path.resolve()
    (root / "production" / "deep").mkdir(parents=True)
    (root / "safe").mkdir()
    (root / "link").symlink_to(root / "production")
    (root / "safe" / "one").symlink_to("../production/deep")
    return root


def test_a_hit_says_what_was_given_where_it_leads_and_why(tree: Path) -> None:
    """A guard can tell the person all three."""
    hit = GuardedPaths(["*.md", "production/**"], tree).find_hit("link/../link/x")
    assert hit is not None
    assert hit.given == "link/../link/x"
    assert hit.resolved == tree / "production" / "x"
    assert hit.pattern == "production/**"


def test_what_a_folder_contains_is_found_level_by_level(tree: Path) -> None:
    """Links are not followed, and what package managers installed does not count."""
    (tree / "app" / "b" / "production").mkdir(parents=True)
    (tree / "app" / "a" / "node_modules" / "production").mkdir(parents=True)
    (tree / "app" / "z.env").touch()
    guarded = GuardedPaths(["*.env", "app/**/production"], tree)
    hit = guarded.find_hit_below("app")
    assert hit is not None
    assert (hit.given, hit.resolved, hit.pattern) == ("app", tree / "app" / "z.env", "*.env")
    (tree / "app" / "z.env").unlink()
    deeper = guarded.find_hit_below("app")
    assert deeper is not None
    assert deeper.resolved == tree / "app" / "b" / "production"
    for nothing in ("app/a", "safe", "not-there", "app/b/production"):
        assert guarded.find_hit_below(nothing) is None


def test_only_the_top_of_a_large_folder_is_looked_at(tree: Path) -> None:
    """A guard must not take longer than the command that it judges."""
    for number in range(2_000):
        (tree / "safe" / f"{number:04}").touch()
    (tree / "safe" / "z.env").touch()
    assert GuardedPaths(["*.env"], tree).find_hit_below("safe") is None
    (tree / "safe" / "0.env").touch()
    assert GuardedPaths(["*.env"], tree).find_hit_below("safe") is not None


def test_what_is_not_guarded_is_no_hit(tree: Path) -> None:
    """Similar names and paths that only pass by are free."""
    guarded = GuardedPaths(["production/**"], tree)
    for path in ("safe/x", "production-notes.md", "nonproduction/x", "safe/../x"):
        assert guarded.find_hit(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "\uff50roduction/x",
        "production%2Fx",
        "%70roduction/x",
        "safe/..%2Fproduction/x",
        "PRODUCTION/x",
    ],
)
def test_what_could_be_taken_for_a_guarded_path_is_guarded(tree: Path, path: str) -> None:
    """Some systems decode percent signs or fold full-width letters before they open a file."""
    assert GuardedPaths(["production/**"], tree).find_hit(path) is not None


def test_a_path_is_seen_from_the_directory_that_is_given(tree: Path) -> None:
    """A command may have gone elsewhere before it writes."""
    guarded = GuardedPaths([f"{tree}/production/**"], tree)
    assert guarded.find_hit("x") is None
    assert guarded.find_hit("x", tree / "production") is not None


@pytest.mark.parametrize("real", ["data", "data[1]", "da*ta", "{a,b}"])
def test_a_glob_that_begins_with_a_symlink_guards_where_it_leads(tmp_path: Path, real: str) -> None:
    """The real directory is guarded under its own name, too."""
    root = tmp_path.resolve()
    (root / real).mkdir()
    (root / "production").symlink_to(root / real)
    guarded = GuardedPaths([f"{root}/production/**"], root)
    assert guarded.find_hit(f"{real}/x") is not None
    assert guarded.find_hit("other/x") is None


@pytest.mark.parametrize("pattern", ["", " ", "{a,b}" * 64])
def test_a_glob_that_cannot_be_used_is_refused_at_once(tmp_path: Path, pattern: str) -> None:
    """When the guard is set up, not at the first call."""
    with pytest.raises(ValueError, match="pattern"):
        GuardedPaths(["fine", pattern], tmp_path)


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_cannot_be_resolved_is_an_error_and_not_a_miss(
    tmp_path: Path, path: str
) -> None:
    """A guard must not take what it cannot check for harmless."""
    with pytest.raises(ValueError, match="path"):
        GuardedPaths(["production/**"], tmp_path).find_hit(path)


SEGMENTS = st.sampled_from([".", "..", "safe", "link", "production", "deep", "one", "x"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SEGMENTS, min_size=1, max_size=8))
def test_a_path_is_guarded_exactly_when_it_really_leads_there(tree: Path, parts: list[str]) -> None:
    """Whatever way the path takes, what counts is where the system would write."""
    path = "/".join(parts)
    real = Path(os.path.realpath(tree / path))
    lexical = Path(os.path.normpath(tree / path))
    production = tree / "production"
    expected = real.is_relative_to(production) or "production" in lexical.parts
    hit = GuardedPaths(["production/**"], tree).find_hit(path)
    assert (hit is not None) == expected
    if hit:
        assert hit.resolved == real


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"path": "a"}, ["a"]),
        ({"edits": [{"path": "a"}, {"path": "b"}]}, ["a", "b"]),
        ({"path": ["a", "b"]}, ["a", "b"]),
        ({"deep": {"er": {"path": "a"}}}, ["a"]),
        ({"path": None, "other": "x"}, []),
        ({"path": 7}, ["7"]),
        ("path", []),
        (None, []),
    ],
)
def test_texts_are_found_under_their_keys_at_any_depth(value: Any, expected: list[str]) -> None:
    """Tools that edit several files name one in each edit."""
    assert list(iterate_texts_under(value, "path")) == expected
    assert list(iterate_texts_under(value, ("path", "file_path"))) == expected


def test_an_input_of_too_many_parts_is_refused() -> None:
    """A guard that stopped looking in silence would let the last part pass."""
    with pytest.raises(ValueError, match="too many"):
        list(iterate_texts_under([{"path": "a"}] * 200_000, "path"))


def test_an_input_that_contains_itself_is_looked_through() -> None:
    """The search ends, and finds every text once."""
    value: dict[str, Any] = {"path": "a"}
    value["self"] = value
    assert set(iterate_texts_under(value, "path")) == {"a"}


@pytest.mark.parametrize(
    "path", ["a/b/c", "link/c", "a/up/x", "loop/x", "gone/y", "a/../link", "a//b"]
)
def test_a_head_leads_where_the_system_says(tmp_path: Path, path: str) -> None:
    """Looked up folder by folder, also through links in the middle."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a/b")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "loop").symlink_to("loop")
    head = f"{tmp_path}/{path}"
    assert _resolve_head(head, {"": "", "/": ""}) == os.path.realpath(head)
