"""What people allowed of servers' tools, kept on this machine."""

from __future__ import annotations

import json
import stat
import threading

import pytest

from amplifier_hooks.guards.mcp.known_tools import KnownTools, KnownToolsError

TIME = ["uvx", "mcp-server-time"]
TOOL = {"name": "now", "description": "The time."}


@pytest.fixture
def known(tmp_path):
    return KnownTools(tmp_path / "mcp")


def test_it_lies_in_the_persons_data_folder(tmp_path):
    """Not in a project, where an agent could change it."""
    env = {"XDG_DATA_HOME": str(tmp_path)}
    assert KnownTools(env=env).folder == tmp_path / "amplifier" / "mcp"


def test_what_was_allowed_is_found_again(known):
    """By what the server is, with who allowed it and when."""
    assert known.find(TIME) is None
    known.allow(TIME, "time", [TOOL], "ada")
    found = known.find(TIME)
    assert found.name == "time"
    assert found.tools["now"].definition == TOOL
    assert found.tools["now"].by == "ada"
    assert found.tools["now"].at.startswith("20")


def test_another_command_is_another_server(known):
    """Whatever it is called."""
    known.allow(TIME, "time", [TOOL], "ada")
    assert known.find(["uvx", "mcp-server-time", "--evil"]) is None


def test_a_later_definition_takes_the_place_of_the_earlier(known):
    """And leaves the other tools alone."""
    known.allow(TIME, "time", [TOOL, {"name": "zones"}], "ada")
    known.allow(TIME, "clock", [{**TOOL, "description": "New."}], "bob")
    found = known.find(TIME)
    assert found.name == "clock"
    assert found.tools["now"].definition["description"] == "New."
    assert found.tools["zones"].by == "ada"


def test_tools_are_forgotten_one_by_one_or_all(known):
    """The number of those that were known is told."""
    known.allow(TIME, "time", [TOOL, {"name": "zones"}, {"name": "diff"}], "ada")
    assert known.forget(TIME, ["now", "never"]) == 1
    assert set(known.find(TIME).tools) == {"zones", "diff"}
    assert known.forget(TIME) == 2
    assert known.find(TIME).tools == {}
    assert known.forget(["never"]) == 0


def test_what_waits_for_a_person_is_kept_until_it_is_allowed(known):
    """Or until the server takes it back."""
    changed = {**TOOL, "description": "New."}
    known.allow(TIME, "time", [TOOL], "ada")
    known.note_waiting(TIME, "time", {"now": changed, "zones": {"name": "zones"}})
    assert known.find(TIME).waiting == {"now": changed, "zones": {"name": "zones"}}
    assert known.find(TIME).tools["now"].definition == TOOL
    known.note_waiting(TIME, "time", {"zones": None, "never": None})
    known.allow(TIME, "time", [changed], "ada")
    assert known.find(TIME).waiting == {}
    known.note_waiting(TIME, "time", {"zones": {"name": "zones"}})
    assert known.forget(TIME, ["zones"]) == 1
    assert known.find(TIME).waiting == {}


def test_a_file_of_an_earlier_version_has_nothing_that_waits(known):
    """It is read all the same."""
    known.allow(TIME, "time", [TOOL], "ada")
    (file,) = known.folder.glob("*.json")
    content = json.loads(file.read_text())
    del content["waiting"]
    file.write_text(json.dumps(content))
    assert known.find(TIME).waiting == {}


def test_servers_are_listed_by_name(known):
    """All that are known."""
    known.allow(["b"], "zeta", [TOOL], "ada")
    known.allow(["a"], "alpha", [TOOL], "ada")
    assert [one.name for one in known.list_servers()] == ["alpha", "zeta"]
    assert len({one.id for one in known.list_servers()}) == 2
    known.forget(["a"])
    assert [one.name for one in known.list_servers()] == ["zeta"]


def test_nobody_else_can_read_it(known):
    """A definition may say more about a person's work than others should know."""
    known.allow(TIME, "time", [TOOL], "ada")
    (file,) = known.folder.glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(known.folder.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"identity": [], "name": "x"}', '{"tools": 1}']
)
def test_what_is_damaged_is_an_error_and_no_empty_list(known, content):
    """Otherwise, whoever damages the file makes every tool a new one."""
    known.allow(TIME, "time", [TOOL], "ada")
    (file,) = known.folder.glob("*.json")
    file.write_text(content)
    with pytest.raises(KnownToolsError, match="remove it"):
        known.find(TIME)


def test_what_cannot_be_kept_is_an_error(tmp_path):
    """It names the file."""
    (tmp_path / "mcp").write_text("a file, no folder")
    with pytest.raises(KnownToolsError, match="cannot be kept"):
        KnownTools(tmp_path / "mcp").allow(TIME, "time", [TOOL], "ada")


def test_two_who_allow_at_once_lose_nothing(known):
    """Sessions run side by side."""
    names = [f"tool{number}" for number in range(20)]
    threads = [
        threading.Thread(target=known.allow, args=(TIME, "time", [{"name": one}], "ada"))
        for one in names
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert set(known.find(TIME).tools) == set(names)


def test_a_server_cannot_fill_the_disk(tmp_path, monkeypatch):
    """What was allowed stays; what is too much is an error, so that its list is not shown."""
    monkeypatch.setattr("amplifier_hooks.guards.mcp.known_tools.LARGEST", 1_000)
    known = KnownTools(tmp_path)
    known.allow(["srv"], "srv", [{"name": "a"}], "ada")
    with pytest.raises(KnownToolsError, match="too much"):
        known.allow(["srv"], "srv", [{"name": "b", "description": "x" * 1_000}], "first seen")
    assert list(known.find(["srv"]).tools) == ["a"]
