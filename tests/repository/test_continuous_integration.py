"""Continuous integration runs what a new machine would run, without the variables of this one."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHROMIUM = "scripts/ensure-chromium"


def run_ci(folder: Path, chromium: str, make: str = "") -> tuple[int, list[str]]:
    """The exit code of `.ci/run`, and what its steps wrote; `make` ends each run of make."""
    for name in (".ci/run", CHROMIUM, "bin/make"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / ".ci/run", folder / ".ci/run")
    log = folder / "log"
    (folder / CHROMIUM).write_text(f"#!/bin/sh\necho chromium >> {log}\n{chromium}\n")
    (folder / "bin/make").write_text(
        f'#!/bin/sh\necho "make $*" >> {log}\nenv | sort >> {log}\n{make}\n'
    )
    for name in (CHROMIUM, "bin/make"):
        (folder / name).chmod(0o755)
    variables = {
        "PATH": f"{folder}/bin:/usr/bin:/bin",
        "HOME": "/somewhere",
        "LANG": "de_DE.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "CI": "true",
        "TERM": "xterm",
        "AMPLIFIER_KEY": "a secret",
        "PIP_CERT": "/etc/a b.pem",
        "https_proxy": "http://proxy.test:1",
        "HTTPS_PROXY": "http://proxy.test:1\nsecond line",
        "NODE_EXTRA_CA_CERTS": "",
    }
    done = subprocess.run([folder / ".ci/run"], env=variables, check=False)
    return done.returncode, log.read_text().splitlines()


def test_only_what_finds_programs_and_packages_is_passed_on(tmp_path: Path) -> None:
    """A variable that is not set stays so; a value may have spaces and lines."""
    code, lines = run_ci(tmp_path, "exit 0")
    assert code == 0
    steps = [line for line in lines if line.startswith(("make ", "chromium"))]
    assert steps == ["chromium", "make check", "make test"]
    made_by_the_shell = {"PWD", "SHLVL", "_", "OLDPWD"}
    assert {line.partition("=")[0] for line in lines if "=" in line} - made_by_the_shell == {
        *("PATH", "HOME", "LANG", "PIP_CERT", "https_proxy", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"),
    }
    assert {"LANG=C.UTF-8", "PIP_CERT=/etc/a b.pem", "second line"} <= set(lines)


def test_a_browser_that_cannot_be_had_is_no_failure(tmp_path: Path) -> None:
    """Its tests are skipped; everything else runs."""
    code, lines = run_ci(tmp_path, "exit 1")
    assert (code, "make test" in lines) == (0, True)


def test_a_step_that_fails_is_one(tmp_path: Path) -> None:
    """The exit code is that of the step, and what follows does not run."""
    code, lines = run_ci(tmp_path, "exit 0", make="exit 3")
    assert (code, "make test" in lines) == (3, False)


def test_tests_that_an_agent_runs_have_no_agent_above_them(tmp_path: Path) -> None:
    """They play people, whose commands agents may not run; the exit code comes through."""
    program = tmp_path / "above.py"
    program.write_text(
        "import sys\nfrom amplifier_hooks.cli.person import find_agent\n"
        "print(find_agent())\nsys.exit(7)\n"
    )
    seen = {}
    for name, before in (("bare", []), ("apart", [sys.executable, str(ROOT / "scripts/apart")])):
        # The shell must stay above it, so something has to follow.
        line = shlex.join([*before, sys.executable, str(program)]) + "; echo code $?"
        done = subprocess.run(
            ["claude", "-c", line],
            executable="/bin/sh",
            env={**os.environ, "CLAUDECODE": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        seen[name] = done.stdout.splitlines()
    assert seen == {"bare": ["CLAUDECODE is set", "code 7"], "apart": ["None", "code 7"]}
