"""Tables: columns that fit their cells, and a terminal that they fit into."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from amplifier_hooks.cli.text import output, table
from amplifier_hooks.cli.text.fragments import count_cells
from amplifier_hooks.cli.text.table import Column, Table, print_table

Lines = Callable[[], list[str]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    """What has been printed."""
    return lambda: capsys.readouterr().out.splitlines()


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 20 columns without colours."""
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("NO_COLOR", "1")
    for module in (output, table):
        monkeypatch.setattr(module, "is_terminal", lambda: True)


def test_columns_are_as_wide_as_their_widest_cell(lines: Lines) -> None:
    """Two spaces between them, none behind the last."""
    print_table([("a", "bb", "c"), ("aaa", "b", "c")], Column(), Column(), Column())
    assert lines() == ["a    bb  c", "aaa  b   c"]


def test_wide_characters_count_twice(lines: Lines) -> None:
    """The next column begins at the same place."""
    print_table([("漢", "x"), ("ab", "x"), ("c", "x")], Column(), Column())
    assert lines() == ["漢  x", "ab  x", "c   x"]


def test_numbers_stand_to_the_right(lines: Lines) -> None:
    """Also in the last column."""
    print_table([("calls", "ms"), ("3", "10.5")], Column(align="right"), Column(align="right"))
    assert lines() == ["calls    ms", "    3  10.5"]


def test_a_table_can_be_indented_and_tight(lines: Lines) -> None:
    """By so many spaces, with another gap."""
    Table((Column(width=3, align="right"), Column()), indent=2, gap=1).print([("1.", "x")])
    assert lines() == ["   1. x"]


def test_a_row_may_end_early(lines: Lines) -> None:
    """What follows its last cell is not padded."""
    Table((Column(width=3), Column(width=5), Column())).print([("a", "b")])
    assert lines() == ["a    b"]


def test_rows_are_printed_as_they_come(lines: Lines) -> None:
    """A log that is larger than memory is shown from its first record on."""

    def produce() -> Iterator[tuple[str, str]]:
        yield "1", "first"
        assert lines() == ["1   first"]
        yield "2", "second"

    Table((Column(width=2), Column())).print(produce())
    assert lines() == ["2   second"]


def test_an_empty_table_prints_nothing(lines: Lines) -> None:
    """No rows, no lines."""
    print_table([], Column(), Column())
    assert lines() == []


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("overflow", "last"),
    [
        ("cut end", "/a/long/path/…"),
        ("cut start", "…file.py:mount"),
    ],
)
def test_on_a_narrow_terminal_one_column_is_cut(lines: Lines, overflow: str, last: str) -> None:
    """Its end or its start."""
    column = Column(overflow=overflow)  # type: ignore[arg-type]
    print_table([("abc", "/a/long/path/to/file.py:mount")], Column(), column)
    assert lines() == [f"abc  {last}"]


@pytest.mark.usefixtures("narrow")
def test_what_may_not_be_cut_goes_on_below_itself(lines: Lines) -> None:
    """At a space where there is one; nothing is lost."""
    print_table([("abc", "/a/long/path/to/file"), ("d", "two words more")], Column(), Column())
    assert lines() == ["abc  /a/long/path/t", "     o/file", "d    two words more"]


@pytest.mark.usefixtures("narrow")
def test_where_columns_do_not_fit_the_cells_stand_below_one_another(lines: Lines) -> None:
    """All rows alike, as many cells in a line as there is room for."""
    rows = [("1.", "900", "a-redaction", "guard", "10 s"), ("2.", "", "short", "guard", "")]
    print_table(rows, *[Column()] * 4, Column(overflow="cut start"), indent=1)
    assert lines() == [" 1. 900 a-redaction", "     guard 10 s", " 2. short guard"]


@pytest.mark.usefixtures("narrow")
def test_a_cell_that_is_wider_than_its_column_breaks_nothing(lines: Lines) -> None:
    """The width of a log's columns is chosen before its records are known."""
    Table((Column(width=3), Column(width=4), Column())).print([("a", "b" * 18, "c d")])
    assert lines() == ["a", "    " + "b" * 15, "    bbb c d"]


@pytest.mark.usefixtures("narrow")
def test_the_first_column_can_be_the_one_that_is_cut(lines: Lines) -> None:
    """A long name gives way to the numbers beside it."""
    print_table(
        [("hooks-with-a-long-name", "1234567"), ("short", "1")],
        Column(overflow="cut end"),
        Column(align="right"),
    )
    shown = lines()
    assert shown == ["hooks-wit…  1234567", "short             1"]
    assert all(count_cells(line) <= 19 for line in shown)


def test_in_a_pipe_nothing_is_cut(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has no width."""
    monkeypatch.setenv("COLUMNS", "20")
    print_table([("a" * 30, "b" * 30)], Column(overflow="cut end"), Column())
    assert lines() == [f"{'a' * 30}  {'b' * 30}"]


def test_a_cell_has_the_style_of_its_column_or_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Padding is never painted."""
    printed: list[tuple[object, ...]] = []
    monkeypatch.setattr(table, "print_line", lambda *parts: printed.append(parts))
    own = (("good", "✓"), ("", " x"))
    Table((Column("tool", width=5), Column("dim", width=5), Column())).print([("a", own, "c")])
    assert printed == [
        ("", ("tool", "a"), ("", "      "), *own, ("", "    "), ("", "c")),
    ]
