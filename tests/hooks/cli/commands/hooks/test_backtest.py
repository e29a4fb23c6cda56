"""amplifier hooks backtest: from recorded sessions to what other hooks would have decided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_hooks.insight.backtest.job import Launch
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke

SCRIPT = (
    {"tool_calls": [{"name": "Read", "input": {"file_path": "notes.txt"}}]},
    {"tool_calls": [{"name": "Read", "input": {"file_path": "secret.txt"}}]},
    {"text": "done"},
)
GUARD = """
from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    if "secret" in data["tool_input"]["file_path"]:
        return HookResult(action="deny", reason="it is secret")
"""


@pytest.fixture
def recorded(project: Project, home: Path) -> Path:
    """A session of the default bundle that read two files; the folder it worked in."""
    for name in ("notes.txt", "secret.txt"):
        (home / name).write_text("text")
    project(*SCRIPT)
    assert invoke("run", "read the files").code == 0
    return home


def test_a_session_of_the_default_bundle_differs_only_where_a_hook_was_added(
    recorded: Path,
) -> None:
    """Guards, displays, tools' own hooks: all of them decide what they decided."""
    (recorded / "guard.py").write_text(GUARD)
    arguments = ("--hook", "guard.py", "--fail-on", "newly-denied", "--json")
    ran = invoke("hooks", "backtest", *arguments)
    assert ran.code == 1
    told = json.loads(ran.stdout)
    found = {kind: number for kind, number in told["differences"].items() if number}
    assert found.pop("newly_denied") == 1
    assert set(found) <= {"cannot_tell"}
    assert {one["field"] for one in told["cannot_tell"]} <= {"messages", "response"}
    assert "secret.txt" in told["examples"]["newly_denied"][0]["about"]
    assert told["trails"] == {"all": 1, "done": 1, "from_state": 0}
    assert (told["complete"], told["version"]) == (True, 1)


def test_only_what_is_trusted_runs_and_whoever_stops_it_gets_what_was_found(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bundle that nobody has looked at may have any hooks."""

    async def stop(self: Launch) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Launch, "run", stop)
    ran = invoke("hooks", "backtest")
    assert ran.code == 130
    assert "Stopped: 0 of 1 sessions were read to their end." in ran.stdout
    (recorded / "amplifier.yaml").write_text("name: other\n")
    ran = invoke("hooks", "backtest")
    assert ran.code == 3
    assert "amplifier trust" in ran.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only"], "--only needs --hook or --rules"),
        (["--fail-on", "denied"], "unknown denied; have newly_denied, "),
        (["nowhere"], "No trail 'nowhere'"),
        (["--since", "soon"], "'soon' is not a time"),
    ],
)
def test_a_slip_is_a_sentence(home: Path, arguments: list[str], said: str) -> None:
    """What, which value, and what would do."""
    ran = invoke("hooks", "backtest", *arguments)
    assert ran.code == 2
    assert said in ran.output


def test_a_folder_without_sessions_says_so(home: Path) -> None:
    """And where else to look."""
    ran = invoke("hooks", "backtest")
    assert ran.code == 2
    assert "There is no recorded session of this folder" in ran.output
    assert "--everywhere" in ran.output


def test_a_file_that_is_no_state_is_not_replaced(recorded: Path) -> None:
    """Whoever mistypes a name does not lose a file."""
    other = recorded / "notes.txt"
    ran = invoke("hooks", "backtest", "--state", other)
    assert ran.code == 2
    assert "is not one that a backtest has written" in ran.stderr
    assert other.read_text() == "text"
