"""Installing and removing on disk, for every agent."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.agents import AGENTS, Options
from amplifier_hooks.coding_agents.installing.installation import (
    Target,
    install,
    list_ours,
    remove,
)
from amplifier_hooks.coding_agents.installing.line import make_guest_command
from amplifier_hooks.coding_agents.installing.places import Scope
from amplifier_hooks.coding_agents.installing.record import Records
from amplifier_hooks.coding_agents.installing.settings_file import SettingsError

OPTIONS = Options(make_guest_command(Path("/run/guests")))
IN_JSON = [name for name in AGENTS if name != "opencode"]
THEIRS = '{\r\n\t"version": 1,\r\n\t"théme": "dark"\r\n}'


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_not_there_is_gone_again(home: Path, agent: str, scope: Scope) -> None:
    """File and folders."""
    target, records = Target(agent, scope, home), Records()
    assert install(target, OPTIONS, records, "1").kind == "installed"
    assert set(list_ours(target)) == set(AGENTS[agent].list_events())
    assert install(target, OPTIONS, records, "1").kind == "unchanged"
    assert remove(target, records).kind == "removed"
    assert remove(target, records).kind == "absent"
    assert {one.name for one in home.rglob("*")} <= {"bin", "data", "amplifier", "guests"}


@pytest.mark.parametrize("agent", IN_JSON)
def test_a_file_of_theirs_is_as_before(home: Path, agent: str) -> None:
    """Byte for byte, with its mode."""
    target, records = Target(agent, "user", home), Records()
    target.path.parent.mkdir(parents=True)
    target.path.write_bytes(b"\xef\xbb\xbf" + THEIRS.encode())
    target.path.chmod(0o604)
    install(target, OPTIONS, records, "1")
    installed = json.loads(target.path.read_bytes().decode("utf-8-sig"))
    assert installed["théme"] == "dark"
    assert set(installed["hooks"]) == set(AGENTS[agent].list_events())
    assert stat.S_IMODE(target.path.stat().st_mode) == 0o604
    remove(target, records)
    assert target.path.read_bytes() == b"\xef\xbb\xbf" + THEIRS.encode()
    assert stat.S_IMODE(target.path.stat().st_mode) == 0o604


def test_an_unusual_file_is_restored_from_its_copy(home: Path) -> None:
    """Even what editing alone could not bring back."""
    target, records = Target("gemini", "project", home), Records()
    target.path.parent.mkdir()
    target.path.write_text("  \n")
    install(target, OPTIONS, records, "1")
    remove(target, records)
    assert target.path.read_text() == "  \n"


@pytest.mark.parametrize("with_record", [True, False])
def test_what_others_wrote_since_stays(home: Path, with_record: bool) -> None:
    """Also if our own notes are lost."""
    target, records = Target("claude", "user", home), Records()
    install(target, OPTIONS, records, "1")
    changed = json.loads(target.path.read_text())
    changed["model"] = "opus"
    target.path.write_text(json.dumps(changed, indent=2))
    if not with_record:
        records.forget(target.path)
    remove(target, records)
    assert json.loads(target.path.read_text()) == {"model": "opus"}
    assert list(records.list()) == []


def test_lines_that_somebody_removed_are_forgotten(home: Path) -> None:
    """Nothing of ours is left, so nothing is remembered."""
    target, records = Target("claude", "user", home), Records()
    install(target, OPTIONS, records, "1")
    target.path.write_text("{}")
    assert remove(target, records).kind == "absent"
    assert target.path.read_text() == "{}"
    assert list(records.list()) == []


def test_installing_again_after_others_wrote_keeps_what_they_wrote(home: Path) -> None:
    """And it is still there after the removal."""
    target, records = Target("codex", "user", home), Records()
    install(target, OPTIONS, records, "1")
    text = target.path.read_text()
    target.path.write_text(text[: text.rindex("}")] + ', "description": "mine"}')
    install(target, replace(OPTIONS, bundle=Path("/b.yaml")), records, "1")
    remove(target, records)
    assert json.loads(target.path.read_text()) == {"description": "mine"}


def test_other_options_change_our_lines(home: Path) -> None:
    """And nothing else."""
    target, records = Target("gemini", "user", home), Records()
    target.path.parent.mkdir()
    target.path.write_text('{\n  // mine\n  "a": 1\n}\n')
    install(target, OPTIONS, records, "1")
    changed = install(target, replace(OPTIONS, bundle=Path("/b.yaml")), records, "1")
    assert changed.kind == "updated"
    handlers = [one["hooks"][0] for found in list_ours(target).values() for one in found]
    assert all("'/b.yaml' ||" in one["command"] for one in handlers)
    remove(target, records)
    assert target.path.read_text() == '{\n  // mine\n  "a": 1\n}\n'


def test_a_file_with_our_token_is_private_until_it_is_removed(home: Path) -> None:
    """The mode comes back."""
    target, records = Target("claude", "user", home), Records()
    target.path.parent.mkdir()
    target.path.write_text("{}")
    target.path.chmod(0o644)
    install(target, replace(OPTIONS, http=(4711, "secret")), records, "1")
    assert stat.S_IMODE(target.path.stat().st_mode) == 0o600
    install(target, OPTIONS, records, "1")
    assert stat.S_IMODE(target.path.stat().st_mode) == 0o644
    remove(target, records)
    assert target.path.read_text() == "{}"


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "cursor"])
def test_a_file_that_cannot_be_read_is_refused(home: Path, agent: str) -> None:
    """With its line; nothing is written, not even a record."""
    target, records = Target(agent, "user", home), Records()
    target.path.parent.mkdir(parents=True)
    target.path.write_text('{\n  "a": 1 // why\n}')
    with pytest.raises(SettingsError, match=r"line 2: a comment.*nothing was changed"):
        install(target, OPTIONS, records, "1")
    assert target.path.read_text() == '{\n  "a": 1 // why\n}'
    assert list(records.list()) == []


def test_a_plugin_of_somebody_else_is_refused(home: Path) -> None:
    """It is neither overwritten nor removed."""
    target, records = Target("opencode", "user", home), Records()
    target.path.parent.mkdir(parents=True)
    target.path.write_text("export const Mine = 1")
    with pytest.raises(SettingsError, match="not a plugin of ours"):
        install(target, OPTIONS, records, "1")
    with pytest.raises(SettingsError, match="not a plugin of ours"):
        remove(target, records)
    assert target.path.read_text() == "export const Mine = 1"
