"""How the processes of a test run share out the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sharing import claim, list_paths

pytest_plugins = ["pytester"]

FILES = {
    "test_a": "def test_one(): pass\ndef test_two(): pass",
    "test_b": "def test_three(): assert False",
    "test_c": "import nowhere",
    "test_d": "",
}


def run(pytester: pytest.Pytester, claims: Path) -> pytest.RunResult:
    """One process of several."""
    options = ["-q", "-p", "tests.support.sharing", "-p", "no:randomly", "--claims", str(claims)]
    return pytester.runpytest_inprocess(*options, "tests")


@pytest.fixture
def files(pytester: pytest.Pytester) -> list[Path]:
    """A folder of tests, some of which fail."""
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    folder = pytester.mkdir("tests")
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return list_paths(folder)


def test_one_process_alone_runs_all(files: list[Path], pytester: pytest.Pytester) -> None:
    """A file that fails, cannot be imported or is empty keeps none from the others."""
    outcome = run(pytester, pytester.mkdir("claims"))
    outcome.assert_outcomes(passed=2, failed=1, errors=1)
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED


def test_what_another_has_taken_is_left_to_it(files: list[Path], pytester: pytest.Pytester) -> None:
    """What it does not run does not count for it."""
    claims = pytester.mkdir("claims")
    for number in (1, 2):
        (claims / str(number)).touch()
    outcome = run(pytester, claims)
    outcome.assert_outcomes(passed=2)
    assert outcome.ret == pytest.ExitCode.OK
    assert run(pytester, claims).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_every_file_is_taken_once(tmp_path: Path) -> None:
    """By whoever is free first."""
    paths = [Path(str(number)) for number in range(9)]
    first, second = claim(paths, tmp_path), claim(paths, tmp_path)
    taken = [next(first), next(second), next(second), next(first), *second, *first]
    assert taken == paths


def test_a_folder_that_leaves_files_out_is_taken_whole(tmp_path: Path) -> None:
    """Named one by one, they would be collected all the same."""
    (tmp_path / "test_a.py").touch()
    assert list_paths(tmp_path) == [tmp_path / "test_a.py"]
    (tmp_path / "conftest.py").write_text("collect_ignore_glob = ['test_*.py']", encoding="utf-8")
    assert list_paths(tmp_path) == [tmp_path]
