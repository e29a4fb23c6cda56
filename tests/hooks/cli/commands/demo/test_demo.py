"""amplifier demo: in a minute a stranger sees why hooks matter; in CI in a few seconds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.cli.commands.demo.session import AFTER, BEFORE, SECRET
from tests.hooks.cli.program import run_amplifier, run_at_terminal


@pytest.mark.parametrize(
    ("flags", "outcome", "content"),
    [
        ((), "is untouched: the write was refused", BEFORE),
        (("--yes",), "was written, as allowed", AFTER),
    ],
)
def test_the_demo_runs_unattended(
    home: Path, flags: tuple[str, ...], outcome: str, content: str
) -> None:
    """Real files, real linter, real hooks, real trail; with an answer given before, or none."""
    done = run_amplifier("demo", "--keep", *flags)
    assert done.code == 0, done.stderr
    for hook, did in {
        "hooks-linter-feedback": "told the agent once",
        "hooks-command-guard": "denied once",
        "hooks-production-guard": "asked the person once",
    }.items():
        assert re.search(rf"{hook} +{did}", done.stdout)
    assert outcome in done.stdout
    assert "proven to" in done.stdout
    assert re.findall(f".*{SECRET}.*", done.output) == [
        f"  notes.txt, on disk              The bucket's key is {SECRET}."
    ]
    assert "as the agent saw it  The bucket's key is [REDACTED" in done.stdout
    assert "production/app.conf, before     workers = 2" in done.stdout
    assert f"production/app.conf, after      {content.splitlines()[0]}" in done.stdout
    assert ("no terminal to ask on" in done.stdout) == (not flags)
    kept = re.search(r"kept in (\S+)", done.stdout)
    assert kept is not None
    project = Path(kept.group(1)) / "project"
    assert (project / "production" / "app.conf").read_text() == content
    assert "import os" not in (project / "greeting.py").read_text()


def test_the_demo_leaves_nothing_behind(home: Path) -> None:
    """Without --keep its folder is gone, and no file of it is in the home."""
    done = run_amplifier("demo", "--no")
    assert done.code == 0, done.stderr
    assert "is untouched: the write was refused" in done.stdout
    assert "no terminal to ask on" not in done.stdout
    assert list((home / "tmp").iterdir()) == []
    assert [path for path in home.rglob("*") if not path.is_dir()] == []


def test_the_person_decides_at_a_terminal(home: Path) -> None:
    """A write to production asks, with a countdown and the change."""
    with run_at_terminal("demo", columns=80, rows=60) as program:
        program.wait_for_question("Denies in 0:", "│ + workers = 4")
        program.press("a")
        assert program.wait_end(30) == 0
        assert "as allowed" in program.text()
        assert "Try next" in program.text()
        assert program.raw.count(SECRET.encode()) == 1


@pytest.mark.parametrize("at_question", [False, True])
def test_ctrl_c_ends_it_with_130(home: Path, at_question: bool) -> None:
    """While it runs and while it asks; its folder is gone then, too."""
    with run_at_terminal("demo", rows=60) as program:
        if at_question:
            program.wait_for_question("production/app.conf")
        else:
            program.wait_for("I write the helper")
        program.press("\x03")
        assert program.wait_end() == 130
        assert "Interrupted." in program.text()
        assert "Traceback" not in program.text()
    assert list((home / "tmp").iterdir()) == []


def test_nobody_decides(home: Path) -> None:
    """The countdown ends in the safe default."""
    with run_at_terminal("demo", "--timeout", "2", columns=100, rows=60) as program:
        program.wait_for("Approval needed")
        assert program.wait_end(30) == 0
        assert "nobody decided in time" in program.text()
        assert "is untouched" in program.text()


WITHOUT_OTHERS = """
import shutil, sys
shutil.which = lambda *_, **__: None
sys.modules["cryptography"] = None
from amplifier_hooks.cli.main import main
main(["demo", "--no"])
"""


def test_without_ruff_and_cryptography_the_rest_is_shown(home: Path) -> None:
    """And told; the checkpoints outside prove a trail that is not signed all the same."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_OTHERS],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == 0, done.stderr
    assert "ruff is not installed" in done.stdout
    assert "there is no ruff to lint it" in done.stdout
    assert re.search(r"proven to \d+ by a checkpoint kept outside", done.stdout)
