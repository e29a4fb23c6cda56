"""One glob covers another only if everything that fits the narrow one fits the wide one."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.paths import match_glob
from amplifier_hooks.insight.rule_checks.globs import can_match_path, covers_name, covers_path

NAME_GLOBS = st.text("ab*?[]!", min_size=1, max_size=5)
PARTS = st.sampled_from(["a", "b", "A", "*", "**", "a*", "*.x", "a.x", "?", ".", "[ab]", "{a,b}"])
PATH_GLOBS = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "", "/", "~/"]),
    st.lists(PARTS, min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)


@settings(max_examples=50)
@given(NAME_GLOBS, NAME_GLOBS, st.text("ab[]*?", max_size=5))
@example("?", "*", "ab")
def test_what_fits_the_narrow_name_fits_the_wide_one(wide: str, narrow: str, name: str) -> None:
    """A yes is certain."""
    if covers_name(wide, narrow) and fnmatchcase(name, narrow):
        assert fnmatchcase(name, wide)


@settings(max_examples=50)
@given(
    PATH_GLOBS,
    PATH_GLOBS,
    st.lists(st.sampled_from(["a", "b", "a.x", "ab", "c"]), min_size=1, max_size=5),
)
@example("**/*", "**", ["a"])
def test_what_fits_the_narrow_path_fits_the_wide_one(
    wide: str, narrow: str, parts: list[str]
) -> None:
    """A yes is certain for paths, too."""
    path = Path("/", *parts)
    if covers_path(wide, narrow) and match_glob(path, [narrow]):
        assert match_glob(path, [wide])


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("*", "Bash"), ("mcp__*", "mcp__git__*"), ("tool:*", "tool:p*"), ("W??te", "Write")],
)
def test_ordinary_names_are_told(wide: str, narrow: str) -> None:
    """What people write is decided."""
    assert covers_name(wide, narrow)
    assert not covers_name(narrow, wide)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [("src/**", "src/*.py"), ("*.env", "deploy/*.env"), ("**", "/etc/passwd"), ("src/", "src/a/b")],
)
def test_ordinary_paths_are_told(wide: str, narrow: str) -> None:
    """What people write is decided."""
    assert covers_path(wide, narrow)
    assert not covers_path(narrow, wide)


def test_many_stars_take_no_time() -> None:
    """A pattern cannot stall the check."""
    assert not covers_path("/".join(["**", "a"] * 20), "/".join(["**", "b"] * 20))


@pytest.mark.parametrize("glob", ["../x", "a/../b", "/srv/*/../x"])
def test_paths_with_two_dots_fit_nothing(glob: str) -> None:
    """Real paths have no `..` in them, so that such a glob fits none."""
    assert not can_match_path(glob)


@pytest.mark.parametrize("glob", ["a/b", "/srv/../etc/*", "{..,a}/b", "a..b"])
def test_other_paths_may_fit(glob: str) -> None:
    """The beginning of an absolute glob is looked up, braces are not judged."""
    assert can_match_path(glob)
