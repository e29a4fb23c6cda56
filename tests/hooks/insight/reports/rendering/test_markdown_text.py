"""Texts in Markdown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.reports.rendering.markdown_text import (
    write_block,
    write_code,
    write_prose,
)
from tests.hooks.cli.hostile_text import hostile, is_harmless

markdown = st.lists(
    st.one_of(st.sampled_from([*"`|\\<>[]()*_#~&!@", "``", "```", "\n", "www.", "://"]), hostile),
    max_size=10,
).map("".join)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain words", "plain words"),
        ("*a* _b_ [c](d) <e>", r"\*a\* \_b\_ \[c\](d) \<e\>"),
        ("a | b", r"a \| b"),
        ("- no list", r"\- no list"),
        ("1. no list", r"1\. no list"),
        ("0.5 ms", "0.5 ms"),
        ("see https://evil.example", "`see https://evil.example`"),
        ("ask @ann", "`ask @ann`"),
        ("# no title", r"\# no title"),
    ],
)
def test_prose_is_shown_as_it_is(text: str, written: str) -> None:
    """Nothing in it is a link, a list, a tag or a mention."""
    assert write_prose(text) == written


@settings(max_examples=25, deadline=None)
@given(markdown)
def test_code_cannot_end_before_its_text(text: str) -> None:
    """The fence is longer than any run of backticks inside; there is one line."""
    written = write_code(text)
    assert is_harmless(written)
    if not text.strip() or not written.startswith("`"):
        return
    fence = re.match("`+", written)[0]  # type: ignore[index]
    assert written.endswith(fence)
    inner = written[len(fence) : -len(fence)]
    assert len(fence) not in {len(run) for run in re.findall("`+", inner)}


@settings(max_examples=25, deadline=None)
@given(markdown)
def test_a_cell_cannot_end_before_its_text(text: str) -> None:
    """Every bar has exactly one backslash before it."""
    written = write_code(text, in_table=True)
    assert all(
        re.search(r"(?<!\\)\\$", written[: one.start()]) for one in re.finditer(r"\|", written)
    )


@settings(max_examples=25, deadline=None)
@given(markdown)
def test_a_block_cannot_end_before_its_text(text: str) -> None:
    """No line in it is a fence."""
    first, *lines, last = write_block(text)
    assert first == f"{last}text"
    assert all(last not in line for line in lines)
    assert is_harmless("\n".join(lines), lines=True)


@settings(max_examples=25, deadline=None)
@given(markdown)
def test_prose_has_no_bare_sign(text: str) -> None:
    """Each sign that means something has a backslash before it."""
    written = write_prose(text)
    if not written.startswith("`"):
        assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>|~]", written)
        assert "\n" not in written
