"""Where here-documents end, counted by lines."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.script import parse_script

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
