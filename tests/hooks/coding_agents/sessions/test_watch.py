"""The settings that guard an agent, compared at every event with how they stood at its start."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import open_log, read_records
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.daemon.protocol import Request
from amplifier_hooks.coding_agents.installing import places
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard, remove_guard
from amplifier_hooks.coding_agents.installing.installation import Target
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge
from amplifier_hooks.coding_agents.sessions.watch import Watch
from tests.hooks.coding_agents.sessions.agents import make_project, record
from tests.support.agent_homes import empty_home

OFF = '{"disableAllHooks": true}'
DENIED = "Nothing is allowed until"
GATES = {
    "claude": ("PreToolUse", "UserPromptSubmit"),
    "codex": ("PreToolUse", "UserPromptSubmit"),
    "gemini": ("BeforeTool", "BeforeAgent"),
    "copilot": ("preToolUse", "userPromptSubmitted"),
}
SWITCHES = {
    "claude": (".claude/settings.json", OFF),
    "codex": (".codex/config.toml", "[features]\nhooks = false\n"),
    "gemini": (".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
    "copilot": (".claude/settings.local.json", OFF),
}


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person with nothing, on a machine without settings."""
    with empty_home(monkeypatch) as path:
        monkeypatch.setattr(places, "ETC", path / "etc")
        yield path


@pytest.fixture
def project(home: Path) -> Path:
    """A trusted project without hooks."""
    return make_project(home / "project")


@pytest.fixture
async def judge(home: Path) -> AsyncIterator[AgentJudge]:
    """The real judge, with the real list of files."""
    found = AgentJudge()
    yield found
    await found.close()


async def ask(judge: AgentJudge, agent: str, event: str, folder: Path) -> str:
    """What the agent is answered; of a denial, the reason."""
    found: dict[str, Any] = record(agent, event, cwd=str(folder))
    found["sessionId" if "sessionId" in found else "session_id"] = "one"
    request = Request(agent, event, json.dumps(found).encode(), 60.0)
    response = await judge.answer(request)
    return (response.stdout + response.stderr).decode()


