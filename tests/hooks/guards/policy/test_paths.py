"""Real paths, compared by component."""

from __future__ import annotations

import contextlib
import os
import re
import unicodedata
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.paths import escape_glob, is_within, match_glob, resolve


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("x", "base/x"),
        ("./x/", "base/x"),
        ("a/../../other", "other"),
        ("sub//x", "base/sub/x"),
        ("link/x", "production/x"),
        ("link/../x", "x"),
        ("link/not/yet/there", "production/not/yet/there"),
        ("dangling", "production/none"),
        ("production%2Fx", "base/production%2Fx"),
        ("~/x", "base/~/x"),
    ],
)
def test_a_path_becomes_the_place_it_names(tmp_path, path, real):
    """`..` and symlinks are resolved, even if the end of the path does not exist yet."""
    (tmp_path / "production").mkdir()
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "link").symlink_to(tmp_path / "production")
    (tmp_path / "base" / "dangling").symlink_to("../production/none")
    assert resolve(path, tmp_path / "base") == tmp_path.resolve() / real


def test_proc_self_root_is_the_root(tmp_path):
    """The way through /proc leads to the same place as the plain path."""
    assert resolve(f"/proc/self/root{tmp_path}/x", Path("/")) == tmp_path.resolve() / "x"


def test_a_relative_base_starts_at_the_working_directory(tmp_path, monkeypatch):
    """The result is absolute whatever the base."""
    monkeypatch.chdir(tmp_path)
    assert resolve("x", Path("sub")) == tmp_path.resolve() / "sub" / "x"


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_what_names_no_file_is_refused(path):
    """An empty path or one with a NUL character cannot be guarded, so it is an error."""
    with pytest.raises(ValueError, match="path"):
        resolve(path, Path("/tmp"))


def test_a_loop_of_links_leads_nowhere_else(tmp_path):
    """A symlink that leads to itself is refused, or stays where it is."""
    (tmp_path / "loop").symlink_to("loop")
    with contextlib.suppress(ValueError):
        assert resolve("loop/x", tmp_path).is_relative_to(tmp_path.resolve())


def test_a_loop_of_links_is_refused_by_every_python(tmp_path, monkeypatch):
    """Since 3.13 `Path.resolve` raises no error for one; what merely does not exist is no loop."""
    monkeypatch.setattr(Path, "resolve", lambda path: Path(os.path.realpath(path)))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ValueError, match="loop/x"):
        resolve("loop/x", tmp_path)
    assert resolve("new/x", tmp_path) == tmp_path / "new" / "x"


def test_five_thousand_characters_are_a_path_or_a_sentence(tmp_path):
    """An over-long path neither crashes nor escapes."""
    try:
        real = resolve("a" * 5000, tmp_path)
    except ValueError:
        return
    assert real.parent == tmp_path.resolve()


def test_within_is_by_component_not_by_prefix(tmp_path):
    """/safe-not is not inside /safe."""
    safe = tmp_path / "safe"
    assert is_within(safe / "x", [safe])
    assert is_within(safe, [safe])
    assert not is_within(tmp_path / "safe-not" / "x", [safe])
    assert not is_within(safe / ".." / "production" / "x", [safe])
    assert not is_within(tmp_path, [safe])
    assert not is_within(safe / "x", [])


