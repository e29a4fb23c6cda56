"""How the processes of a test run share out the files."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sharing import claim, list_paths

pytest_plugins = ["pytester"]

FILES = {
    "tests/test_a.py": "def test_one(): pass\ndef test_two(): pass",
    "tests/test_b.py": "def test_three(): assert False",
    "tests/test_c.py": "import nowhere",
    "tests/test_d.py": "",
    "tests/inner/conftest.py": "import pytest\n@pytest.fixture\ndef gift(): return 1",
    "tests/inner/test_e.py": "def test_four(gift): assert gift == 1",
    "tests/inner/test_f.py": "def test_five(gift): assert gift == 1",
}


def run(pytester: pytest.Pytester, claims: Path) -> pytest.RunResult:
    """One process of several."""
    options = ["-q", "-p", "tests.support.sharing", "--claims", str(claims)]
    return pytester.runpytest_inprocess(*options, "tests")


@pytest.fixture(autouse=True)
def garbage() -> Iterator[None]:
    """The inner run changes how this process looks for it."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.fixture
def files(pytester: pytest.Pytester) -> list[Path]:
    """A folder of tests, some of which fail."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.mkdir("tests").joinpath("inner").mkdir()
    for name, text in FILES.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    return list_paths(pytester.path / "tests")


def test_one_process_alone_runs_all(files: list[Path], pytester: pytest.Pytester) -> None:
    """A file that fails, cannot be imported or is empty keeps none from the others."""
    outcome = run(pytester, pytester.mkdir("claims"))
    outcome.assert_outcomes(passed=4, failed=1, errors=1)
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.usefixtures("files")
def test_a_file_is_compiled_once_and_what_its_tests_import_is_not_kept(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the environment keeps no bytecode: a test may write a module twice in a second."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(pytester.path)
    (pytester.path / "made.py").write_text("")
    (pytester.path / "tests/test_a.py").write_text("def test_one(): import made")
    run(pytester, pytester.mkdir("claims")).assert_outcomes(passed=3, failed=1, errors=1)
    kept = {path.name.partition(".")[0] for path in pytester.path.rglob("*.pyc")}
    assert {"test_a", "test_b"} <= kept
    assert "made" not in kept


def test_what_another_has_taken_is_left_to_it(files: list[Path], pytester: pytest.Pytester) -> None:
    """What it does not run does not count for it."""
    claims = pytester.mkdir("claims")
    for name in ("tests/test_b.py", "tests/test_c.py", "tests/inner/test_e.py"):
        assert claim(name, claims)
    outcome = run(pytester, claims)
    outcome.assert_outcomes(passed=3)
    assert outcome.ret == pytest.ExitCode.OK
    assert run(pytester, claims).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_every_file_is_taken_once(tmp_path: Path) -> None:
    """By whoever asks first."""
    names = ["tests/a/test_x.py", "tests/b/test_x.py"]
    assert [claim(name, tmp_path) for name in [*names, *names]] == [True, True, False, False]


def test_all_processes_go_through_the_files_in_one_order(
    files: list[Path], pytester: pytest.Pytester
) -> None:
    """However each of them shuffles the tests of a file."""
    claims = pytester.mkdir("claims")
    outcome = run(pytester, claims)
    shown = [
        line.split()[0]
        for line in outcome.outlines
        if line.startswith("tests/") and ":" not in line
    ]
    wanted = [str(file.relative_to(pytester.path)) for file in files]
    assert shown == [name for name in wanted if name in shown]
    assert len(list(claims.iterdir())) == len(wanted)


def test_a_folder_that_leaves_files_out_is_taken_whole(tmp_path: Path) -> None:
    """Named one by one, they would be collected all the same."""
    (tmp_path / "test_a.py").touch()
    assert list_paths(tmp_path) == [tmp_path / "test_a.py"]
    (tmp_path / "conftest.py").write_text("collect_ignore_glob = ['test_*.py']", encoding="utf-8")
    assert list_paths(tmp_path) == [tmp_path]
