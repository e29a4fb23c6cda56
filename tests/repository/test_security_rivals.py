"""The comparison with other products: nothing runs, and the page has the measured figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.security import rivals
from benchmarks.security.compared_texts import KINDS, TextSet, list_sets
from benchmarks.security.page import (
    PAGE,
    Figures,
    format_comparison,
    read_figures,
    renew_comparison,
    renew_rows,
    write_page,
)
from benchmarks.security.rival_runner import JUDGES, judge_all
from benchmarks.security.rivals import RIVALS, Compared, Rival
from benchmarks.security.table import Row

EMPTY: Figures = {"rows": {}, "compared": {}, "sets": {}}
NOBODY = Rival("nobody", "1.0", {"commands": "`judge`"})
RUNNER = Path(rivals.__file__).with_name("rival_runner.py")


def test_the_page_agrees_with_the_figures() -> None:
    """To renew it: python -m benchmarks.security --page, and with --write the figures as well."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == write_page(page, read_figures())


def test_every_rival_can_be_asked_about_what_it_says() -> None:
    assert {(one.title, kind) for one in RIVALS for kind in one.asked} == set(JUDGES)


def test_a_rival_that_is_not_installed_has_a_row_that_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(rivals.FOLDER, str(tmp_path))
    monkeypatch.setattr(rivals, "RIVALS", (NOBODY,))
    monkeypatch.setattr(rivals, "KINDS", ("commands",))
    monkeypatch.setattr(
        rivals, "list_sets", lambda kind: [TextSet("two", kind, ["ls", "rm -rf /"], True)]
    )
    *ours, nobody = rivals.compare()
    assert [one.shares for one in ours] == [{"two": 50}, {"two": 50}, {"two": 50}]
    assert nobody.missing == "not installed (make bench-rivals)"
    figures = renew_comparison(EMPTY, [*ours, nobody])
    assert "| nobody | not installed (make bench-rivals) |\n" in format_comparison(
        figures, "commands"
    )


def test_what_cannot_be_measured_keeps_its_last_figure() -> None:
    asked = Compared("commands", "nah", "1", "so", {"a": 10.0})
    known = renew_comparison(renew_rows(EMPTY, [Row("x", 1.0)]), [asked])
    gone = Compared("commands", "nah", "1", "so", missing="gone")
    assert renew_comparison(renew_rows(known, [Row("x", missing="data")]), [gone]) == known


def test_a_product_that_fails_on_one_text_stops_it_and_on_many_has_no_figures() -> None:
    def fail_on_x(text: str) -> bool:
        return bool({"a": False}[text])

    assert judge_all(fail_on_x, ["a"] * 99 + ["x"]) == [False] * 99 + [True]
    with pytest.raises(KeyError):
        judge_all(fail_on_x, ["a", "x"])


@pytest.mark.parametrize(
    "attempt",
    [
        "import os; os.system('true')",
        "import subprocess; subprocess.run(['true'])",
        "import subprocess; subprocess.run(['git', 'push'])",
        "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
    ],
)
def test_a_product_that_runs_or_connects_to_something_ends(attempt: str) -> None:
    load = f"import sys; sys.path.insert(0, {str(RUNNER.parents[2])!r})"
    hook = "from benchmarks.security import rival_runner; sys.addaudithook(rival_runner._refuse)"
    program = f"{load}; {hook}; {attempt}; print('went on')"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 70
    assert "refused" in done.stderr
    assert done.stdout == ""


def test_each_kind_has_harmful_and_ordinary_texts_of_our_own() -> None:
    for kind in KINDS:
        assert {one.is_harmful for one in list_sets(kind)} == {True, False}


def test_the_runner_answers_in_the_order_of_the_texts(tmp_path: Path) -> None:
    package = tmp_path / "injectguard"
    package.mkdir()
    code = (
        "from types import SimpleNamespace as N\ndef scan(text): return N(is_injection='x' in text)"
    )
    (package / "__init__.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-P", str(RUNNER), "injectguard", "injections"],
        input=json.dumps(["a", "x"]),
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [False, True]


def test_an_unknown_product_is_not_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert rivals.main(["nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
