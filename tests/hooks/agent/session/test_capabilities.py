"""What modules may ask a session for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.capabilities import (
    hide_secrets,
    list_answer_files,
    list_roots,
    list_session_places,
    register_capabilities,
)
from amplifier_hooks.guards.policy.protected_places import get_places
from tests.support.project import Project, script
from tests.support.sessions import plan_for


async def test_names_given_by_hooks_are_kept_with_the_session(project: Project) -> None:
    """The application hears of the name, and the saved state has it."""
    given: list[tuple[str, str]] = []
    async with project.session(on_rename=lambda *name: given.append(name)) as session:
        session.coordinator.get_capability("session.rename")("Fix tests", "all of them")
        state = await session.state()
    assert given == [("Fix tests", "all of them")]
    assert state["session_state"]["name"] == "Fix tests"


def session_in(folder: Path = Path()) -> AssembledSession:
    session = AssembledSession(plan_for([]))
    register_capabilities(session, folder)
    return session


def test_a_name_is_kept_also_when_nobody_wants_to_hear_of_it() -> None:
    """Without `on_rename` the name still belongs to the saved state."""
    session = session_in()
    assert session.coordinator.get_capability("session.rename")("Fix tests") is None
    assert session.coordinator.session_state == {"name": "Fix tests", "description": ""}


def test_the_working_folder_is_absolute(tmp_path: Path, monkeypatch: Any) -> None:
    """Modules must not depend on where the process happens to stand."""
    monkeypatch.chdir(tmp_path)
    session = session_in(Path("below"))
    found = session.coordinator.get_capability("session.working_dir")
    assert found == str(tmp_path / "below")


async def test_a_model_can_be_asked_beside_the_conversation(project: Project) -> None:
    """The capability asks the session's own model; here it is one that plays a script."""
    async with project.session(project.bundle(providers=script("hi"))) as session:
        provider = session.coordinator.get("providers", "scripted")
        provider.answers_side_calls = True
        assert await session.coordinator.get_capability("session.model_call")("name it") == "hi"
        assert session.context.get_messages() == []


@given(
    secrets=st.frozensets(st.text(st.characters(categories=["L", "N"]), min_size=6), max_size=3),
    text=st.text(max_size=20),
)
def test_no_secret_survives(secrets: frozenset[str], text: str) -> None:
    """Wherever in a text it stands."""
    session = session_in()
    hide_secrets(session, secrets)
    told = session.coordinator.scrub(text + "; ".join(secrets) + text)
    assert not [secret for secret in secrets if secret in told and secret not in "[secret]"]


def test_places_follow_from_the_plan(tmp_path: Path, monkeypatch: Any) -> None:
    """Roots of tools and of the sandbox are sealed; trail, key, anchors and socket are hidden."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    plan = {
        "tools": [
            "tool-bash",
            {"module": "tool-search", "config": {"roots": ["../lib"], "working_dir": "in"}},
            {"module": "tool-filesystem", "config": {"allowed_write_paths": [str(tmp_path / "o")]}},
            {"module": "tool-odd", "config": {"roots": "no list"}},
        ],
        "sandbox": {"write": ["~/cache"]},
        "audit": {"path": "trail", "sign": "~/key", "socket": "/run/s", "anchors": ["anchor"]},
    }
    work = tmp_path / "work"
    roots = list_roots(plan, work)
    assert set(roots) == {work, work / "in", work / "lib", tmp_path / "o", tmp_path / "home/cache"}
    places = list_session_places(plan, work)
    assert places.roots == roots
    expected = [tmp_path / "trail", tmp_path / "home/key", Path("/run/s"), tmp_path / "anchor"]
    assert set(expected) <= set(places.hidden)
    assert work / "lib/.git/hooks" in places.sealed


def test_files_that_govern_a_session_are_sealed(tmp_path: Path) -> None:
    """Tools may read them, and write neither them nor over them."""
    rules = tmp_path / "approve.yaml"
    places = list_session_places({}, tmp_path, [rules])
    assert places.find_refusal(rules, writing=True)
    assert places.find_refusal(rules, writing=False) is None


async def test_tools_find_the_table_of_places(project: Project) -> None:
    """Under `session.places`."""
    async with project.session() as session:
        places = get_places(session.coordinator)
    assert project.folder.resolve() in places.roots


async def test_no_folder_is_walked_before_a_tool_asks_for_the_table(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An opening takes as long in a large folder; the first call of a tool knows what is there."""
    bundle = project.bundle(tools=["tool-filesystem", "tool-search"])
    walked: list[Path] = []

    def walk(folder: Any = ".") -> Any:
        if isinstance(folder, str | Path) and Path(folder).is_relative_to(project.folder):
            walked.append(Path(folder))
        return scan(folder)

    scan = os.scandir
    monkeypatch.setattr(os, "scandir", walk)
    async with project.session(bundle) as session:
        assert walked == []
        (project.folder / "inner/.git").mkdir(parents=True)
        places = get_places(session.coordinator)
        assert walked != []
        assert places is not None
        assert places.find_refusal(project.folder / "inner/.git/config", writing=True)
        assert get_places(session.coordinator) is places


def test_where_answers_are_kept_is_hidden_from_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store of the bundle and of the environment, with all files of a database, and a token."""
    monkeypatch.setenv("AMPLIFIER_STORE", f"sqlite://{tmp_path}/my%20own.db")
    monkeypatch.setenv("AMPLIFIER_TOKEN_FILE", str(tmp_path / "token"))
    places = list_session_places({"approval": {"store": str(tmp_path / "team.db")}}, tmp_path)
    for name in ("team.db", "team.db-wal", "team.db-shm", "my own.db", "my own.db-wal", "token"):
        assert places.find_refusal(tmp_path / name, writing=False) is not None, name
    assert places.find_refusal(tmp_path / "other.db", writing=True) is None


def test_of_a_database_on_a_server_the_passwords_are_hidden() -> None:
    """Its address is nothing that tools could open as a file, but its client's files are."""
    found = list_answer_files(
        {"store": "postgresql://me@db.test/a"}, {"AMPLIFIER_STORE": "", "PGPASSFILE": "/etc/pass"}
    )
    home = Path.home()
    assert found == [
        Path("/etc/pass"),
        home / ".pg_service.conf",
        home / ".postgresql" / "postgresql.key",
    ]
