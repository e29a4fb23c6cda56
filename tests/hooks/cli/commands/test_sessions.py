"""amplifier sessions: what was saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_hooks import SessionInfo, SessionStore
from amplifier_hooks.cli.commands.sessions import get_messages
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke, run_amplifier, run_at_terminal

TALK = [
    {"role": "user", "content": "fix it\x1b[2K"},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "on it"}],
        "tool_calls": [
            {"name": "Bash", "arguments": {"command": "ls"}},
            {"tool": "Grep", "arguments": {"pattern": "x"}},
        ],
    },
    {"role": "tool", "content": "a.py\nb.py\nc.py\n"},
]


@pytest.fixture
def store(home: Path) -> SessionStore:
    """One saved session."""
    store = SessionStore()
    info = SessionInfo("abcdef", name="Fix the parser", turns=1, working_dir=str(home / "work"))
    store.save(info, {"messages": TALK})
    return store


def test_without_any_session_the_list_says_how_to_start_one(home: Path) -> None:
    """A sentence, not an empty page."""
    assert "amplifier chat" in invoke("sessions", "list").stdout


def test_the_list_shows_id_age_turns_folder_and_name(store: SessionStore) -> None:
    """In words, and for machines."""
    line = "abcdef  just now  1 turn  ~/work  Fix the parser\n"
    assert invoke("sessions", "list").stdout == line
    (listed,) = json.loads(invoke("sessions", "list", "--json").stdout)
    assert (listed["id"], listed["turns"]) == ("abcdef", 1)


def test_the_list_can_be_cut(store: SessionStore) -> None:
    """The latest first, and how many more there are; 0 shows all."""
    for number in range(3):
        store.save(SessionInfo(f"id-{number}"), {"messages": []})
    shown = invoke("sessions", "list", "--limit", "1").stdout.splitlines()
    assert shown[0].startswith("id-2 ")
    assert shown[1] == "3 more; --limit 0 shows all"
    assert len(invoke("sessions", "list", "--limit", "0").stdout.splitlines()) == 4


def test_a_session_is_shown_by_the_start_of_its_id(store: SessionStore) -> None:
    """Its conversation, with tool calls and the first line of what they returned."""
    shown = invoke("sessions", "show", "abc").stdout
    assert "fix it\\u{1B}[2K" in shown
    assert "\nassistant\non it\n" in shown
    assert "● Bash  ls" in shown
    assert "● Grep  x" in shown
    assert "a.py  … 2 more lines" in shown
    told = json.loads(invoke("sessions", "show", "abc", "--json").stdout)
    assert told["state"]["messages"] == TALK
    assert told["info"]["name"] == "Fix the parser"


@pytest.mark.usefixtures("person")
def test_a_session_is_deleted_when_the_person_says_so(store: SessionStore) -> None:
    """By its name, too; without `--yes` it asks."""
    assert invoke("sessions", "delete", "abc", answer="n\n").code == 0
    assert len(store.list()) == 1
    done = invoke("sessions", "delete", "fix the parser", "--yes")
    assert "deleted abcdef Fix the parser" in done.stdout
    assert store.list() == []


def test_nothing_is_deleted_when_one_of_the_names_is_wrong(store: SessionStore) -> None:
    """All are found before the first is gone."""
    done = invoke("sessions", "delete", "abc", "nonsense", "--yes")
    assert done.code == 1
    assert "No session 'nonsense'" in done.stderr
    assert len(store.list()) == 1


def test_a_damaged_session_is_listed_as_one(store: SessionStore) -> None:
    """It does not hide the others."""
    (store.root / "bad.session").write_text("nonsense")
    lines = invoke("sessions", "list").stdout.splitlines()
    assert len(lines) == 2
    assert any("damaged: " in line for line in lines)


def test_resume_goes_on_in_a_chat(project: Project) -> None:
    """The same as `amplifier chat --resume`."""
    project({"text": "Hello."})
    run_amplifier("run", "fix the parser")
    (info,) = SessionStore().list()
    with run_at_terminal("sessions", "resume", info.id[:8]) as program:
        program.wait_for(f"{info.name}, resumed after 1 turn")
        program.press("/exit\r")
        assert program.wait_end() == 0


def test_messages_of_an_odd_state_are_left_out() -> None:
    """Only what can be shown."""
    assert get_messages({"messages": [{"role": "user"}, "odd", None]}) == [{"role": "user"}]
    assert get_messages({"messages": "none"}) == []
