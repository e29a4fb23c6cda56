"""Opening a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core.events import TOOL_PRE
from amplifier_core.mount_plan import list_ways
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.agent.trust.material import Untrusted, collect_material
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.sessions.approval import RememberingApproval
from amplifier_hooks.coding_agents.sessions.open_sessions import (
    adapt_plan,
    load_plan,
    name_session,
)
from amplifier_hooks.external.plan import WALLS, find_project
from amplifier_hooks.guards.policy.paths import match_glob
from tests.hooks.coding_agents.sessions.agents import PLAIN, make_project, start
from tests.support.trust import trust_project


async def test_the_agent_asks_its_person(project: Path) -> None:
    """A question of a hook becomes `ask`; the trail says who asks."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, action="ask_user", approval_prompt="Really?")
        verdict = await one.tell("PreToolUse")
        called = one.guest.external.tools.running.list_ids()
        assert isinstance(one.guest.coordinator.approval_system, RememberingApproval)
    assert verdict.decision == "ask"
    assert "Really?" in str(verdict.reason)
    records = list(read_records(open_log(locate_trail({}, "s1"))))
    types = [one["type"] for one in records]
    assert "approval_decided" not in types
    assert "tool_started" not in types
    (handed,) = (one for one in records if one["type"] == "approval_handed_over")
    assert (handed["hook"], handed["body"]["to"]) == ("test", "claude")
    assert [handed["body"]["id"]] == called


async def test_the_agent_asks_for_all_hooks_at_once(project: Path) -> None:
    """Two hooks that ask about one call are one question, with both texts."""
    async with start("claude", project) as one:
        one.hook(TOOL_PRE, name="first", action="ask_user", approval_prompt="Really?")
        one.hook(TOOL_PRE, name="second", action="ask_user", approval_prompt="Are you sure?")
        verdict = await one.tell("PreToolUse")
    assert verdict.reason == "Really?\nAre you sure?"


LOCAL_HOOK = """
hooks:
  - {module: local, source: ./local.py}
tools:
  - {module: tool-local, source: ./tool.py}
"""
CODE = "async def mount(coordinator, config=None):\n    return None\n"


def _adapt(folder: Path, agent: str, **more: Any) -> dict[str, Any]:
    return adapt_plan(load_bundle(project_dir=folder).mount_plan, DIALECTS[agent], **more)


def test_the_agent_brings_model_and_tools_itself(project: Path) -> None:
    """What remains of the bundle is what governs."""
    plan = _adapt(project, "claude")
    assert (plan["providers"], plan["tools"], plan["agents"]) == ([], [], {})
    modules = {one["module"] if isinstance(one, dict) else one for one in plan["hooks"]}
    assert "hooks-session-naming" not in modules


def test_how_far_it_is_the_agent_shows_itself(home: Path, tmp_path: Path) -> None:
    """Unless the bundle says that ours is shown."""
    for written, shown in (("{}", False), ("{show: true}", True)):
        text = f"hooks:\n  - {{module: hooks-progress-monitor, config: {written}}}\n"
        plan = _adapt(make_project(tmp_path / str(shown), text), "claude")
        entry = next(one for one in plan["hooks"] if one["module"] == "hooks-progress-monitor")
        assert entry["config"]["show"] is shown


def test_the_guard_has_a_guard(project: Path) -> None:
    """The files by which an agent is guarded are out of its reach, whatever the bundle says."""
    plan = _adapt(project, "claude", guarded=[Path("/x/settings.json")])
    walls = plan["hooks"][-1]
    assert walls["name"] == WALLS
    assert walls["required"] is True
    assert walls["config"]["patterns"] == ["/x/settings.json"]