def write(path: Path, text: str) -> None:
    """Into a folder that may not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def list_alarms(agent: str) -> list[dict[str, Any]]:
    """What the trail of the session says about its guard."""
    records = read_records(open_log(locate_trail({}, f"{agent}-one")))
    return [one["body"] for one in records if one["type"] == "guard_alarm"]


@pytest.mark.parametrize("agent", GATES)
async def test_a_switch_that_appears_denies_until_it_is_gone(
    judge: AgentJudge, project: Path, agent: str
) -> None:
    """At every gate, with the file and the switch; the trail has both turns."""
    install_guard(Target(agent, "user", project), GuardOptions())
    for gate in GATES[agent]:
        assert DENIED not in await ask(judge, agent, gate, project)
    name, text = SWITCHES[agent]
    write(project / name, text)
    for gate in GATES[agent]:
        answer = await ask(judge, agent, gate, project)
        assert DENIED in answer
        assert name in answer
    assert any(name in one for one in judge.list_alarms())
    (project / name).unlink()
    for gate in GATES[agent]:
        assert DENIED not in await ask(judge, agent, gate, project)
    assert judge.list_alarms() == []
    await judge.close()
    assert [one["kind"] for one in list_alarms(agent)] == ["changed", "restored"]


@pytest.mark.parametrize("agent", GATES)
async def test_lines_that_are_changed_or_removed_deny(
    judge: AgentJudge, project: Path, agent: str
) -> None:
    """One event of many is enough."""
    target = Target(agent, "user", project)
    install_guard(target, GuardOptions())
    gate = GATES[agent][0]
    await ask(judge, agent, gate, project)
    good = target.path.read_text()
    target.path.write_text(good.replace(" 590 ", " 1 ", 1))
    assert "our entry is changed" in await ask(judge, agent, gate, project)
    target.path.write_text("{}")
    assert "our entry is gone" in await ask(judge, agent, gate, project)
    target.path.unlink()
    assert "our entry is gone" in await ask(judge, agent, gate, project)
    target.path.write_text(good)
    assert DENIED not in await ask(judge, agent, gate, project)


async def test_another_process_compares_with_the_start_of_the_session(
    judge: AgentJudge, project: Path
) -> None:
    """Whoever ends the process does not make it forget."""
    install_guard(Target("claude", "user", project), GuardOptions())
    await ask(judge, "claude", "PreToolUse", project)
    await judge.close()
    write(project / ".claude/settings.json", OFF)
    other = AgentJudge()
    assert DENIED in await ask(other, "claude", "PreToolUse", project)
    await other.close()


async def test_the_person_may_go_on_with_a_change(judge: AgentJudge, project: Path) -> None:
    """By installing again, which says what is off, or by removing; other settings are theirs."""
    target = Target("claude", "user", project)
    install_guard(target, GuardOptions())
    await ask(judge, "claude", "PreToolUse", project)
    settings = json.loads(target.path.read_text())
    target.path.write_text(json.dumps({**settings, "model": "other"}))
    assert DENIED not in await ask(judge, "claude", "PreToolUse", project)
    write(project / ".claude/settings.json", OFF)
    assert DENIED in await ask(judge, "claude", "PreToolUse", project)
    install_guard(target, GuardOptions())
    assert DENIED not in await ask(judge, "claude", "PreToolUse", project)
    install_guard(target, GuardOptions(every_event=True))
    assert DENIED not in await ask(judge, "claude", "PreToolUse", project)
    remove_guard(target)
    assert DENIED not in await ask(judge, "claude", "PreToolUse", project)


async def test_a_session_without_lines_before_its_tools_is_denied(
    judge: AgentJudge, project: Path
) -> None:
    """It began so: its prompts come to us, its tools would not."""
    target = Target("claude", "user", project)
    install_guard(target, GuardOptions())
    settings = json.loads(target.path.read_text())
    del settings["hooks"]["PreToolUse"]
    target.path.write_text(json.dumps(settings))
    answer = await ask(judge, "claude", "UserPromptSubmit", project)
    assert "nothing of ours is before the tools of Claude Code" in answer


async def test_the_first_event_says_what_is_off_for_any_guarded_agent(
    judge: AgentJudge, project: Path
) -> None:
    """Of the next agent that is started here, nobody would hear."""
    install_guard(Target("claude", "user", project), GuardOptions())
    install_guard(Target("gemini", "user", project), GuardOptions())
    write(project / ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}')
    answer = await ask(judge, "claude", "SessionStart", project)
    assert "hooks are switched off here" in answer
    assert "Gemini CLI" in answer
    await judge.close()
    (alarm,) = list_alarms("claude")
    assert alarm["kind"] == "off"


def test_a_change_that_sets_the_times_back_is_seen(project: Path) -> None:
    """The content is compared, so no stamp of a file matters."""
    settings = project / ".claude" / "settings.json"
    write(settings, '{"disableAllHooks":false}')
    watch = Watch("claude", project)
    facts = settings.stat()
    with settings.open("r+") as file:
        file.write('{"disableAllHooks": true}')
    os.utime(settings, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert settings.stat().st_size == facts.st_size
    assert len(watch.look()) == 1


def test_a_pipe_in_the_place_of_settings_is_not_waited_for(project: Path) -> None:
    """It is a change: the file can no longer be read."""
    settings = project / ".claude" / "settings.json"
    write(settings, "{}")
    watch = Watch("claude", project)
    settings.unlink()
    os.mkfifo(settings)
    assert "can no longer be read" in watch.look()[0]


def test_new_files_of_the_machine_count(home: Path, project: Path) -> None:
    """Claude Code also reads a folder of them."""
    watch = Watch("claude", project)
    write(home / "etc/claude-code/managed-settings.d/50-off.json", OFF)
    assert "50-off.json" in watch.look()[0]
