"""Whether a guard stands: every way in which it does not is found and said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard
from amplifier_hooks.coding_agents.installing.installation import Target
from amplifier_hooks.coding_agents.installing.status import (
    is_folder_trusted,
    read_notes,
    read_status,
)
from tests.support.agent_homes import install_codex


def write(home: Path, name: str, value: Any) -> None:
    """A file of Gemini's."""
    (home / ".gemini").mkdir(exist_ok=True)
    text = value if isinstance(value, str) else json.dumps(value)
    (home / ".gemini" / name).write_text(text)


@pytest.mark.parametrize(
    ("rules", "trusted"),
    [
        ({}, False),
        ({"p": "TRUST_FOLDER"}, True),
        ({"": "TRUST_FOLDER"}, True),
        ({"other": "TRUST_PARENT"}, True),
        ({"other": "TRUST_FOLDER"}, False),
        ({"p": "DO_NOT_TRUST"}, False),
        ({"": "TRUST_FOLDER", "p": "DO_NOT_TRUST"}, False),
        ({"": "DO_NOT_TRUST", "p": "TRUST_FOLDER"}, True),
    ],
)
def test_the_longest_rule_that_fits_decides(
    home: Path, rules: dict[str, str], trusted: bool
) -> None:
    """Rules hold for the folders below, too."""
    (home / "p" / "inner").mkdir(parents=True)
    write(home, "trustedFolders.json", {str(home / one): level for one, level in rules.items()})
    assert is_folder_trusted(home / "p") is trusted
    assert is_folder_trusted(home / "p" / "inner") is trusted


def test_the_rules_may_be_elsewhere(home: Path) -> None:
    """Where a variable says; a person can do without them, and broken ones trust nothing."""
    for text in ("{broken", "[]", '{"p": 1}'):
        assert not is_folder_trusted(home)
        write(home, "trustedFolders.json", text)
        assert not is_folder_trusted(home)
    write(home, "settings.json", '// mine\n{"security": {"folderTrust": {"enabled": false}}}')
    assert is_folder_trusted(home)
    others: tuple[Any, ...] = ({"folderTrust": {"enabled": True}}, [])
    for security in others:
        write(home, "settings.json", {"security": security})
        assert not is_folder_trusted(home)
    (home / "rules.json").write_text(json.dumps({str(home): "TRUST_FOLDER"}))
    env = {"HOME": str(home), "GEMINI_CLI_TRUSTED_FOLDERS_PATH": str(home / "rules.json")}
    assert is_folder_trusted(home, env)
    assert not is_folder_trusted(home, {"HOME": str(home)})
    assert not is_folder_trusted(home, {**env, "GEMINI_CLI_TRUST_WORKSPACE": "false"})
    assert is_folder_trusted(home, {"HOME": str(home), "GEMINI_CLI_TRUST_WORKSPACE": "true"})


def put_up_guard(home: Path, agent: str = "claude", **wish: Any) -> Target:
    """For the person."""
    target = Target(agent, "user", home)
    install_guard(target, GuardOptions(**wish))
    return target


def change(target: Target, old: str, new: str, count: int = 1) -> None:
    """Somebody edits the settings."""
    text = target.path.read_text()
    assert old in text
    target.path.write_text(text.replace(old, new, count))


def replacing(old: str, new: str) -> Callable[[str], str]:
    """An edit of the settings."""

    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return edit


def list_problems(target: Target) -> str:
    """What is wrong, as one text; the guard stands exactly if that is nothing."""
    status = read_status(target.agent, target.root)
    found = status.list_problems()
    assert status.stands is (not found)
    return "\n".join(found)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_guard_that_was_just_put_up_stands(home: Path, agent: str) -> None:
    """Of every agent, with every option."""
    install_codex(home)
    target = put_up_guard(home, agent, every_event=True, bundle=home / "b.yaml")
    (home / "b.yaml").touch()
    assert list_problems(target) == ""
    (installed,) = read_status(agent, home).installed
    assert installed.path == target.path
    assert installed.bundle == home / "b.yaml"
    assert installed.folder == home / "data" / "amplifier" / "guests"


