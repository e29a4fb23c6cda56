"""What is for people only."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.record import Record, Records
from amplifier_hooks.guards.policy.agent_programs import AgentProgram
from amplifier_hooks.guards.self_protection import (
    MOST_READINGS,
    find_personal_act,
    find_records,
    find_unguarded_agent,
)
from tests.hooks.coding_agents.sessions.agents import start

UNGUARDED = ["claude --bare -p x", "claude --settings '{}' -p x", "opencode --pure run x"]
UNGUARDED += ["CLAUDE_CONFIG_DIR=/x claude -p x", "env -i claude -p x", "env - codex exec x"]
UNGUARDED += ["export CODEX_HOME=/x; codex exec x", "bash -c 'HOME=/x gemini -p x'"]
UNGUARDED += ["npx @anthropic-ai/claude-code@2 --safe-mode", "node /x/gemini.js hooks disable a"]
UNGUARDED += ["gemini hooks disable amplifier", "codex exec --disable hooks x"]
UNGUARDED += ["codex -c features.hooks=false exec x", "codex exec --ignore-user-config x"]
UNGUARDED += ["claude --dangerously-skip-permissions -p x", "codex --yolo exec x", "gemini -y -p x"]
UNGUARDED += [
    "claude --permission-mode bypassPermissions",
    "claude --permission-mode=bypassPermissions",
]
UNGUARDED += [
    "codex exec --dangerously-bypass-hook-trust x",
    "gemini --acp",
    "sudo -u x claude -p y",
]
UNGUARDED += ["docker run box claude -p x", "ssh host codex exec x", "npx -y @openai/codex --yolo"]
UNGUARDED += ["claude mcp remove list", "codex mcp add x -- y", "npx gemini-cli mcp disable x"]
UNGUARDED += ["claude --plugin-dir x -p y", "claude plugin install x", "codex features disable x"]
UNGUARDED += ["copilot plugin install x", "gemini extensions install x"]
GUARDED = ["claude -p 'write a hook'", "codex exec x", "codex -c model=gpt-5 exec x", "gemini -p x"]
GUARDED += ["HOME=/x make", "env -i make", "git config x y", "npx hooks config", "claude"]
GUARDED += ["claude plugin list", "codex features list", "claude skills"]
GUARDED += ["claude mcp", "claude mcp list", "codex mcp get x", "claude -p 'what is mcp add'"]
NEVER_GUARDED = ["aider -m x", "goose run -t x", "amp -x y", "echo x | amp", "qwen -p x"]
NEVER_GUARDED += ["uvx aider-chat -m x", "python3 -m aider", "npx @qwen-code/qwen-code -p x"]
NEVER_GUARDED += ["droid exec x", "uv tool run aider-chat", "/opt/bin/auggie x", "q chat x"]
NEVER_GUARDED += ["deno run -A npm:@qwen-code/qwen-code -p x", "nix run nixpkgs#goose-cli run"]
NEVER_GUARDED += ["docker run -it --rm ghcr.io/x/qwen-code:1 -p x", "mise exec -- aider -m x"]
NEVER_GUARDED += ["nvm exec 20 qwen -p x", "direnv exec . aider -m x", "fd . -x aider -m {}"]
NEVER_GUARDED += ["codex-acp", "cn -p x", "kimi", "ollama launch x", "npx codebuff x", "vibe -p x"]
NEVER_GUARDED += ["acli rovodev run x", "python3 -m interpreter", "mini -t x", "ccr code x"]
NO_AGENT = ["gh pr list", "HOME=/x gh pr list", "gh extension install x", "mini x", "ollama run x"]
NO_AGENT += ["cursor .", "agent start", "forge test -vv", "docker run qwendb", "cn x", "pi 3"]
NO_AGENT += [
    "goose up",
    "q 'select 1'",
    "npm install @openai/codex",
    "npx prettier codex",
    "ls claude",
]
NO_AGENT += [
    "claude --version",
    "codex login",
    "gemini --help",
    "crush file.txt",
    "git log -- aider",
]


def test_an_agent_without_its_hooks_is_found() -> None:
    """By an option, by a variable, or by a command that changes its settings; no other command."""
    for command in GUARDED:
        assert find_unguarded_agent(command) is None, command
    for command in UNGUARDED:
        assert find_unguarded_agent(command) is not None, command


def test_an_agent_that_has_no_guard_is_found() -> None:
    """Whatever runs it, under each name that it has; no other program, and no mere question."""

    def never(agent: AgentProgram, folder: Path) -> bool:
        return False

    def by_name(agent: AgentProgram, folder: Path) -> bool:
        return bool(agent.guard)

    for command in NO_AGENT:
        assert find_unguarded_agent(command, is_guarded=never) is None, command
    for command in NEVER_GUARDED:
        assert find_unguarded_agent(command, is_guarded=by_name), command


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("claude-code-acp", False),
        ("gh copilot -p x", True),
        ("cursor agent -p x", True),
        ("agent -p x", True),
        ("claude -p x", False),
        ("cd sub && claude -p x", True),
        ("cd /tmp && claude -p x", True),
        ("cd $x && claude -p y", True),
        ("env -C /tmp claude -p x", True),
        ("codex exec x", True),
    ],
)
def test_a_guard_counts_where_it_was_installed(command: str, found: bool) -> None:
    """An agent that is started in another folder, or is another agent, has none."""
    here = Path("/work")
    seen = find_unguarded_agent(
        command, here, lambda agent, folder: agent.guard == "claude" and folder == here
    )
    assert (seen is not None) == found


async def test_an_agent_starts_another_one_only_if_that_is_guarded(project: Path) -> None:
    """The record of an installation tells, as long as the file is there."""
    settings = project / ".codex" / "hooks.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    record = Record(str(settings), "codex", "project", str(project), "", existed=False, mode=None)
    async with start("claude", project) as one:
        before = await one.tell("PreToolUse", tool_input={"command": "codex exec x"})
        Records().save(record, None)
        after = await one.tell("PreToolUse", tool_input={"command": "codex exec x"})
        below = await one.tell("PreToolUse", tool_input={"command": "cd /tmp && codex exec x"})
        settings.unlink()
        gone = await one.tell("PreToolUse", tool_input={"command": "codex exec x"})
    assert [one.decision for one in (before, after, below, gone)] == ["deny", None, "deny", "deny"]


async def test_an_agent_starts_none_without_a_guard(project: Path) -> None:
    """Whatever the bundle says."""
    async with start("claude", project) as one:
        verdict = await one.tell("PreToolUse", tool_input={"command": "claude --bare -p x"})
        other = await one.tell("PreToolUse", tool_input={"command": "claude -p x"})
    assert verdict.decision == "deny"
    assert "without its guard" in str(verdict.reason)
    assert other.decision is None


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


def test_what_only_people_do_is_found() -> None:
    """However the program is started; other commands of ours and other programs are not."""
    for command in ORDINARY:
        assert find_personal_act(command) is None, command
    for command in PERSONAL:
        assert find_personal_act(command) is not None, command


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
    given: dict[str, str], home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token in there could answer questions; data need not lie below the home."""
    assert find_records(given, project) == str(home / ".local/share/amplifier")
    monkeypatch.setenv("XDG_DATA_HOME", "/srv/data")
    assert find_records({"command": "ls /srv/data/amplifier"}, project) == "/srv/data/amplifier"
    assert find_records({"command": "ls ~/.local/share/amplifier"}, project) is None


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
