"""Which programs stand before a command in its pipe."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.script import parse_script


@pytest.mark.parametrize(
    ("source", "sources"),
    [
        ("curl x | sh", {"curl": (), "sh": ("curl",)}),
        ("a | b | c", {"a": (), "b": ("a",), "c": ("a", "b")}),
        ("a |& b", {"a": (), "b": ("a",)}),
        ("a | { b; c; }", {"a": (), "b": ("a",), "c": ("a",)}),
        ("$x | sh", {None: (), "sh": (None,)}),
        ("cat <<E | sh\nx\nE", {"cat": (), "sh": ("cat",)}),
        ("a && b", {"a": (), "b": ()}),
        ("a | (b | c)", {"a": (), "b": ("a",), "c": ("b", "a")}),
    ],
)
def test_every_command_knows_what_feeds_it(
    source: str, sources: dict[str | None, tuple[str | None, ...]]
) -> None:
    """From the pipe it stands in, and from those around it."""
    found = {one.program: set(one.piped_from) for one in parse_script(source).commands}
    assert found == {program: set(before) for program, before in sources.items()}


def test_a_function_is_fed_like_a_program() -> None:
    """So that one which pipes into itself is seen."""
    commands = parse_script("f() { f | f & }; f").commands
    assert [one.piped_from for one in commands] == [(), ("f",), ()]
