"""`make test-all` runs the tests on every supported Python that it finds, and hides no failure."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = (
    '#!/bin/sh\n[ "$1" = -c ] || exit 9\ncase "$2" in *"(3, {minor})"*) exit 0;; *) exit 1;; esac\n'
)
SETUP = """#!/bin/sh
mkdir -p "$VENV/bin"
code=$(cat "$PYTHON.code")
printf '#!/bin/sh\\necho "ran in %s"\\nexit %s\\n' "$VENV" "$code" > "$VENV/bin/python"
chmod +x "$VENV/bin/python"
"""


def run_all(folder: Path, codes: dict[str, int]) -> tuple[int, list[str]]:
    """The exit code and the output, on a machine that has these Pythons, whose tests end so."""
    (folder / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/test-all", folder / "scripts/test-all")
    write_program(folder / "scripts/setup", SETUP)
    for place, code in codes.items():
        minor = place.partition("3.")[2].partition(".")[0].partition("/")[0]
        write_program(folder / place, PYTHON.format(minor=minor))
        (folder / f"{place}.code").write_text(str(code))
    variables = {"PATH": f"{folder}/bin:/usr/bin:/bin", "PYENV_ROOT": f"{folder}/pyenv"}
    hidden = {f"python3.{minor}" for minor in range(11, 15)} - {Path(one).name for one in codes}
    for name in hidden:  # which this machine may have
        write_program(folder / "bin" / name, "#!/bin/sh\nexit 1\n")
    done = subprocess.run(
        [folder / "scripts/test-all"], env=variables, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_each_python_has_an_environment_and_a_result(tmp_path: Path) -> None:
    """On the path, or installed by pyenv; what is not there is said."""
    code, lines = run_all(tmp_path, {"bin/python3.11": 0, "pyenv/versions/3.13.0/bin/python": 0})
    assert code == 0
    assert [line for line in lines if line.startswith("ran")] == [
        "ran in .venvs/python3.11",
        "ran in .venvs/python3.13",
    ]
    assert lines[-4:] == [
        "Python 3.11: passed",
        "Python 3.12: not found",
        "Python 3.13: passed",
        "Python 3.14: not found",
    ]


@pytest.mark.parametrize("codes", [{}, {"bin/python3.11": 1, "bin/python3.12": 0}])
def test_a_failure_is_one_and_so_is_no_python_at_all(tmp_path: Path, codes: dict[str, int]) -> None:
    """The others still run."""
    code, lines = run_all(tmp_path, codes)
    assert code == 1
    assert ("Python 3.12: passed" in lines) == bool(codes)
    assert ("Python 3.11: FAILED" in lines) == bool(codes)