def test_within_sees_through_links(tmp_path):
    """A link inside a root that leads out is outside; a root may be a link itself."""
    (tmp_path / "safe").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "safe" / "link").symlink_to(tmp_path / "out")
    (tmp_path / "alias").symlink_to(tmp_path / "safe")
    assert not is_within(tmp_path / "safe" / "link" / "x", [tmp_path / "safe"])
    assert is_within(tmp_path / "safe" / "x", [tmp_path / "alias"])


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("/srv/production/x", "production/**", True),
        ("/srv/production", "production/**", True),
        ("/srv/production/a/b", "production/", True),
        ("/srv/nonproduction/x", "production/**", False),
        ("/srv/production-old/x", "production/**", False),
        ("/srv/Production/x", "/srv/production/**", True),
        ("/srv/production%2Fx", "production/**", False),
        ("/etc/passwd", "/etc/*", True),
        ("/etc/ssh/config", "/etc/*", False),
        ("/home/etc/passwd", "/etc/**", False),
        ("/a/.env", "*.env", True),
        ("/a/.env", ".env", True),
        ("/a/.env.local", ".env*", True),
        ("/a/b/c.pem", "**/*.{key,pem}", True),
        ("/a/b/c.KEY", "**/*.{key,pem}", True),
        ("/a/b/c.crt", "**/*.{key,pem}", False),
        ("/a/x1", "x[0-9]", True),
        ("/a/xa", "x[!0-9]", True),
        ("/a/x]", "x[]]", True),
        ("/a/x-", "x[a-]", True),
        ("/a/x[", "x[", True),
        ("/a/x{", "x{", True),
        ("/a/{b}", "{b}", True),
        ("/a/bd", "{b{c,d},e}", True),
        ("/a/b/c/d/e", "a/**/e", True),
        ("/a/e", "a/**/e", True),
        ("/a/b/c", "a/?/c", True),
        ("/anything", "**", True),
        ("/a/**/b", "a/[*][*]/b", True),
        ("/a/xx/b", "a/[*][*]/b", False),
        ("/a/.hidden/x", "a/*/x", True),
        ("/a/.hidden/.x", "a/**/.x", True),
        ("/a/b/c", "a/**/**/c", True),
        ("/a/c", "a/**/**/c", True),
        ("/a/b/c/b/d", "**/b/d", True),
        ("/a/b", "a/**/b/**", True),
        ("/a/b/x", "a/b", False),
        ("/x", "x/**/y", False),
        ("/a/x^", "x[!a^]", False),
        ("/a/xb", "x[^a]", True),
        ("/a/x]", "x[!]]", False),
        ("/a/xb", "x[!]a]", True),
        ("/a/xa", "x[!]a]", False),
        ("/a/xba]", "x[!]a]", False),
        ("/a/x[!]", "x[!]", True),
        ("/a/xb", "x[!]", False),
        ("/a/x-", "x[a-a]", False),
        ("/a/xx", "x[a-cx]", True),
        ("/a/xz", "x[z-a]", False),
        ("/a/x-", "x[--.]", True),
        ("/a/X5", "x[0-9]", True),
        ("/a/xÄ", "x[ä]", True),
        ("/a/b.c", "b?c", True),
        ("/a/bc", "b?c", False),
        ("/a/b,c", "{b,c}", False),
        ("/a/b}", "b}", True),
        ("/a/", "{,a}", True),
        ("/a/bb", "{b,c}{b,c}", True),
        ("/a/x/y", "{x/y,z}", True),
        ("/a/./b", "a/./b", True),
        ("/a/ b", " b", True),
    ],
)
def test_globs(path, pattern, expected):
    """`**`, braces, classes and dotfiles; compared case-folded."""
    assert match_glob(Path(path), [pattern]) == (pattern if expected else None)


def test_composition_makes_no_difference():
    """NFC and NFD are the same name."""
    for form in ("NFC", "NFD"):
        name = unicodedata.normalize(form, "/srv/Größe/é")
        assert match_glob(Path(name), [unicodedata.normalize("NFD", "größe/**")])


def test_full_width_letters_are_another_name():
    """No file system takes them for the plain letters, so neither do we."""
    assert match_glob(Path("/ｐroduction/x"), ["production/**"]) is None


def test_the_home_directory_in_a_pattern(monkeypatch):
    """A pattern may start with ~/."""
    monkeypatch.setenv("HOME", "/home/somebody")
    assert match_glob(Path("/home/somebody/.ssh/id"), ["~/.ssh/**"]) == "~/.ssh/**"
    monkeypatch.setenv("HOME", "/home/another")
    assert match_glob(Path("/home/another/.ssh/id"), ["~/.ssh/**"]) == "~/.ssh/**"
    assert match_glob(Path("/home/another/.ssh/id"), ["{~/.ssh,/etc}/*"]) == "{~/.ssh,/etc}/*"
    assert match_glob(Path("/home/somebody/.ssh/id"), ["~/.ssh/**"]) is None


