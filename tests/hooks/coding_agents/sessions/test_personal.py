"""What is for people only."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.sessions.personal import find_personal_act, find_records
from amplifier_hooks.coding_agents.sessions.readings import MOST_READINGS
from tests.hooks.coding_agents.sessions.agents import start

PERSONAL = ["amplifier approvals allow 05af --yes", "amplifier trust --digest abc"]
PERSONAL += ["amplifier guard claude --remove", "env -u CLAUDECODE amplifier guard codex --remove"]
PERSONAL += ["uv run amplifier approvals deny 1", "/opt/x/bin/amplifier --no-color tokens add me"]
PERSONAL += ["(sleep 9; amplifier approvals allow 1) &", "sh -c 'amplifier trust'"]
PERSONAL += ["python3 -m amplifier_hooks.cli.main approvals list", "cd x && amplifier login-code"]
PERSONAL += ["python -mamplifier_apps trust", "python3.12 -Im amplifier_hooks trust"]
PERSONAL += ["echo trust | xargs amplifier", "A=amplifier; $A trust", "$(which amplifier) guard x"]
PERSONAL += ["amplifie? trust", "python /x/bin/amplifier tokens add me", "A=amplifier; $A serve"]
PERSONAL += ["python -c 'from amplifier_hooks.cli.main import main; main()' x"]
PERSONAL += ["python - <<'E'\nfrom amplifier_hooks.agent.trust.store import TrustStore\nE"]
PERSONAL += ["amplifier mcp tools allow time now --digest d", "A=amplifier; $A mcp tools forget x"]
PERSONAL += ["uv run amplifier mcp tools forget time --yes"]
PERSONAL += ["python -c 'from amplifier_hooks.guards.mcp.definitions import KnownTools'"]
ORDINARY = ["amplifier run 'build it'", "amplifier audit show", "ls amplifier", "make trust"]
ORDINARY += ["$RUNNER serve", "$X build", "python -c 'import amplifier_core'", "xargs rm"]
ORDINARY += ["amplifier mcp tools list", "amplifier mcp server", "claude mcp allow", "$X mcp allow"]
ORDINARY += [
    "git clone amplifier",
    "echo trust amplifier",
    "python3 -m pytest",
    "cat amplifier.yaml",
]


@pytest.mark.parametrize("command", PERSONAL)
def test_what_only_people_do_is_found(command: str) -> None:
    """However the program is started."""
    assert find_personal_act(command) is not None


@pytest.mark.parametrize("command", ORDINARY)
def test_other_commands_are_not_taken_for_it(command: str) -> None:
    """Neither other commands of ours nor other programs."""
    assert find_personal_act(command) is None


async def test_an_agent_does_not_decide_about_itself(project: Path) -> None:
    """Whatever the bundle says: a person would be asked for nothing."""
    for name in ("claude", "codex"):
        async with start(name, project, f"s-{name}") as one:
            given = {"command": "amplifier approvals allow 05af --yes"}
            verdict = await one.tell("PreToolUse", tool_input=given)
            other = await one.tell("PreToolUse", tool_input={"command": "amplifier audit show"})
        assert verdict.decision == "deny"
        assert "an agent does not decide about itself" in str(verdict.reason)
        assert other.decision is None


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "~/.local/share/amplifier/token"},
        {"path": "~/.local/share/amplifier"},
        {"file_path": "../home/.local/share/amplifier/store/store.db"},
        {"command": "cat ~/.local/share/amplifier/token"},
        {"command": "cat $HOME/.local/share/amplifier/token"},
        {"command": "cp -r /home/me/.local/share/amplifier ."},
        {"command": "cd ~/.local/share && cat amplifier/token"},
        {"command": "cat < ~/.local/share/../share/amplifier/token"},
        {"command": "cat ~/.local/share/ampl*/trust"},
        {"command": ["cat", "../home/.local/share/amplifier/token"]},
    ],
)
def test_records_and_keys_are_not_even_read(
    given: dict[str, str], home: Path, project: Path
) -> None:
    """A token in there could answer questions."""
    assert find_records(given, project) == str(home / ".local/share/amplifier")


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "~/.local/share/other"},
        {"path": "amplifier"},
        {"command": "ls ~/.local/share"},
        {"command": "pip install amplifier"},
        {"pattern": "x"},
        {"file_path": 7},
    ],
)
def test_everything_else_is(given: dict[str, str], home: Path, project: Path) -> None:
    """The agent has work to do."""
    assert find_records(given, project) is None


async def test_a_command_with_too_many_words_is_denied(project: Path) -> None:
    """A path among them could be that of our records."""
    async with start("claude", project) as one:
        command = "cd a; cd b; cd c; cd d; echo " + "x " * (MOST_READINGS // 16)
        verdict = await one.tell("PreToolUse", tool_input={"command": command})
    assert verdict.decision == "deny"
    assert "629 words, too many to be looked at" in str(verdict.reason)


async def test_a_link_leads_no_way_around(home: Path, project: Path) -> None:
    """The file counts that would be read."""
    records = home / ".local/share/amplifier"
    records.mkdir(parents=True, exist_ok=True)
    (project / "notes").symlink_to(records)
    async with start("claude", project) as one:
        verdict = await one.tell(
            "PreToolUse", tool_name="Read", tool_input={"file_path": str(project / "notes/token")}
        )
    assert verdict.decision == "deny"
    assert "records and keys" in str(verdict.reason)


async def test_a_folder_elsewhere_is_kept_out_of_as_well(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data need not lie below the home."""
    monkeypatch.setenv("XDG_DATA_HOME", "/srv/data")
    assert find_records({"command": "ls /srv/data/amplifier"}, project) == "/srv/data/amplifier"
    assert find_records({"command": "ls ~/.local/share/amplifier"}, project) is None
