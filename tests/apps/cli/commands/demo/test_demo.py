"""amplifier demo: in a minute a stranger sees why hooks matter; in CI in a few seconds."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest

from amplifier_apps.cli.commands.demo.story import AFTER, BEFORE, SECRET
from tests.apps.cli.commands.test_run import PROGRAM, amplifier
from tests.apps.cli.pty_program import PtyProgram


@pytest.mark.parametrize(
    ("flags", "outcome", "content"),
    [
        ((), "is untouched: the write was refused", BEFORE),
        (("--no",), "is untouched: the write was refused", BEFORE),
        (("--yes",), "was written, as allowed", AFTER),
    ],
)
def test_the_demo_runs_unattended(
    home: Path, flags: tuple[str, ...], outcome: str, content: str
) -> None:
    """Real files, real linter, real hooks, real trail; `--yes`, `--no` and no terminal work."""
    started = time.monotonic()
    done = amplifier("demo", "--keep", *flags)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - started < 30
    told = done.stdout + done.stderr
    for hook, did in {
        "hooks-linter-feedback": "told the agent once",
        "hooks-command-guard": "denied once",
        "hooks-production-guard": "asked the person once",
    }.items():
        assert re.search(rf"{hook} +{did}", done.stdout)
    assert outcome in done.stdout
    assert "proven to" in done.stdout
    assert SECRET not in told
    assert ("nobody can be asked" in done.stdout) == (not flags)
    kept = re.search(r"kept in (\S+);", done.stdout)
    assert kept is not None
    project = Path(kept.group(1)) / "project"
    assert (project / "production" / "app.conf").read_text() == content
    assert "import os" not in (project / "greeting.py").read_text()


def test_the_demo_leaves_nothing_behind(home: Path) -> None:
    """Without --keep its folder is gone, and the home is untouched."""
    assert amplifier("demo", "--no").returncode == 0
    assert list((home / "tmp").iterdir()) == []
    assert [path.name for path in home.iterdir()] == ["tmp"]


@pytest.mark.parametrize(
    ("columns", "key", "outcome"), [(80, "a", "as allowed"), (200, "d", "was refused")]
)
def test_the_person_decides_at_a_terminal(home: Path, columns: int, key: str, outcome: str) -> None:
    """A production write asks the person, with a countdown."""
    program = PtyProgram([*PROGRAM, "demo"], columns, 60, {})
    try:
        program.wait_for_question("Approval needed")
        shown = program.text()
        assert "Refused in 0:" in shown
        assert "│ + workers = 4" in shown
        program.press(key)
        assert program.wait_end(30) == 0
        assert outcome in program.text()
        assert "Try next" in program.text()
        assert SECRET.encode() not in program.raw
    finally:
        program.child.close(force=True)


def test_nobody_decides(home: Path) -> None:
    """The countdown ends in the safe default."""
    program = PtyProgram([*PROGRAM, "demo", "--timeout", "5"], 100, 60, {})
    try:
        program.wait_for("Approval needed", 20)
        assert program.wait_end(30) == 0
        assert "nobody decided in time" in program.text()
        assert "is untouched" in program.text()
    finally:
        program.child.close(force=True)


def test_without_ruff_the_rest_is_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the linter sees the other scenes, and is told."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    script = (
        "import sys\nfrom amplifier_apps.cli.commands.demo import report as demo_report\n"
        "demo_report.ruff = lambda: None\n"
        "from amplifier_apps.cli.main import main\nmain(['demo', '--no'])"
    )
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ruff is not installed" in done.stdout
