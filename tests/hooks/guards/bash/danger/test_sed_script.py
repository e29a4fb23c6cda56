"""Scripts of sed: what only filters, and what does more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.bash.danger.sed_script import only_filters


@pytest.mark.parametrize(
    "script",
    [
        "s/a/b/",
        "s/a/b/g",
        "s,a/b,c,2p",
        "s|[0-9]*|x|",
        r"s/\(a\)/\1/g",
        "s/[^ ]*$//",
        "1,20p",
        "$d",
        "/x/d",
        "/x/,/y/!d",
        "/x/I,+3p",
        "2~3p",
        "1s/a/b/;3d",
        "1{s/a/b/;p}",
        "/x/{n;d}",
        "y/abc/xyz/",
        "a\\\nwe",
        "i\\ text; e id",
        "10q",
        ":x;N;$!bx",
        "# w out",
        "$!N;P;D",
        "p;",
        "s/a/b/ ;\n",
        " ",
        "",
    ],
)
def test_what_changes_only_the_text(script: str) -> None:
    """Deleting, printing, replacing, adding."""
    assert only_filters(script)


@pytest.mark.parametrize(
    "script",
    [
        "e",
        "e id",
        "eid",
        "1eid",
        "1e id",
        "w out",
        "wout",
        "W out",
        "$w out",
        "p;w out",
        "p\ne id",
        "s/a/b/e",
        "s/a/b/w out",
        "s/a/b/gw out",
        "s,a,b,ge",
        "saabae",
        "sabaebaw out",
        "/x/e id",
        "/x/I!w out",
        "/x/,/y/w out",
        "\\cxce id",
        "1{e id\n}",
        "{p;w out\n}",
        "y/a/b/;e",
        "a\\\ntext\ne id",
        "s/a/b",
        "1!e id",
        "p e id",
        "0~2e id",
        "s/[/]/b/w out/",
        "s/\\//b/w out",
        "M",
        "s",
        "y",
        "pp",
        "p d",
        "s/a/b/ d",
    ],
)
def test_what_runs_or_writes_or_is_not_understood(script: str) -> None:
    """In each of the places where sed takes such a command."""
    assert not only_filters(script)


@given(st.text(alphabet="swe/[]\\;{}pa1,$!\n I#", max_size=20))
def test_any_script_gets_an_answer(script: str) -> None:
    """And one without these letters never runs or writes anything."""
    if not set(script) & {"w", "e", "W"}:
        return
    if only_filters(script):
        assert not script.lstrip(" \n;0123456789,$!{}").startswith(("w", "e"))