def test_the_first_matching_pattern_is_named():
    """The answer is the first glob that matches."""
    assert match_glob(Path("/a/b.py"), ["*.md", "*.py", "b.*"]) == "*.py"


@pytest.mark.parametrize("pattern", ["", " ", "{" + ",".join("ab" * 3000) + "}", "{a,b}" * 64])
def test_a_pattern_that_means_nothing_is_refused(pattern):
    """Empty and endless patterns are errors: a guard must not seem to guard."""
    with pytest.raises(ValueError, match="pattern"):
        match_glob(Path("/a"), [pattern])


def test_a_pattern_has_a_thousand_alternatives_at_most():
    """As many as are compared; one more is refused."""
    numbers = [str(number) for number in range(1_001)]
    assert match_glob(Path("/999"), [f"{{{','.join(numbers[:-1])}}}"])
    with pytest.raises(ValueError, match="over 1000 alternatives"):
        match_glob(Path("/999"), [f"{{{','.join(numbers)}}}"])


def test_no_pattern_is_exponential():
    """A pattern of many stars, braces or brackets is slow nowhere."""
    assert match_glob(Path("/" + "a" * 200), ["*a" * 60 + "b"]) is None
    assert match_glob(Path("/a" * 200), ["**/a/" * 60 + "b"]) is None
    assert match_glob(Path("/a"), ["{" * 3000 + "a"]) is None
    assert match_glob(Path("/a"), ["[" * 20_000 + "a"]) is None
    assert match_glob(Path("/a"), ["[a-z" * 5_000]) is None


NAMES = st.text("ab.", min_size=1, max_size=4).filter(lambda name: name.strip("."))


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES | st.just("*"), max_size=4))
def test_globs_agree_with_a_regular_expression(parts, glob):
    """The matcher and the textbook translation give the same answer."""
    pattern = "/" + "/".join([*glob, "**"])
    textbook = "".join("/[^/]*" if part == "*" else "/" + re.escape(part) for part in glob)
    path = "/" + "/".join(parts)
    assert bool(match_glob(Path(path), [pattern])) == bool(re.fullmatch(textbook + "(/.*)?", path))


@given(st.text("ab-]![", min_size=1, max_size=4), st.text("ab-]![*?", min_size=1, max_size=8))
def test_the_glob_of_a_name_is_read_as_python_reads_it(name, glob):
    """Classes, ranges, and brackets that close nothing."""
    assert bool(match_glob(Path("/", name), [f"/{glob}"])) == fnmatchcase(name, glob)


HOSTILE = st.text("ab/*?[]{},!^-~.\\ \udc80é", min_size=1, max_size=30)


@given(st.text("ab/.é{[*", max_size=20), HOSTILE)
def test_any_pattern_gives_an_answer_or_is_refused(path, pattern):
    """Nothing but ValueError, and only for a pattern that means nothing."""
    try:
        found = match_glob(Path("/" + path), [pattern])
    except ValueError:
        assert not pattern.strip()
    else:
        assert found in (pattern, None)


@given(st.lists(st.text("ab*?[]{},!^-. é", min_size=1, max_size=6), min_size=1, max_size=3))
def test_an_escaped_path_covers_itself(parts):
    """Also with stars, brackets and braces in its name."""
    path = Path("/", *([part for part in parts if part.strip(". ")] or ["x"]))
    assert match_glob(path, [escape_glob(str(path))])


@pytest.mark.parametrize("name", ["prod[1]", "prod*", "prod?", "{a,b}"])
def test_an_escaped_path_covers_no_other_length(name):
    """Escaping may guard a sibling of the same length, and nothing else."""
    assert match_glob(Path("/srv", name), [escape_glob(f"/srv/{name}")])
    assert match_glob(Path("/srv", name + "x"), [escape_glob(f"/srv/{name}")]) is None