@pytest.mark.parametrize(
    ("agent", "ways"), [("claude", ("terminal",)), ("codex", ("store",)), ("gemini", ("store",))]
)
def test_who_cannot_ask_has_people_asked_through_the_store(
    project: Path, agent: str, ways: tuple[str, ...]
) -> None:
    """Codex and Gemini have no prompt for hooks."""
    assert list_ways(_adapt(project, agent)["approval"]) == ways
    assert DIALECTS[agent].asks_its_person is (ways == ("terminal",))


def test_a_way_that_the_bundle_names_stays(home: Path, tmp_path: Path) -> None:
    """Who configured a service is not asked elsewhere."""
    folder = make_project(tmp_path / "p", f"{PLAIN}\napproval: {{via: [terminal, store]}}\n")
    plan = load_plan(DIALECTS["gemini"], folder)
    assert list_ways(plan.bundle.mount_plan["approval"]) == ("terminal", "store")
    assert plan.names_people


def test_the_nearest_bundle_within_the_repository_counts(project: Path) -> None:
    """From a folder below, the project's bundle governs; from another repository it does not."""
    below = project / "a" / "b"
    below.mkdir(parents=True)
    assert find_project(below) == project
    (project / "a" / ".git").mkdir()
    assert find_project(below) == below


def test_a_bundle_that_nobody_trusted_governs_nothing(project: Path) -> None:
    """A changed bundle needs a person, and the error names the command."""
    (project / "amplifier.yaml").write_text("name: other\n")
    with pytest.raises(Untrusted, match="amplifier trust"):
        load_plan(DIALECTS["claude"], project)


def test_without_a_bundle_the_packaged_one_governs(home: Path, tmp_path: Path) -> None:
    """A person who has installed the guard and nothing else is guarded."""
    plan = load_plan(DIALECTS["claude"], tmp_path)
    modules = [one["module"] for one in plan.bundle.mount_plan["hooks"]]
    assert "hooks-command-guard" in modules


def test_trust_is_for_everything_that_the_bundle_runs(home: Path, tmp_path: Path) -> None:
    """A person trusts the whole content once, for our own sessions and for agents."""
    folder = tmp_path / "p"
    folder.mkdir()
    for name in ("local.py", "tool.py"):
        (folder / name).write_text(CODE)
    make_project(folder, LOCAL_HOOK)
    plan = load_plan(DIALECTS["claude"], folder)
    assert plan.accepts(plan.material)
    (folder / "tool.py").write_text(f"{CODE}# changed\n")
    seen = collect_material(plan.bundle.reload(), folder)
    assert not plan.accepts(seen)
    trust_project(folder)
    assert plan.accepts(seen)
    assert not plan.accepts(plan.material)  # what was read before


def test_a_named_bundle_governs_instead(home: Path, project: Path, tmp_path: Path) -> None:
    """The command may name the bundle."""
    other = tmp_path / "other.yaml"
    other.write_text(f"name: other\n{PLAIN}")
    trust_project(project, other)
    assert load_plan(DIALECTS["claude"], project, str(other)).bundle.name == "other"


def test_a_trusted_bundle_that_is_gone_leaves_nobody_ungoverned(project: Path) -> None:
    """An agent may have removed it; a person says whether that was meant."""
    below = project / "below"
    below.mkdir()
    (project / "amplifier.yaml").unlink()
    for folder in (project, below):
        with pytest.raises(Untrusted, match=r"is gone.*amplifier trust --revoke"):
            load_plan(DIALECTS["claude"], folder)
    TrustStore().revoke(project)
    assert load_plan(DIALECTS["claude"], below).folder == below


def test_a_bundle_above_does_not_stand_in_for_one_that_is_gone(
    project: Path, tmp_path: Path
) -> None:
    """Its rules are other ones."""
    make_project(tmp_path)
    assert find_project(project) == project
    (project / "amplifier.yaml").unlink()
    with pytest.raises(Untrusted, match="is gone"):
        find_project(project)


