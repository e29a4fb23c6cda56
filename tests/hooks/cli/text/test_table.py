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


LEFT, RIGHT = Column(), Column(align="right")


@pytest.mark.parametrize(
    ("table_", "rows", "shown"),
    [
        (
            Table((Column(width=3, align="right"), LEFT), indent=2, gap=1),
            [("1.", "x")],
            ["   1. x"],
        ),
        # What follows the last cell is not padded.
        (Table((Column(width=3), Column(width=5), LEFT)), [("a", "b")], ["a    b"]),
    ],
)
def test_a_table_has_its_widths_its_indent_and_its_gap(
    table_: Table, rows: list[tuple[str, ...]], shown: list[str], lines: Lines
) -> None:
    """As they are given."""
    table_.print(rows)
    assert lines() == shown


@pytest.mark.parametrize(
    ("rows", "columns", "shown"),
    [
        ([("a", "bb", "c"), ("aaa", "b", "c")], (LEFT, LEFT, LEFT), ["a    bb  c", "aaa  b   c"]),
        # Wide characters count twice.
        ([("漢", "x"), ("ab", "x"), ("c", "x")], (LEFT, LEFT), ["漢  x", "ab  x", "c   x"]),
        # Numbers stand to the right, also in the last column.
        ([("calls", "ms"), ("3", "10.5")], (RIGHT, RIGHT), ["calls    ms", "    3  10.5"]),
        ([], (LEFT, LEFT), []),
    ],
)
def test_columns_are_as_wide_as_their_widest_cell(
    rows: list[tuple[str, ...]], columns: tuple[Column, ...], shown: list[str], lines: Lines
) -> None:
    """Two spaces between them, none behind the last."""
    print_table(rows, *columns)
    assert lines() == shown


def test_rows_are_printed_as_they_come(lines: Lines) -> None:
    """A log that is larger than memory is shown from its first record on."""

    def produce() -> Iterator[tuple[str, str]]:
        yield "1", "first"
        assert lines() == ["1   first"]
        yield "2", "second"

    Table((Column(width=2), Column())).print(produce())
    assert lines() == ["2   second"]


CUT_END, CUT_START = Column(overflow="cut end"), Column(overflow="cut start")


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("rows", "columns", "indent", "shown"),
    [
        ([("abc", "/a/long/path/to/file.py:mount")], (LEFT, CUT_END), 0, ["abc  /a/long/path/…"]),
        ([("abc", "/a/long/path/to/file.py:mount")], (LEFT, CUT_START), 0, ["abc  …file.py:mount"]),
        # A long name gives way to the numbers beside it.
        (
            [("hooks-with-a-long-name", "1234567"), ("short", "1")],
            (CUT_END, RIGHT),
            0,
            ["hooks-wit…  1234567", "short             1"],
        ),
        # What may not be cut goes on below itself, at a space where there is one.
        (
            [("abc", "/a/long/path/to/file"), ("d", "two words more")],
            (LEFT, LEFT),
            0,
            ["abc  /a/long/path/t", "     o/file", "d    two words more"],
        ),
        # Where columns do not fit, the cells stand below one another, in all rows alike.
        (
            [("1.", "900", "a-redaction", "guard", "10 s"), ("2.", "", "short", "guard", "")],
            (LEFT, LEFT, LEFT, LEFT, CUT_START),
            1,
            [" 1. 900 a-redaction", "     guard 10 s", " 2. short guard"],
        ),
    ],
    ids=["cut end", "cut start", "cut the first", "below itself", "below one another"],
)
def test_a_table_fits_a_narrow_terminal(
    rows: list[tuple[str, ...]],
    columns: tuple[Column, ...],
    indent: int,
    shown: list[str],
    lines: Lines,
) -> None:
    """The last column of the terminal stays empty."""
    print_table(rows, *columns, indent=indent)
    assert lines() == shown
    assert all(count_cells(line) <= 19 for line in shown)


@pytest.mark.usefixtures("narrow")
def test_a_cell_that_is_wider_than_its_column_breaks_nothing(lines: Lines) -> None:
    """The width of a log's columns is chosen before its records are known."""
    Table((Column(width=3), Column(width=4), Column())).print([("a", "b" * 18, "c d")])
    assert lines() == ["a", "    " + "b" * 15, "    bbb c d"]


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