def test_what_is_not_installed_does_not_stand(home: Path) -> None:
    """There is nothing wrong with it, but nothing there either."""
    status = read_status("claude", home)
    assert not status.stands
    assert status.list_problems() == []
    assert status.program is None


def test_the_program_is_looked_for(home: Path) -> None:
    """On the PATH."""
    program = install_codex(home)
    assert read_status("codex", home).program == program
    other = home / "bin" / "cursor-agent"
    other.symlink_to(program)
    assert read_status("cursor", home).program == str(other)


def test_over_http_it_stands_with_the_token_of_the_process(home: Path) -> None:
    """Another token, or none, is somebody's change."""
    target = put_up_guard(home, http=True)
    assert list_problems(target) == ""
    launch = home / "data" / "amplifier" / "guests" / "launch.json"
    token = json.loads(launch.read_text())["http"]["token"]
    change(target, token, "other")
    assert "PreToolUse: somebody has changed our entry" in list_problems(target)


def double_stop(text: str) -> str:
    """Our entry twice: some agents run it twice."""
    settings = json.loads(text)
    settings["hooks"]["Stop"] *= 2
    return json.dumps(settings)


OTHERS = {"hooks": {"PreToolUse": [{"hooks": [{"command": "true # amplifier-guest"}]}]}}
CHANGED = "PreToolUse: somebody has changed our entry"


@pytest.mark.parametrize(
    ("agent", "change", "what"),
    [
        ("claude", replacing('"timeout": 600', '"timeout": 1'), CHANGED),
        ("claude", replacing(" 590 ", " 9999 "), CHANGED),
        (
            "claude",
            replacing('{\n        "hooks"', '{"matcher": "x",\n        "hooks"'),
            "somebody has changed",
        ),
        (
            "claude",
            replacing('"PreToolUse": [', '"PreToolUse": [], "Other": ['),
            "nothing of ours is in front of",
        ),
        ("claude", double_stop, "Stop: we are there 2 times"),
        # They end like ours, and are not.
        ("claude", lambda text: json.dumps(OTHERS), "the lines cannot be read"),
        # Perhaps the guard is in a file that cannot be read.
        ("claude", lambda text: "{,", "line 1"),
        # A plugin is a program: any change may let everything through.
        (
            "opencode",
            replacing("if (row.gate) throw", "if (false) throw"),
            "our plugin was changed",
        ),
        # Without a codex nobody knows, so the guard does not count as standing.
        ("codex", lambda text: text, "no codex on the PATH"),
    ],
)
def test_what_somebody_changed_is_found(
    home: Path, agent: str, change: Callable[[str], str], what: str
) -> None:
    """Each by its event."""
    target = put_up_guard(home, agent)
    target.path.write_text(change(target.path.read_text()))
    assert what in list_problems(target)


def test_missing_files_are_found(home: Path) -> None:
    """Without them everything is denied, which a person should know."""
    target = put_up_guard(home, bundle=home / "gone.yaml")
    text = target.path.read_text()
    words = text.split("'")
    target.path.write_text(
        text.replace(words[1], "/gone/python").replace(words[3], "/gone/a/b/c/d")
    )
    problems = list_problems(target)
    assert "the interpreter /gone/python is not there" in problems
    assert "the client /gone/a/b/c/d is not there" in problems
    assert "the bundle" in problems
    assert "of another installation of amplifier (/gone)" in problems


