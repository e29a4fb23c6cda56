"""A line for every user of a machine: the client finds the folder of whoever calls it."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client import client, launch, starting


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whom the machine knows with this home, whatever the environment says."""
    home = tmp_path / "u"
    home.mkdir()
    entry = pwd.struct_passwd(("ann", "x", os.geteuid(), 0, "", str(home), "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: entry)
    for name in ("HOME", "XDG_DATA_HOME", "TMPDIR"):
        monkeypatch.setenv(name, "/attacker")
    monkeypatch.setattr(client, "_LONGEST_ADDRESS", 300)  # folders of tests are long
    return home


def test_the_environment_does_not_count(user: Path) -> None:
    """A project may set it for its hooks."""
    assert client.find_own_folder() == os.fsencode(user / ".local/share/amplifier/guests")


def test_the_first_call_makes_it_for_nobody_else(user: Path) -> None:
    """And calls that come at the same time find it."""
    folder = client._prepare_own_folder()
    client.check_folder(folder)
    assert Path(os.fsdecode(folder)).stat().st_mode & 0o777 == 0o700
    starting.make_folder(folder)
    assert client._prepare_own_folder() == folder


def test_a_long_home_has_its_socket_elsewhere(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel takes only short addresses."""
    monkeypatch.setattr(client, "_LONGEST_ADDRESS", 10)
    found = client.find_own_folder().decode()
    assert found in (
        f"/run/user/{os.geteuid()}/amplifier-guests",
        f"/tmp/amplifier-guests-{os.geteuid()}",
    )


def test_a_user_whom_nobody_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the id."""

    def fail(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", fail)
    with pytest.raises(PermissionError, match="no user with the id"):
        client.find_own_folder()


def test_the_machine_says_how_to_start_where_the_user_does_not(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the user's own home; what the user has installed wins."""
    shared = tmp_path / "launch.json"
    monkeypatch.setattr(launch, "SYSTEM", str(shared))
    folder = client._prepare_own_folder()
    with pytest.raises(ValueError, match="install the guard again"):
        launch.read_launch(folder)
    shared.write_text(json.dumps({"argv": ["/p", "-m", "x"], "env": {"PATH": "/bin"}}))
    shared.chmod(0o666)
    with pytest.raises(ValueError, match="somebody else can write"):
        launch.read_launch(folder)
    if os.geteuid() != 0:
        return  # the file must belong to root
    shared.chmod(0o644)
    found = launch.read_launch(folder)
    assert found.argv == ["/p", "-m", "x", os.fsdecode(folder)]
    assert (found.env["HOME"], found.env["USER"], found.env["PATH"]) == (str(user), "ann", "/bin")
    own = Path(os.fsdecode(folder)) / "launch.json"
    own.write_text(json.dumps({"argv": ["/own"], "env": {}}))
    own.chmod(0o600)
    assert launch.read_launch(folder).argv == ["/own"]
