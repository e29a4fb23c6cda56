"""amplifier hooks backtest: from recorded sessions to what other hooks would have decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.cli.commands.hooks.backtest import print_findings
from amplifier_hooks.insight.backtest import Tally
from amplifier_hooks.insight.backtest.counts import UnclearGroup, make_report
from amplifier_hooks.insight.backtest.job import Launch
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke


def _make_report(**more: Any) -> dict[str, Any]:
    tally = Tally(most_examples=1, sessions=2, events=100, first="2026-11-01T", last="2026-11-02T")
    for _ in range(3):
        tally.count("newly_denied", "guard")
        tally.count_person("newly_denied", "allowed")
    tally.count("changed_input", "editor")
    tally.count("error", "broken")
    example = {
        "trail": "/audit/3f0c2a18-aaaa",
        "session": "3f0c2a18-aaaa",
        "sequence": 17,
        "time": "2026-11-01T10:11:12.5Z",
        "event": "tool:pre",
        "tool": "Bash\x1b[2J",
        "about": "git push --force\nsecond line",
        "was": {"action": "ask_user", "hook": "asker", "reason": "", "asks": ["Push?"]},
        "would": {"action": "deny", "hook": "guard", "reason": "no force", "asks": []},
        "person": {
            "allowed": True,
            "by": "Ada",
            "time": "2026-11-01T10:12:00Z",
            "comment": "fine",
        },
        "not_asked_then": ["tool-bash"],
    }
    changes = [
        {"field": "a.b", "was": "1", "would": "2"},
        {"field": "new", "was": "", "would": "x"},
        {"field": "old", "was": "y", "would": ""},
    ]
    changed = {**example, "person": None, "changes": changes}
    broken = {**example, "person": None, "error": "KeyError: 'x'", "at": "guard.py:7"}
    for kind, one in (("newly_denied", example), ("changed_input", changed), ("error", broken)):
        tally.keep_example(kind, one)
    place = {"trail": "/audit/3f0c2a18-aaaa", "sequence": 9, "event": "provider:request"}
    tally.add_unclear(UnclearGroup("mask", "messages", "trails do not repeat it", 1, [place]))
    tally.questions = {"2026-11-01": [1, 3]}
    return {
        **make_report(tally, {"hooks-backup": "it writes files"}),
        "policy": {"bundle": None, "hooks": ["/x/new.py"], "rules": [], "only": False,
                   "without": ["hooks-rules"]},
        "baseline": None,
        "complete": True,
        "trails": {"all": 2, "done": 2, "from_state": 0},
        "sandbox": "Landlock",
        "no_sandbox_because": None,
        **more,
    }  # fmt: skip


EXPECTED = """\
2 sessions, 100 events, 2026-11-01 to 2026-11-02
the bundle with new.py without hooks-rules, compared with what happened

  newly denied    3  of these, people had allowed 3
  changed input   1
  errors          1
  the same       95

  Questions for people: 1.5 a day would be asked, 0.5 a day were asked (3 and 1 in all)

Newly denied
  3 by guard

  2026-11-01 10:11:12  Bash\\u{1B}[2J  3f0c2a18 record 17
    git push --force
    was:   a person was asked by asker: Push?
    would: denied by guard: no force
    note:  hooks behind it were not asked then: tool-bash
    then:  Ada allowed it on 2026-11-01: fine
  and 2 more; --examples shows more of them
"""


def test_the_summary_comes_first_and_examples_say_everything(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Foreign text is shown harmless."""
    print_findings(_make_report())
    shown = capsys.readouterr().out
    assert shown.startswith(EXPECTED)
    assert "    a.b: 1 → 2\n    new: added: x\n    old: removed: y\n" in shown
    assert "    error: KeyError: 'x' (guard.py:7)\n" in shown
    assert "  1 mask (messages): trails do not repeat it\n" in shown
    assert "    3f0c2a18 record 9 provider:request\n" in shown
    assert "  hooks-backup: it writes files; its answers were on record in 0 of 2 sessions" in shown


def test_what_is_missing_is_said_at_the_top(capsys: pytest.CaptureFixture[str]) -> None:
    """A run that was stopped, a machine without a sandbox, a trail that cannot be judged."""
    report = _make_report(
        complete=False,
        trails={"all": 2, "done": 1, "from_state": 0},
        sandbox=None,
        no_sandbox_because="the kernel is old",
        unreadable=[{"trail": "/audit/abcdefghij", "why": "it keeps decisions only"}],
        baseline={"bundle": "/x/old.yaml", "hooks": [], "rules": [], "only": False, "without": []},
    )
    print_findings(report)
    shown = capsys.readouterr().out
    assert "! Stopped: 1 of 2 sessions were read to their end." in shown
    assert "! The hooks ran without a sandbox: the kernel is old" in shown
    assert "! abcdefgh cannot be judged: it keeps decisions only" in shown
    assert "compared with old.yaml" in shown


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