def test_lines_that_an_earlier_version_wrote_are_renewed(home: Path) -> None:
    """Its packages had other names; the status names the command that renews the lines."""
    target = put_up_guard(home)
    text = target.path.read_text()
    words = text.split("'")
    earlier = "/site/amplifier_foundation/guests/client/command.py"
    target.path.write_text(text.replace(words[3], earlier))
    problems = list_problems(target)
    assert f"the client {earlier} is not there; everything is denied" in problems
    assert "amplifier guard claude --user puts those of this one in their place" in problems
    put_up_guard(home)
    assert (list_problems(target), target.path.read_text()) == ("", text)


def test_a_missing_or_broken_runtime_is_found(home: Path) -> None:
    """The resident process could not be started."""
    target, folder = put_up_guard(home), home / "data" / "amplifier" / "guests"
    launch = folder / "launch.json"
    changed = {**json.loads(launch.read_text()), "argv": ["/gone/python"]}
    launch.write_text(json.dumps(changed))
    assert "the interpreter /gone/python of the resident process" in list_problems(target)
    launch.unlink()
    assert "launch.json" in list_problems(target)
    folder.chmod(0o755)
    assert "only you can enter" in list_problems(target)


def test_a_switch_that_a_project_sets_is_found(home: Path) -> None:
    """Claude Code then runs no hook of the person either."""
    put_up_guard(home)
    project = home / "p"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    assert "'disableAllHooks'" in list_problems(Target("claude", "user", project))


def test_lines_of_ours_in_a_shared_file_are_found(home: Path) -> None:
    """On another machine they deny everything."""
    project = home / "p"
    project.mkdir()
    target = Target("claude", "project", project)
    install_guard(target, GuardOptions())
    shared = project / ".claude" / "settings.json"
    shared.write_text("{,")
    assert list_problems(target) == ""
    shared.write_text(target.path.read_text())
    assert list_problems(target).startswith(f"{shared} also holds lines of ours")


def test_codex_itself_says_whether_it_runs_our_hooks(home: Path) -> None:
    """Another hook in front of ours changes their positions, and the trust is lost."""
    install_codex(home)
    target = put_up_guard(home, "codex")
    other = '"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}, '
    change(target, '"PreToolUse": [', other)
    assert "Codex skips 1 of our hooks" in list_problems(target)
    install_guard(target, GuardOptions())
    assert list_problems(target) == ""


@pytest.mark.parametrize(
    ("agent", "noted"), [("gemini", True), ("copilot", True), ("codex", False)]
)
def test_where_a_guard_of_a_project_does_not_hold_is_noted(
    home: Path, agent: str, noted: bool
) -> None:
    """Started below the project's root, some agents do not find its settings."""
    project = home / "p"
    project.mkdir()
    install_guard(Target(agent, "project", project), GuardOptions())
    assert any("not in a folder below" in one for one in read_notes(agent, project)) is noted
    install_guard(Target(agent, "user", project), GuardOptions())
    assert not any("not in a folder below" in one for one in read_notes(agent, project))


def test_a_project_that_gemini_does_not_trust_is_found(home: Path) -> None:
    """Its hooks do not run there, those of the person do."""
    project = home / "p"
    project.mkdir()
    target = Target("gemini", "project", project)
    install_guard(target, GuardOptions())
    assert list_problems(target).startswith(f"Gemini CLI does not trust {project} yet")
    rules = home / ".gemini" / "trustedFolders.json"
    rules.parent.mkdir()
    rules.write_text(json.dumps({str(project): "TRUST_FOLDER"}))
    assert list_problems(target) == ""
    rules.unlink()
    install_guard(Target("gemini", "user", project), GuardOptions())
    assert list_problems(target) == ""


def test_what_comes_twice_is_noted(home: Path) -> None:
    """Copilot also runs what is installed for Claude Code in a project."""
    install_guard(Target("claude", "project", home), GuardOptions())
    install_guard(Target("copilot", "user", home), GuardOptions())
    (note,) = read_notes("copilot", home)
    assert "settings.local.json: an event by both is judged once" in note
    install_guard(Target("copilot", "project", home), GuardOptions())
    assert "installed for you and for this project" in read_notes("copilot", home)[0]
