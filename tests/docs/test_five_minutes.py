"""docs/five-minutes.md works as written, from an installed clone to a denied call."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.docs.blocks import FENCE
from tests.hooks.cli.conftest import home as home
from tests.hooks.cli.program import Outcome, invoke, run_at_terminal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "five-minutes.md").read_text(encoding="utf-8")
BLOCKS = [(one[1], one[2]) for one in FENCE.finditer(PAGE)]
INSTALL, FOLDER, RUN, TRACE, AUDIT = (text.splitlines() for kind, text in BLOCKS if kind == "sh")
(HOOK,) = (text for kind, text in BLOCKS if kind == "python")
(BUNDLE,) = (text for kind, text in BLOCKS if kind == "yaml")
(SHOWN,) = (text.splitlines() for kind, text in BLOCKS if kind == "")


def split_command(line: str) -> list[str]:
    """The arguments of a line that starts our command."""
    name, *arguments = shlex.split(line)
    assert name == "amplifier"
    return arguments


def run_lines(lines: list[str]) -> list[Outcome]:
    """What each line of a block ends with."""
    return [invoke(*split_command(line)) for line in lines]


def test_the_first_step_is_what_the_makefile_has() -> None:
    """Installing has tests of its own, which take a minute."""
    assert INSTALL == ["make demo", ". .venv/bin/activate"]
    assert "\ndemo: " in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_whoever_follows_the_page_sees_the_call_denied(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is trusted at the question; then the agent is denied, and all is on record."""
    assert FOLDER == ["mkdir -p ~/my-agent/hooks", "cd ~/my-agent"]
    folder = home / "my-agent"
    (folder / "hooks").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "hooks" / "no_push.py").write_text(HOOK, encoding="utf-8")
    (folder / "amplifier.yaml").write_text(BUNDLE, encoding="utf-8")
    with run_at_terminal(*split_command(*RUN), rows=60, columns=120) as agent:
        agent.wait_for_question("Trust this folder?", "leave_pushing_to_people")
        agent.press("a")
        assert agent.wait_end() == 0
        screen = agent.lines()
    assert [line for line in SHOWN if line not in screen] == []
    goes_on, denied = run_lines(TRACE)
    assert "⇒ deny" not in goes_on.output
    assert "⇒ deny  it would not happen: People push here." in denied.output
    shown, verified = run_lines(AUDIT)
    assert "denied by no_push.leave_pushing_to_people" in shown.output
    assert "CONSISTENT" in verified.output