def test_guarded_files_are_taken_literally(project: Path) -> None:
    """A folder may have characters in its name that mean something in globs."""
    guarded = [Path("/a[b]/settings.json"), Path("/k*/**"), Path(".claude/settings.json")]
    patterns = _adapt(project, "claude", guarded=guarded)["hooks"][-1]["config"]["patterns"]
    assert match_glob(Path("/a[b]/settings.json"), patterns[:1])
    assert match_glob(Path("/k*/x/y"), patterns[1:2])
    assert not match_glob(Path("/kx/x/y"), patterns[1:2])
    assert match_glob(Path("/any/where/.claude/settings.json"), patterns[2:])


STARTS = """
hooks:
  - {module: greeter, source: ./greeter.py}
"""
GREETER = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def greet(event, data):
        return HookResult(action="inject_context", context_injection="hello from the start")
    return coordinator.hooks.register("session:start", greet, name="greeter")
"""


@pytest.mark.parametrize("theirs", ["../../etc", "a/b", "", "x" * 200, "a\nb", "\udcff", ".hidden"])
def test_an_odd_id_becomes_a_plain_one(theirs: str) -> None:
    """The id of a session is part of file names."""
    name = name_session("claude", theirs)
    assert name.startswith("claude-")
    assert len(name) < 120
    assert "/" not in name
    assert name == name_session("claude", theirs)
    assert name_session("codex", "01a1e201-4a3b") == "codex-01a1e201-4a3b"  # people look for that


async def test_what_hooks_say_at_the_start_reaches_the_agent(home: Path, tmp_path: Path) -> None:
    """The first event that takes context brings it, and only that one."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "greeter.py").write_text(GREETER)
    make_project(folder, STARTS)
    async with start("claude", folder) as one:
        first = await one.tell("SessionStart")
        second = await one.tell("UserPromptSubmit")
    assert any("hello from the start" in text for text in first.context)
    assert not any("hello from the start" in text for text in second.context)


async def test_the_guarded_files_are_out_of_reach(project: Path) -> None:
    """By the tools for files, by the shell, through a relative path, and by unknown tools.

    Not every agent says which tools belong to a server; reading is no change.
    """
    settings = project / ".claude" / "settings.json"
    async with start("claude", project, guarded=[settings]) as one:
        tries = [
            ("Write", {"file_path": str(settings), "content": "{}"}),
            ("Edit", {"file_path": ".claude/settings.json", "old_string": "a", "new_string": ""}),
            ("Bash", {"command": "echo '{}' > .claude/settings.json"}),
            ("Bash", {"command": "cd .claude && rm settings.json"}),
            ("fs_write_file", {"path": ".claude/settings.json"}),
            ("mcp__fs__move", {"source": "x", "destination": ".claude/settings.json"}),
        ]
        for tool, given in tries:
            verdict = await one.tell("PreToolUse", tool_name=tool, tool_input=given)
            assert verdict.decision == "deny", given
        harmless = [
            ("Read", {"file_path": str(settings)}),
            ("Grep", {"pattern": "x", "path": ".claude/settings.json"}),
            ("fs_write_file", {"path": "other.json"}),
        ]
        for tool, given in harmless:
            verdict = await one.tell("PreToolUse", tool_name=tool, tool_input=given)
            assert verdict.decision is None, given


@pytest.mark.parametrize(("agent", "decision"), [("claude", None), ("copilot", "ask")])
async def test_what_claude_code_runs_anyway_counts_for_claude_code(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, decision: Any
) -> None:
    """By the person's own settings of it, and not for others."""
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (home / ".claude").mkdir()
    settings = '{"permissions": {"allow": ["Bash(npm publish:*)"]}}'
    (home / ".claude" / "settings.json").write_text(settings)
    event, key = {
        "claude": ("PreToolUse", "tool_input"),
        "copilot": ("preToolUse", "toolArgs"),
    }[agent]
    async with start(agent, make_project(tmp_path / "p", "")) as one:
        verdict = await one.tell(event, **{key: {"command": "npm publish"}})
    assert verdict.decision == decision
