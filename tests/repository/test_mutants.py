"""The mutation run: which faults it makes, how it puts them in, and that its lists are true."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import tomllib
from dataclasses import asdict, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.mutants.change import (
    NoHistory,
    choose_faults,
    list_changed_lines,
    read_lines,
)
from tests.support.mutants.faults import Fault, find_faults, is_readable, list_faults
from tests.support.mutants.swapping import swap_functions

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
COMMAND = runpy.run_path(str(ROOT / "scripts" / "mutants"))
HARMLESS = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))["harmless"]

SMALL = '''"""A small file."""

LIMIT = 8

def check(size: int, names: list[str] | None = None) -> bool:
    """Whether it fits."""
    if size >= LIMIT and not names:
        raise ValueError(f"{size} is over {LIMIT}")
    while size + 1 < 3:
        logger.warning("small: %d", 5)
        size = grow(size)
    return size is not None

class Counter:
    async def add(self) -> int:
        await self.store(True)
        for one in self.all:
            if one: continue
            break
        return 1 if self.ready else len(self.all)
'''

FAULTS = """
module: 8 → 9
check: size >= LIMIT and not names → not (size >= LIMIT and (not names))
check: size >= LIMIT and not names → (size >= LIMIT or not names)
check: size >= LIMIT → size > LIMIT
check: not names → bool(names)
check: raise ValueError(f"{size} is over {LIMIT}") → pass
check: size + 1 < 3 → False
check: size + 1 < 3 → size + 1 <= 3
check: size + 1 → (size - 1)
check: 1 → 2
check: 3 → 4
check: size is not None → None
check: size is not None → size is None
Counter.add: await self.store(True) → pass
Counter.add: True → False
Counter.add: one → not (one)
Counter.add: continue → break
Counter.add: break → pass
Counter.add: 1 if self.ready else len(self.all) → None
Counter.add: self.ready → (not (self.ready))
Counter.add: 1 → 2
"""


def test_the_faults_of_a_file_are_those_of_what_it_does() -> None:
    """Conditions, comparisons, numbers, results and calls; no annotation, default, log or text."""
    found = find_faults("small.py", SMALL)
    assert [f"{one.where}: {one.before} → {one.after}" for one in found] == FAULTS.strip().split(
        "\n"
    )


def test_a_fault_changes_one_place_and_stands_on_its_line() -> None:
    """Whoever reads the report finds the place, also behind letters of several bytes."""
    fault = find_faults("wide.py", 'WORD = "größer"; SIZE = 3\nREST = "é"\n')[0]
    assert fault.apply('WORD = "größer"; SIZE = 3\nREST = "é"\n').splitlines() == [
        'WORD = "größer"; SIZE = 4',
        'REST = "é"',
    ]
    assert (fault.line, fault.last_line) == (1, 1)
    with pytest.raises(ValueError, match="has changed"):
        fault.apply("# new\n")


def test_every_fault_is_readable() -> None:
    """A file that Python cannot read fails every test and says nothing about them."""
    odd = "x = (1 if a else\n     -b)\ny = [n for n in z if not n]\nz = f(*a, **{'b': 1}) + 2 ** 3"
    text = f"{SMALL}{odd}\n"
    assert all(is_readable(one.apply(text)) for one in list_faults("odd.py", text))


@pytest.mark.parametrize("path", sorted(COMMAND["TARGETS"]))
def test_all_tests_that_a_file_names_exist(path: str) -> None:
    """A test that was moved would be left out in silence."""
    assert COMMAND["list_tests"](path)
    assert [one for one in COMMAND["TARGETS"][path] if not (ROOT / one).exists()] == []


def test_every_fault_called_harmless_exists_and_has_a_reason() -> None:
    """An entry whose code has changed is taken out of the list."""
    paths = {entry["path"] for entry in HARMLESS}
    found = {
        (path, one.where, one.before, one.after)
        for path in paths
        for one in list_faults(path, (SRC / path).read_text(encoding="utf-8"))
    }
    lost = [
        entry
        for entry in HARMLESS
        if (entry["path"], entry["where"], entry["before"], entry["after"]) not in found
    ]
    assert lost == []
    assert all(len(entry["why"]) > 20 for entry in HARMLESS)


def test_a_sample_is_the_same_until_the_file_changes() -> None:
    """Two runs on one state of the sources try the same faults, in the order of the file."""
    path = "amplifier_core/precedence.py"
    faults = list_faults(path, (SRC / path).read_text(encoding="utf-8"))
    chosen = COMMAND["choose"](faults, 5)
    assert chosen == COMMAND["choose"](faults, 5)
    assert chosen == sorted(chosen, key=lambda one: one.start)
    assert len(chosen) == 5
    assert COMMAND["choose"](faults, None) == faults


# Putting a fault in


CODE = """
def double(value):
    return value + value


class Box:
    def fill(self):
        return sorted(self.items, key=lambda one: one + 1)
