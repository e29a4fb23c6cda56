"""A guard for every user of a machine."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client import launch
from amplifier_hooks.coding_agents.installing import places, system
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard, remove_guard
from amplifier_hooks.coding_agents.installing.installation import Target, list_ours
from amplifier_hooks.coding_agents.installing.line import list_words
from amplifier_hooks.coding_agents.installing.places import PLACES
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError
from amplifier_hooks.coding_agents.installing.status import read_status

HAVE_SYSTEM = [name for name, place in PLACES.items() if place.system]
BEFORE = {
    "claude": '{\n  "permissions": {"deny": ["Read(./.env)"]}\n}\n',
    "codex": "# of the administrator\n[features]\nweb = true # stays\n\n[rules]\na = 1\n",
    "gemini": '// ours\n{\n  "hooksConfig": {"notifications": true}, // and this\n  "ui": {}\n}\n',
    "copilot": '{"version": 1, "hooks": {}}\n',
    "cursor": '{"version": 1, "hooks": {"stop": [{"command": "./x"}]}}\n',
}


@pytest.fixture
def etc(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of a machine, for root with an installation that belongs to root."""
    monkeypatch.setattr(places, "ETC", home / "etc")
    monkeypatch.setattr(launch, "SYSTEM", str(home / "etc/amplifier/guests/launch.json"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(system, "check_programs", lambda: None)
    return home / "etc"


def list_etc(etc: Path) -> dict[str, bytes | None]:
    """Every file and folder, with what is in it."""
    return {str(one): one.read_bytes() if one.is_file() else None for one in sorted(etc.rglob("*"))}


@pytest.mark.parametrize("agent", HAVE_SYSTEM)
@pytest.mark.parametrize("existed", [True, False])
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_it_is_put_up_and_removed_to_the_byte(
    etc: Path, home: Path, agent: str, existed: bool, umask: int
) -> None:
    """Everybody can read it, whatever the mask of root is; comments stay."""
    target = Target(agent, "system", home)
    if existed:
        target.path.parent.mkdir(parents=True)
        target.path.write_text(BEFORE[agent])
    etc.mkdir(exist_ok=True)
    before = list_etc(etc)
    old = os.umask(umask)
    try:
        install_guard(target, GuardOptions())
    finally:
        os.umask(old)
    shown = [target.path, *target.path.parents[:2], etc / "amplifier/guests/launch.json"]
    for path in shown:
        mode = path.stat().st_mode
        assert mode & 0o004, path
        assert not mode & 0o022, path
        assert not stat.S_ISDIR(mode) or mode & 0o001, path
    assert list_ours(target).keys() == AGENTS[agent].list_events(version="").keys()
    once = list_etc(etc)
    install_guard(target, GuardOptions())
    assert list_etc(etc) == once
    remove_guard(target)
    assert list_etc(etc) == before


@pytest.mark.parametrize("agent", HAVE_SYSTEM)
def test_what_others_write_meanwhile_stays(etc: Path, home: Path, agent: str) -> None:
    """Without the bytes from before, our entries and switches are taken out of the text."""
    target = Target(agent, "system", home)
    target.path.parent.mkdir(parents=True)
    target.path.write_text(BEFORE[agent])
    install_guard(target, GuardOptions(managed_only=bool(AGENTS[agent].known.managed_only)))
    target.path.write_text(target.path.read_text() + "\n")
    remove_guard(target)
    assert target.path.read_text().strip() == BEFORE[agent].strip()


@pytest.mark.parametrize("agent", HAVE_SYSTEM)
def test_the_line_names_no_home(etc: Path, home: Path, agent: str) -> None:
    """The client finds the folder of whoever calls it."""
    target = Target(agent, "system", home)
    install_guard(target, GuardOptions())
    for entries in list_ours(target).values():
        text = json.dumps(entries)
        assert str(home) not in text.replace(str(etc), "")
        handler = entries[0].get("hooks", entries)[0]
        assert list_words(handler.get("command", handler.get("bash")))[4] == "~"


def test_the_switches_are_written(etc: Path, home: Path) -> None:
    """What keeps hooks running; and, if wanted, nobody else's hooks and mods."""
    for agent in ("claude", "codex", "gemini"):
        only = bool(AGENTS[agent].known.managed_only)
        install_guard(Target(agent, "system", home), GuardOptions(managed_only=only))
    claude = json.loads((etc / "claude-code/managed-settings.json").read_text())
    assert claude["allowManagedHooksOnly"] is True
    options = claude["pluginConfigs"]["cc-plugin-sec-default@builtin"]["options"]
    assert options == {"allowManagedModsOnly": True}
    codex = tomllib.loads((etc / "codex/requirements.toml").read_text())
    assert codex["features"]["hooks"] is True
    assert codex["allow_managed_hooks_only"] is True
    gemini = json.loads((etc / "gemini-cli/settings.json").read_text())
    assert gemini["hooksConfig"]["enabled"] is True
    install_guard(Target("claude", "system", home), GuardOptions())
    claude = json.loads((etc / "claude-code/managed-settings.json").read_text())
    assert claude.keys() == {"hooks"}


def test_a_project_cannot_know_the_name_of_our_hook(etc: Path, home: Path) -> None:
    """Gemini switches off hooks by name, those of the machine as well."""
    target = Target("gemini", "system", home)
    install_guard(target, GuardOptions())
    name = list_ours(target)["BeforeTool"][0]["hooks"][0]["name"]
    remove_guard(target)
    install_guard(target, GuardOptions())
    again = list_ours(target)["BeforeTool"][0]["hooks"][0]["name"]
    assert len({name, again, "amplifier"}) == 3


def test_the_status_shows_it_and_what_is_missing(etc: Path, home: Path) -> None:
    """A switch that somebody has taken out lets projects decide again."""
    target = Target("gemini", "system", home)
    install_guard(target, GuardOptions())
    (found,) = read_status("gemini", home, ask_agent=False).installed
    assert (found.scope, found.problems) == ("system", ())
    target.path.write_text(target.path.read_text().replace('"enabled": true', '"enabled": false'))
    (found,) = read_status("gemini", home, ask_agent=False).installed
    assert "'hooksConfig.enabled' is not true" in found.problems[0]


@pytest.mark.parametrize(
    ("agent", "content", "said"),
    [
        ("gemini", '{"hooksConfig": {"enabled": false}}', "'hooksConfig.enabled' must be true"),
        ("claude", "{", "line 1"),
        ("codex", "[features]\nhooks = false\n", "'features.hooks' must be true"),
        ("codex", "features = { web = true }\n", "write it so"),
        ("codex", "[features\n", "requirements.toml"),
        ("codex", "hooks = 5\n", "requirements.toml"),
    ],
)
def test_a_file_that_is_not_ours_to_parse_is_left_alone(
    etc: Path, home: Path, agent: str, content: str, said: str
) -> None:
    """Nothing is written, and nothing else is left behind."""
    target = Target(agent, "system", home)
    target.path.parent.mkdir(parents=True)
    target.path.write_text(content)
    before = list_etc(etc)
    with pytest.raises(SettingsError, match=r"nothing was changed|Nothing was changed") as raised:
        install_guard(target, GuardOptions())
    assert said in str(raised.value)
    assert list_etc(etc) == before


def test_it_needs_root_and_says_so(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence, with what would do."""
    monkeypatch.setattr(places, "ETC", home / "etc")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for act in (lambda target: install_guard(target, GuardOptions()), remove_guard):
        with pytest.raises(
            SettingsError, match=r"belong to root; .* sudo .* guard claude --system"
        ):
            act(Target("claude", "system", home))
    assert not (home / "etc").exists()


@pytest.mark.parametrize(
    "weaken", [lambda path: os.chown(path, 1000, -1), lambda path: path.chmod(0o777)]
)
def test_what_every_user_would_run_must_belong_to_root(
    tmp_path: Path, weaken: Callable[[Path], None]
) -> None:
    """The program, and each folder above it; a link does not hide where it leads."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    program = tmp_path / "opt" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.touch()
    for path in (tmp_path, *tmp_path.parents[:-1]):
        if path != Path("/tmp"):
            path.chmod(0o755)
    link = tmp_path / "link"
    link.symlink_to(program)
    assert system._find_weakness(link) is None
    weaken(program.parent)
    assert str(program.parent) in (system._find_weakness(link) or "")
