"""Whether people elsewhere can be asked, before somebody needs them."""

from __future__ import annotations

import socket
from pathlib import Path

from amplifier_hooks.cli.commands.approvals import probe_bundle, probe_people
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke
from tests.support.http_server import receiver


async def test_a_bundle_that_asks_at_the_terminal_needs_no_look() -> None:
    """Nothing is opened."""
    assert await probe_people({}) == []


async def test_a_store_that_opens_is_well_and_says_what_waits(tmp_path: Path) -> None:
    """One that does not says why."""
    section = {"via": "store", "store": str(tmp_path / "store.db")}
    assert await probe_people(section) == [("store", True, "answers; 0 approvals wait")]
    (tmp_path / "file").write_text("")
    broken = await probe_people({**section, "store": str(tmp_path / "file" / "store.db")})
    ((name, works, detail),) = broken
    assert (name, works) == ("store", False)
    assert detail


async def test_the_store_that_the_environment_names_is_looked_at_too(tmp_path: Path) -> None:
    """Commands use it here, whatever the bundle says."""
    store = str(tmp_path / "store.db")
    well = ("AMPLIFIER_STORE", True, "answers; 0 approvals wait")
    assert await probe_people({}, store) == [well]
    ((_, works, detail),) = await probe_people({}, "postgresql://me:secret@127.0.0.1:1/none")
    assert not works
    assert "secret" not in detail


async def test_a_server_that_nobody_runs_is_broken_without_the_token_in_any_word() -> None:
    """Neither the address's secrets nor the token are printed."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        section = {"via": "server", "server": f"http://127.0.0.1:{taken.getsockname()[1]}"}
        ((name, works, detail),) = await probe_people({**section, "token": "t0ken-t0ken"})
    assert (name, works) == ("server", False)
    assert "t0ken" not in detail


async def test_something_that_is_not_our_server_is_broken() -> None:
    """An answer is not enough."""
    with receiver() as server:
        section = {"via": "server", "server": server.url, "token": "t0ken-t0ken"}
        ((_, works, _),) = await probe_people(section)
    assert not works


def test_the_bundle_in_use_is_looked_at(project: Project, home: Path) -> None:
    """By doctor, in a section of its own; one that cannot be read is told of once."""
    project(approval={"via": "store", "store": str(home / "team.db")})
    assert probe_bundle() == [("store", True, "answers; 0 approvals wait")]
    assert "Approval" in invoke("doctor").stdout
    (home / "amplifier.yaml").write_text("approval: {via: 3}")
    assert probe_bundle() == []
