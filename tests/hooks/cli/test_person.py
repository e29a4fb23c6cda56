"""Commands that decide in a person's place refuse to be run by an agent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.cli import person
from amplifier_hooks.cli.person import MARKS, NotAPerson, find_agent, refuse_agents
from tests.hooks.cli.command_tree import walk
from tests.hooks.cli.program import PROGRAM, invoke

REFUSED = "an agent cannot decide about itself"

DECIDING = {
    "approvals allow": ["x", "--yes"],
    "approvals deny": ["x", "--yes"],
    "approvals revoke": ["x"],
    "audit redact": [".", "0" * 64, "--by", "me", "--reason", "none"],
    "guard claude": ["--remove"],
    "guard codex": ["--remove"],
    "guard copilot": ["--remove"],
    "guard cursor": ["--remove"],
    "guard gemini": ["--remove"],
    "guard mcp": ["--remove"],
    "guard opencode": ["--remove"],
    "login-code": [],
    "mcp tools allow": ["x", "y", "--digest", "z"],
    "mcp tools forget": ["x", "--yes"],
    "serve": [],
    "tokens add": ["x", "--scope", "decide"],
    "tokens list": [],
    "tokens logout": ["x"],
    "tokens revoke": ["x"],
    "trust": ["--digest", "x"],
}
"""Commands that decide, each with arguments that would do so."""

OTHERS = {
    *("approvals list", "approvals rules", "approvals show", "approvals watch"),
    *("audit checkpoint", "audit create-key", "audit list", "audit prove", "audit serve"),
    *("audit show", "audit stats", "audit tail", "audit verify"),
    *("backups list", "backups restore", "chat", "completion", "demo", "doctor", "events"),
    *("guard", "guard check", "hooks backtest", "hooks list", "hooks stats", "hooks test"),
    *("hooks trace", "init", "judge", "mcp gateway", "mcp server", "mcp tools", "mcp tools list"),
    *("mcp tools show", "modules list", "modules validate", "replay", "report", "rules check"),
    *("rules suggest", "run", "schema", "sessions delete", "sessions list", "sessions resume"),
    *("sessions show", "trust list"),
}
"""Commands that decide nothing about an agent. `rules suggest` refuses with --write, and `run`,
`chat` and all others that ask whether a folder is trusted refuse to ask."""


@pytest.fixture(autouse=True)
def _a_person(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MARKS:
        monkeypatch.delenv(name, raising=False)


def test_every_command_is_known_to_decide_or_not() -> None:
    """A new one is put into one of the two tables."""
    paths = {
        context.command_path.removeprefix("amplifier ")
        for context in walk()
        if getattr(context.command, "invoke_without_command", True)
    }
    assert paths - {"amplifier"} == DECIDING.keys() | OTHERS


@pytest.mark.parametrize("command", DECIDING)
def test_what_decides_refuses_agents(
    command: str, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    """Before anything else happens, by the mark of a host."""
    monkeypatch.setenv("CLAUDECODE", "1")
    done = invoke(*command.split(), *DECIDING[command])
    assert done.code == 1
    assert REFUSED in done.stderr
    assert "CLAUDECODE is set" in done.stderr


@pytest.mark.parametrize("mark", MARKS)
def test_each_mark_counts(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And an empty one does not."""
    monkeypatch.setattr(person, "list_parents", lambda: iter(()))
    monkeypatch.setenv(mark, "")
    refuse_agents()
    monkeypatch.setenv(mark, "1")
    with pytest.raises(NotAPerson, match=mark):
        refuse_agents()


def run_below(script: str, home: Path, name: str = "sh", **env: str) -> str:
    """What `approvals allow` says below a process of that name, from a script without variables."""
    ours = " ".join(PROGRAM)
    inner = home / "ci.sh"
    inner.write_text(f"env -i PATH=$PATH HOME={home} {ours} approvals allow x --yes; true\n")
    outer = home / name
    outer.symlink_to("/bin/sh")
    done = subprocess.run(
        [str(outer), "-c", script.format(inner=inner)],
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        timeout=50,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    return done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_script_that_clears_its_environment_is_below_one_that_did_not(home: Path) -> None:
    """The shell that the agent started has the mark, and is still there."""
    said = run_below("sh {inner}; true", home, CLAUDECODE="1")
    assert REFUSED in said
    assert "CLAUDECODE is set in process" in said


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_script_below_an_agent_is_recognised_by_the_agents_name(home: Path) -> None:
    """Without a single variable."""
    assert "above it is codex" in run_below("sh {inner}; true", home, name="codex")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_person_in_a_plain_shell_is_asked_for_a_terminal_only(home: Path) -> None:
    """`--yes` of a script that no agent started, and that nobody sits in front of."""
    said = run_below("setsid sh {inner}; true", home)
    assert REFUSED not in said
    assert "needs the terminal of a person" in said


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["claude"], "claude"),
        (["/usr/bin/node", "--max-old-space-size=1", "/opt/bin/gemini.js"], "gemini"),
        (["node", "/x/node_modules/@anthropic-ai/claude-code/cli.js"], "claude-code"),
        (["-bash"], None),
        (["node", "/home/me/.vscode-server/out/server-main.js"], None),
        (["/usr/share/cursor/cursor"], None),
        (["vim", "claude"], None),
        ([], None),
    ],
)
def test_agents_are_known_by_their_processes(
    words: list[str], found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the terminals of people are not, also those of an editor."""
    process = tmp_path / "77"
    process.mkdir()
    (process / "cmdline").write_text("\0".join(words))
    monkeypatch.setattr(person, "list_parents", lambda: iter([process]))
    why = find_agent()
    assert why == (None if found is None else f"process 77 above it is {found}")
