"""Redirections, here-documents, and words that stand behind them."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.streams.redirects import find_stray_words
from amplifier_hooks.guards.bash.tree import get_text, list_nodes, parse_tree
from tests.hooks.guards.bash.reading import list_values, read_command


@pytest.mark.parametrize(
    ("source", "redirects"),
    [
        ("ls > a", [(">", "a")]),
        ("ls >> a 2>&1", [(">>", "a"), (">&", "1")]),
        ("> a ls", [(">", "a")]),
        ("ls < a", [("<", "a")]),
        ("ls <<< a", [("<<<", "a")]),
        ("ls > $x", [(">", None)]),
        ("{ ls; } > a", [(">", "a")]),
        ("( ls > a ) > b", [(">", "a"), (">", "b")]),
        ("cat <<E > a\nx\nE", [(">", "a")]),
        ("ls &> a", [("&>", "a")]),
        ("ls", []),
    ],
)
def test_a_command_has_the_redirections_around_it(
    source: str, redirects: list[tuple[str, str | None]]
) -> None:
    """Its own first, then those of the groups it stands in."""
    found = [(one.operator, one.target.value) for one in read_command(source).redirects]
    assert found == redirects


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("rm > log -rf /", ["-rf", "/"]),
        ("rm <<E -rf /\nE", ["-rf", "/"]),
        ("rm >a -rf >b / >c", ["-rf", "/"]),
        ("true && rm > log -r x", ["-r", "x"]),
        ("! rm > log -r x", ["-r", "x"]),
    ],
)
def test_words_behind_a_redirection_belong_to_the_command(source: str, values: list[str]) -> None:
    """The grammar takes them for further targets."""
    nodes = list_nodes(parse_tree(source, "x").root_node)
    strays = [get_text(word) for words in find_stray_words(nodes).values() for word in words]
    assert sorted(strays) == sorted(values)
    last = read_command(source.rpartition("&& ")[2].removeprefix("! "))
    assert list_values(last.words) == values


@pytest.mark.parametrize(
    ("source", "values"), [("cat - <<E\nE", ["-"]), ("cat <<E\nE", []), ("cat - < f", ["-"])]
)
def test_a_dash_before_a_here_document_is_not_lost(source: str, values: list[str]) -> None:
    """The grammar overlooks it."""
    assert list_values(read_command(source).words) == values
