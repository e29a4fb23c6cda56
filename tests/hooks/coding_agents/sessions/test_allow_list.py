"""The person's own allow list in Claude Code: what it answers, and what stands all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.coding_agents.sessions.approval import load_allow_list, read_allow_list
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.sessions.agents import make_project, start

GUARDED = """
hooks:
  - {module: hooks-progress-monitor, enabled: false}
  - {module: hooks-todo-display, enabled: false}
"""
PATTERNS = ["Bash(npm ci)", "Bash(npm publish:*)", "Bash(git:*)", "Bash(bash:*)", "Read(**)"]


def allow(folder: Path, *patterns: str, name: str = "settings.json") -> None:
    """Write settings of Claude Code that allow these."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({"permissions": {"allow": list(patterns)}}))


@pytest.fixture
def guarded(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project behind the default guards, of a person who allows some commands."""
    monkeypatch.setattr(places, "ETC", tmp_path / "etc")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    allow(home / ".claude", *PATTERNS)
    return make_project(tmp_path / "guarded", GUARDED)


async def judge(folder: Path, command: str, **more: Any) -> Verdict:
    """What becomes of a command."""
    async with start("claude", folder, **more) as one:
        return await one.tell("PreToolUse", tool_input={"command": command})


@pytest.mark.parametrize("command", ["npm publish --tag x", "npm publish | tail -5"])
async def test_what_the_person_allows_is_left_to_the_agent(guarded: Path, command: str) -> None:
    """Claude Code goes by its own list: it is told neither yes nor no, and has no question."""
    assert (await judge(guarded, command)).decision is None


async def test_without_the_pattern_it_is_asked_about(guarded: Path, home: Path) -> None:
    """The control."""
    allow(home / ".claude", "Bash(npm ci)")
    assert (await judge(guarded, "npm publish")).decision == "ask"


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("npm publish && sudo ls", "ask"),
        ("npm publish; npm unpublish x", "ask"),
        ("X=1 npm publish", "ask"),
        ("npm publish $TAG", "ask"),
        ("npm publish > ~/.bashrc", "ask"),
        ("bash -c 'npm publish; sudo ls'", "ask"),
        ("git -c core.pager=./x log", "ask"),
        ("/tmp/npm publish", "ask"),
        ("git push --force", "deny"),
        ("npm publish; rm -rf ~", "deny"),
    ],
)
async def test_what_the_pattern_does_not_name_stands(
    guarded: Path, command: str, decision: str
) -> None:
    """Every command of a call must be one of the person's, and no denial gives way."""
    assert (await judge(guarded, command)).decision == decision


@pytest.mark.parametrize(
    "pattern", ["Bash", "Bash(*)", "Bash(:*)", "Bash(./*)", "Bash(*npm*)", "*"]
)
async def test_a_pattern_without_a_program_says_nothing(
    guarded: Path, home: Path, pattern: str
) -> None:
    """Who lets everything run has said nothing of this command."""
    allow(home / ".claude", pattern)
    assert (await judge(guarded, "npm publish")).decision == "ask"


async def test_the_settings_of_a_project_allow_nothing(guarded: Path, home: Path) -> None:
    """A repository that was cloned must not weaken anything."""
    allow(home / ".claude")
    for name in ("settings.json", "settings.local.json"):
        allow(guarded / ".claude", "Bash(npm publish:*)", name=name)
    assert (await judge(guarded, "npm publish")).decision == "ask"


async def test_what_is_added_during_a_session_does_not_count(guarded: Path, home: Path) -> None:
    """It may be the agent's own; the next session knows it, a resumed one does not."""
    allow(home / ".claude")
    async with start("claude", guarded) as one:
        allow(home / ".claude", "Bash(npm publish:*)")
        told = {"tool_input": {"command": "npm publish"}}
        assert (await one.tell("PreToolUse", **told)).decision == "ask"
        state = await one.guest.read_state()
    assert (await judge(guarded, "npm publish", state=state)).decision == "ask"
    assert (await judge(guarded, "npm publish", session_id="s2")).decision is None


async def test_rules_of_the_bundle_stand(home: Path, guarded: Path, tmp_path: Path) -> None:
    """What the person wants to be asked about, and what hooks of others ask."""
    own = "  - {module: hooks-command-guard, config: {ask: [npm publish]}}\n"
    folder = make_project(tmp_path / "own", GUARDED + own)
    assert (await judge(folder, "npm publish")).decision == "ask"
    async with start("claude", guarded) as one:
        one.hook("tool:pre", action="ask_user", approval_prompt="Really?")
        verdict = await one.tell("PreToolUse", tool_input={"command": "npm publish"})
    assert (verdict.decision, verdict.reason) == ("ask", "Really?")


async def test_the_trail_names_the_pattern(guarded: Path) -> None:
    """Whose rule it was; nobody was asked."""
    await judge(guarded, "npm publish")
    records = list(read_records(open_log(locate_trail({}, "s1"))))
    (found,) = [record for record in records if record["type"] == "approval_cache_hit"]
    assert found["body"]["by"] == "rule:claude's allow list, Bash(npm publish:*)"
    assert "approval_requested" not in [record["type"] for record in records]


def test_the_machine_has_a_say(guarded: Path, tmp_path: Path) -> None:
    """Of its settings, in all their files; what cannot be read allows nothing."""
    managed = tmp_path / "etc" / "claude-code"
    allow(managed, "Bash(make:*)", name="managed-settings.json")
    allow(managed / "managed-settings.d", "Bash(just *)", name="b.json")
    (managed / "managed-settings.d" / "a.json").write_text("{")
    found = read_allow_list()
    assert found == [*PATTERNS[:-1], "Bash(make:*)", "Bash(just *)"]


@pytest.mark.parametrize(
    ("profile", "decision"), [("calm", None), ("careful", "ask"), ("strict", "deny")]
)
async def test_a_stricter_profile_asks_all_the_same(
    guarded: Path, tmp_path: Path, profile: str, decision: Any
) -> None:
    """The bundle says in one word how much is asked about."""
    folder = make_project(tmp_path / profile, f"profile: {profile}\n{GUARDED}")
    assert (await judge(folder, "npm publish")).decision == decision


async def test_a_guard_with_a_profile_of_its_own_asks(guarded: Path, tmp_path: Path) -> None:
    """Its options count before the word of the bundle."""
    own = "  - {module: hooks-command-guard, config: {profile: careful}}\n"
    folder = make_project(tmp_path / "own", f"profile: calm\n{GUARDED}{own}")
    assert (await judge(folder, "npm publish")).decision == "ask"


def test_no_other_agent_goes_by_this_list(guarded: Path) -> None:
    """Nor does it when the plan has no guard at all."""
    asked = ApprovalQuestion(
        "Run it?",
        ("Allow once", "Deny"),
        10.0,
        "deny",
        hook="hooks-command-guard",
        event="tool:pre",
        reason="it publishes a package [publish]",
        tool_name="Bash",
        tool_input={"command": "npm publish"},
    )
    assert load_allow_list("claude", {}, {}).find_rule(asked) is not None
    assert load_allow_list("codex", {}, {}).find_rule(asked) is None
