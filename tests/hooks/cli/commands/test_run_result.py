"""The last line of `run --json`: there whatever happened, with a status for each way to end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from amplifier_core.errors import SessionDenied
from amplifier_core.llm_errors import AuthenticationError
from amplifier_hooks import BundleError
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.run import describe_failure, name_status
from amplifier_hooks.cli.main import run
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import PROGRAM
from tests.support.trust import trust_project

HELLO = {"text": "Hello to you."}
SLOW = {"text": "Hello.", "delay": 60}
PROVIDER_OF_NONSENSE = """
class Nonsense:
    name = "nonsense"

    async def complete(self, request, **options):
        return 7


async def mount(coordinator, config=None):
    await coordinator.mount("providers", Nonsense(), name="nonsense")
"""
DENIES_PROMPTS = """
from amplifier_core.handlers import hook
from amplifier_core.models import HookResult


@hook("prompt:submit", on_error="deny")
def refuse(event, data):
    return HookResult(action="deny", reason="not today")
"""


def run_json(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[Any]]:
    """The exit code, and every line of standard output as what it is: JSON."""
    code = run(["run", "--json", *arguments])
    return code, [json.loads(line) for line in capfd.readouterr().out.splitlines()]


@pytest.fixture
def refusing(home: Path) -> list[dict[str, Any]]:
    """The entry of a hook that denies every prompt."""
    (home / "refusing.py").write_text(DENIES_PROMPTS)
    return [{"module": "refusing", "source": "./refusing.py"}]


class TestItIsThere:
    """Whatever happened, the last line is the result, and its status says how it ended."""

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [(["--jsn", "hi"], "No such option '--jsn'"), ([" "], "There is no prompt")],
    )
    def test_wrong_usage(
        self, home: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], error: str
    ) -> None:
        """Before anything was started."""
        code, said = run_json(capfd, *arguments)
        assert code == exit_codes.USAGE
        assert [(one["type"], one["status"]) for one in said] == [("result", "usage")]
        assert error in said[0]["error"]

    def test_a_bundle_that_cannot_be_used(
        self, home: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Its file and line are in the error."""
        (home / "amplifier.yaml").write_text("hooks:\n  - modul: x\n")
        code, said = run_json(capfd, "hi")
        assert (code, said[-1]["status"]) == (exit_codes.CONFIGURATION, "unusable")
        assert "amplifier.yaml:2:" in said[-1]["error"]

    def test_a_module_that_cannot_be_imported(
        self, project: Project, home: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """The line of the bundle that names it, and the line of the module that failed."""
        (home / "bad.py").write_text("import nothing_at_all\n")
        path = project(HELLO, hooks=[{"module": "bad", "source": "./bad.py"}])
        line = path.read_text().splitlines().index("- module: bad") + 1
        code, said = run_json(capfd, "hi")
        assert (code, said[-1]["status"]) == (exit_codes.CONFIGURATION, "unusable")
        assert f"amplifier.yaml:{line}:" in said[-1]["error"]
        assert "(bad.py, line 1)" in said[-1]["error"]

    def test_a_folder_that_nobody_trusts(
        self, project: Project, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Without a terminal nobody can be asked."""
        project(HELLO, trusted=False)
        code, said = run_json(capfd, "--approve", "deny", "hi")
        assert (code, said[-1]["status"]) == (exit_codes.CONFIGURATION, "unusable")
        assert "has not been trusted" in said[-1]["error"]

    def test_no_model(self, home: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """Nothing is configured that could answer."""
        code, said = run_json(capfd, "hi")
        assert (code, said[-1]["status"]) == (exit_codes.NO_MODEL, "no_model")

    def test_a_model_that_fails(self, project: Project, capfd: pytest.CaptureFixture[str]) -> None:
        """The session's id is known by then."""
        project({"error": "invalid_request"})
        code, said = run_json(capfd, "hi")
        result, end = said[-1], said[-2]
        assert (code, result["status"]) == (exit_codes.FAILED, "failed")
        assert result["error"] == "The script says invalid request."
        assert (end["event"], end["data"]["session_id"]) == ("session:end", result["session_id"])

    def test_a_model_that_answers_nonsense(
        self, project: Project, home: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """It is a failure, not an answer."""
        (home / "nonsense.py").write_text(PROVIDER_OF_NONSENSE)
        loop = {"module": "loop-basic", "config": {"provider": "nonsense"}}
        project(HELLO, trusted=False, session={"orchestrator": loop})
        bundle = (home / "amplifier.yaml").read_text()
        entry = "- module: provider-nonsense\n  source: ./nonsense.py\n"
        (home / "amplifier.yaml").write_text(bundle.replace("providers:\n", f"providers:\n{entry}"))
        trust_project(home)
        code, said = run_json(capfd, "hi")
        assert (code, said[-1]["status"]) == (exit_codes.FAILED, "failed")
        assert "returned int" in said[-1]["error"]

    def test_a_run_over_its_time(self, project: Project, capfd: pytest.CaptureFixture[str]) -> None:
        """It says which limit it was."""
        project(SLOW, session={"turn_timeout": 0.2})
        code, said = run_json(capfd, "hi")
        assert (code, said[-1]["status"]) == (exit_codes.FAILED, "timeout")
        assert said[-1]["error"] == "The turn took longer than 0.2 s (session.turn_timeout)"

    def test_a_denied_prompt(
        self,
        project: Project,
        refusing: list[dict[str, Any]],
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        """Every event of it appears: the prompt itself, then its denial."""
        project(HELLO, hooks=refusing)
        code, said = run_json(capfd, "hi")
        assert (code, said[-1]["status"]) == (exit_codes.DENIED, "denied")
        told = [(one["event"], one["data"]) for one in said if one["type"] == "event"]
        names = [name for name, _ in told]
        assert names[:2] == ["prompt:submit", "policy:violation"]
        assert names.count("prompt:submit") == 1
        assert told[0][1]["prompt"] == "hi"

    def test_sigterm(self, project: Project) -> None:
        """The session is ended first, with the reason; only then the process."""
        project(SLOW)
        program = subprocess.Popen(
            [*PROGRAM, "run", "--json", "hi"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=dict(os.environ),
        )
        with program:
            assert program.stdout is not None
            while "provider:request" not in (line := program.stdout.readline()):
                assert line, program.communicate()[1]
            program.send_signal(signal.SIGTERM)
            rest, errors = program.communicate(timeout=60)
        *_, end, result = [json.loads(one) for one in rest.splitlines()]
        assert program.returncode == exit_codes.TERMINATED
        assert end["data"]["reason"] == "user_exit"
        assert (result["status"], result["error"]) == ("terminated", "Ended by SIGTERM.")
        assert errors == "Error: Ended by SIGTERM.\n"


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (KeyboardInterrupt(), "interrupted", "Interrupted."),
        (click.Abort(), "interrupted", "Interrupted."),
        (asyncio.CancelledError(), "failed", "CancelledError"),
        (RuntimeError("broken\x1b[2J"), "failed", "broken\\u{1B}[2J"),
        (click.ClickException("no"), "failed", "no"),
        (SessionDenied("not now"), "denied", "not now"),
        (AuthenticationError("wrong key"), "no_model", "wrong key"),
        (BundleError([]), "unusable", "BundleError"),
        (TimeoutError("too long"), "timeout", "too long"),
    ],
)
def test_whatever_is_raised_has_a_status_and_a_sentence(
    error: BaseException, status: str, text: str
) -> None:
    """No error leaves the line without a word, and none reaches a terminal's controls."""
    assert (name_status(error), describe_failure(error)) == (status, text)


def test_help_is_no_run(capfd: pytest.CaptureFixture[str]) -> None:
    """It is asked for beside --json only by mistake, and ends without a result."""
    assert run(["run", "--json", "--help"]) == exit_codes.DONE
    assert '"type"' not in capfd.readouterr().out