"""


def load(file: Path, text: str) -> ModuleType:
    """A module of this text."""
    file.write_text(text, encoding="utf-8")
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_fault_reaches_functions_that_are_loaded_already(tmp_path: Path) -> None:
    """Also those that somebody has imported by name before."""
    module = load(tmp_path / "loaded.py", CODE)
    double, fill = module.double, module.Box.fill
    assert {double(1) for _ in range(100)} == {2}  # by now Python has specialized its code
    broken = CODE.replace("value + value", "None")
    assert swap_functions(str(tmp_path / "loaded.py"), CODE, broken, 3)
    assert double(2) is None
    assert fill(type("Full", (), {"items": [2, 1]})) == [1, 2]


def test_a_fault_outside_of_functions_cannot_be_put_in_later(tmp_path: Path) -> None:
    """What a module computed when it was loaded stays; such a fault needs a new start."""
    text = "SIZE = 3\n" + CODE
    load(tmp_path / "plain.py", text)
    assert not swap_functions(str(tmp_path / "plain.py"), text, text.replace("3", "4"), 1)


# The whole


def try_faults(
    folder: Path, faults: list[Fault], tests: list[str], seconds: float
) -> tuple[list[bool], str]:
    """Which of the faults were noticed, as many as there was time for, and what was printed."""
    task, results = folder / "task", folder / "results"
    given = {"faults": [asdict(one) for one in faults], "tests": tests, "seconds": seconds}
    task.write_text(json.dumps(given))
    command = [sys.executable, "-m", "tests.support.mutants.trials", str(task), str(results)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = results.read_text().splitlines() if results.exists() else []
    return [json.loads(one)["noticed"] for one in lines], done.stdout + done.stderr


def test_a_fault_is_noticed_exactly_if_a_test_fails(tmp_path: Path) -> None:
    """One that turns a condition round, one that adds brackets, one that is in no function."""
    path = "amplifier_core/precedence.py"
    text = (SRC / path).read_text(encoding="utf-8")
    turned = next(one for one in list_faults(path, text) if one.before == "winner is None")
    bracketed = replace(turned, after="(winner is None)")
    start = text.encode().index(b'("deny"')
    line = text[: text.index('("deny"')].count("\n") + 1
    loaded = Fault(path, start, start + 7, line, line, "module", '("deny"', '("stop"')
    faults, tests = [turned, bracketed, loaded], ["tests/core/test_precedence.py"]
    noticed, printed = try_faults(tmp_path, faults, tests, 600)
    assert noticed == [True, False, True], printed
    assert (SRC / path).read_text(encoding="utf-8") == text


def test_a_test_that_fails_without_any_fault_is_named(tmp_path: Path) -> None:
    """Whoever mends it need not look for it, and nothing is said of the faults."""
    broken = tmp_path / "test_broken.py"
    broken.write_text("def test_good(): pass\n\ndef test_bad(): raise AssertionError\n")
    path = "amplifier_core/precedence.py"
    faults = list_faults(path, (SRC / path).read_text(encoding="utf-8"))[:1]
    noticed, printed = try_faults(tmp_path, faults, [str(broken)], 60)
    assert noticed == []
    assert "without any fault, " in printed
    assert "test_broken.py::test_bad fails" in printed


# The last change


DIFF = """diff --git a/src/amplifier_core/hooks.py b/src/amplifier_core/hooks.py
--- a/src/amplifier_core/hooks.py
+++ b/src/amplifier_core/hooks.py
@@ -3 +3,2 @@ import asyncio
+a
+b
@@ -9,2 +11 @@ class X:
+c
@@ -20,2 +21,0 @@ class X:
diff --git a/src/gone.py b/src/gone.py
--- a/src/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
"""


def test_the_lines_of_a_change_are_read_from_its_diff() -> None:
    """New lines only: what is gone has no faults."""
    assert read_lines(DIFF.splitlines()) == {"amplifier_core/hooks.py": {3, 4, 11}}


def test_without_a_history_there_is_no_last_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unpacked archive, a clone of one commit, or a machine without git."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NoHistory, match=r"\w"):
        list_changed_lines(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoHistory, match="git cannot be run"):
        list_changed_lines(tmp_path)


def test_faults_are_chosen_in_the_changed_lines_of_guarded_files(tmp_path: Path) -> None:
    """The same ones for the same content, and none where nothing can be wrong."""
    (tmp_path / "small.py").write_text(SMALL)
    changed = {"small.py": {7}, "free.py": {1}}
    chosen = choose_faults(tmp_path, changed, ["small.py", "gone.py"], 3)
    assert chosen == choose_faults(tmp_path, changed, ["small.py"], 3)
    assert [one.line for one in chosen] == [7, 7, 7]
    assert choose_faults(tmp_path, {"small.py": {2}}, ["small.py"], 3) == []
    assert choose_faults(tmp_path, changed, [], 3) == []


@pytest.mark.timeout(600)
def test_faults_in_the_last_change_are_noticed(tmp_path: Path) -> None:
    """Three in what it touched of a file that decides; one may stay unnoticed, as in a sample."""
    try:
        changed = list_changed_lines(ROOT)
    except NoHistory as reason:
        pytest.skip(f"The last change is not known: {reason}")
    faults = choose_faults(SRC, changed, COMMAND["TARGETS"], 3)
    if not faults:
        pytest.skip("The last change touched nothing of the files that decide")
    noticed, printed = try_faults(tmp_path, faults, COMMAND["list_tests"](faults[0].path), 40)
    if not noticed:
        pytest.skip(f"No fault could be tried in time: {printed[-500:]}")
    harmless = COMMAND["read_harmless"]()
    missed = [
        str(fault)
        for fault, was_noticed in zip(faults, noticed, strict=False)
        if not was_noticed and (fault.path, fault.where, fault.before, fault.after) not in harmless
    ]
    assert len(missed) <= 1, "No test notices:\n" + "\n".join(missed)
