"""Redirections, pipes, here-documents and what comes in through them."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.redirections import find_stray_words
from amplifier_hooks.guards.bash.script import parse_script
from amplifier_hooks.guards.bash.words import Word, get_text, list_nodes, parse_tree
from tests.hooks.guards.bash.reading import list_values, read_command

DOUBT = "end of a here-document"


@pytest.mark.parametrize(
    "source",
    [
        "cat <<E\na\nE",
        "cat <<'E'\n'\nE\nls",
        'cat <<"E" > "a b"\na\nE\n',
        "cat <<-E\n\ta\n\tE",
        "cat <<E | grep x\na\nE",
        "x=$(cat <<E\na\nE\n)",
        "cat <<\\E\na\nE",
    ],
)
def test_an_ordinary_here_document_ends_where_the_grammar_sees_it(source: str) -> None:
    """With the first line that is nothing but the mark."""
    assert not any(DOUBT in doubt for doubt in parse_script(source).unclear)


@pytest.mark.parametrize(
    "source",
    [
        "cat <<A <<B\n1\nA\n2\nB\n",
        "cat <<E'F'\na\nEF\nls",
        "cat <<E \\\nls\nE",
        "cat <<E $(cat\nE\n)",
        "read x 0<<'E'; ls\n$x\nE \n",
        "cat <<E 'a\nE\n'\nE",
    ],
)
def test_one_whose_end_is_hard_to_see_is_in_doubt(source: str) -> None:
    """Several on a line, odd marks, a line that goes on in the next."""
    assert parse_script(source).unclear != ()


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


def read_stdin_of(program: str, source: str) -> Word | None:
    [command] = [one for one in parse_script(source).commands if one.name == program]
    return command.stdin


@pytest.mark.parametrize(
    ("source", "stdin"),
    [
        ("bash <<E\nls\nE", "ls\n"),
        ("bash <<'E'\n$x\nE", "$x\n"),
        ("bash <<< 'ls -l'", "ls -l"),
        ("true && bash <<E\nls\nE", "ls\n"),
        ("cat <<E | bash\nls\nE", "ls\n"),
    ],
)
def test_the_text_that_a_command_reads(source: str, stdin: str) -> None:
    """A here-document or here-string, also through `cat`."""
    word = read_stdin_of("bash", source)
    assert word is not None
    assert word.value == stdin


@pytest.mark.parametrize(
    "source",
    ["bash <<E\n$x\nE", "bash <<E\na\\\nb\nE", "bash <<E\n`x`\nE", 'bash <<< "$x"'],
)
def test_a_text_that_is_expanded_is_not_literal(source: str) -> None:
    """What a shell makes of a dollar or a backslash is another script."""
    word = read_stdin_of("bash", source)
    assert word is not None
    assert word.value is None


@pytest.mark.parametrize(
    "source",
    [
        "bash",
        "bash < file",
        "bash <<< ls < file",
        "bash <<< ls <<< id",
        "bash <<< ls <&3",
        "bash 3<<E\nls\nE",
        "{ read a; bash; } <<E\nls\nE",
        "for i in 1 2; do bash; done <<E\nls\nE",
        "cat x - <<E | bash\nls\nE",
        "cat <<E | sed s/a/b/ | bash\nls\nE",
        "cat x | bash",
    ],
)
def test_an_input_that_is_shared_changed_or_elsewhere_is_not_in_sight(source: str) -> None:
    """The last of several counts, and who reads before takes a part."""
    assert read_stdin_of("bash", source) is None
