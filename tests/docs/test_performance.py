"""docs/performance.md has the figures that the benchmarks measured."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.figures import list_benchmarks, read_figures
from scripts.documentation import performance
from scripts.documentation.performance import Price, write_page, write_time
from tests.support.scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
PAGE = """\
# Performance

<!-- begin prices, by a script -->
old
<!-- end prices -->
By hand.
<!-- begin machines, by a script -->
<!-- end machines -->
<!-- begin figures, by a script -->
<!-- end figures -->
"""


def make_figures(**row: Any) -> dict[str, Any]:
    """One benchmark with one row."""
    whole = {"what": "emit", "ratio": 2.0, "at_most": 3, "baseline_us": 4.0, "subject_us": 8.0}
    return {
        "kernel": {
            "date": "2026-11-17",
            "machine": "2 cores",
            "python": "3.11.7",
            "load": 0.5,
            "reports": [{"title": "Emitting", "rows": [whole | row]}],
        }
    }


@pytest.fixture
def one_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with a single price."""
    monkeypatch.setattr(performance, "PRICES", (Price("an event", "kernel", "emit", "added"),))


def test_the_page_agrees_with_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """To renew it: .venv/bin/python scripts/performance, and with --measure the figures as well."""
    script: ModuleType = load_script(ROOT / "scripts" / "performance")
    code = script.main(["--check"])
    assert capsys.readouterr().err == ""
    assert code == 0


def test_every_benchmark_has_figures() -> None:
    """The frameworks of the adapters are in environments of their own, so they may have none."""
    assert set(list_benchmarks()) - set(read_figures()) <= {"adapters"}


@pytest.mark.usefixtures("one_price")
def test_marked_parts_are_renewed_and_the_rest_stays() -> None:
    """What comes on top of the baseline, where it was measured, and every row."""
    page = write_page(PAGE, make_figures())
    assert "| an event | 4 µs |\n" in page
    assert "old" not in page
    assert "\nBy hand.\n" in page
    assert "| kernel | 2026-11-17 | 2 cores | 3.11.7 | 0.5 |\n" in page
    assert "### Kernel: Emitting\n" in page
    assert "| emit | 2 | at most 3 | 8 µs |\n" in page
    assert write_page(page, make_figures()) == page


@pytest.mark.usefixtures("one_price")
def test_a_goal_that_was_missed_is_marked() -> None:
    """Nobody should have to compare numbers."""
    assert "| emit | 4 | at most 3 **missed** | 8 µs |\n" in write_page(
        PAGE, make_figures(ratio=4.0)
    )


@pytest.mark.usefixtures("one_price")
def test_a_row_that_is_gone_and_a_part_that_is_gone_are_named() -> None:
    """Else a table would silently become shorter."""
    with pytest.raises(LookupError, match="kernel has no row 'emit'"):
        write_page(PAGE, make_figures(what="something else"))
    with pytest.raises(LookupError, match="prices, machines, figures"):
        write_page(PAGE.replace("begin prices", "begin costs"), make_figures())


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0.8923, "0.89 µs"),
        (58.2, "58 µs"),
        (2360, "2.36 ms"),
        (1_500_000, "1.5 s"),
        (999.9, "1 ms"),
    ],
)
def test_times_are_in_the_unit_that_a_person_would_use(microseconds: float, text: str) -> None:
    """With the digits that count."""
    assert write_time(microseconds) == text
