"""The small commands: init, doctor, modules, sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from amplifier_apps.cli.main import cli
from amplifier_foundation.bundles import load_bundle
from amplifier_foundation.session.store import SessionInfo, SessionStore


def call(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(arguments), input=answer)


@pytest.fixture
def store(home: Path) -> SessionStore:
    return SessionStore()


def test_init_writes_a_bundle_that_loads_and_a_hook_that_works(home: Path) -> None:
    """A commented bundle and a first hook."""
    assert call("init", "proj").exit_code == 0
    bundle = load_bundle(project_dir=home / "proj")
    assert bundle.name == "proj"
    hooks = [entry["module"] for entry in bundle.mount_plan["hooks"]]
    assert "first-hook" in hooks
    assert "hooks-linter-feedback" in hooks


async def test_the_first_hook_denies_a_lock_file(home: Path) -> None:
    """What init writes keeps what its docstring says."""
    from amplifier_apps.cli.commands.init import HOOK

    space: dict = {}
    exec(compile(HOOK, "first_hook.py", "exec"), space)
    call_data = {"tool_name": "Write", "tool_input": {"file_path": "a/uv.lock"}}
    assert (await space["on_tool_pre"]("tool:pre", call_data)).action == "deny"
    other = {"tool_name": "Write", "tool_input": {"file_path": "a/b.py"}}
    assert (await space["on_tool_pre"]("tool:pre", other)).action == "continue"


def test_init_overwrites_only_when_told(home: Path) -> None:
    """What a person has written is not lost."""
    (home / "amplifier.yaml").write_text("name: mine\n")
    refused = call("init")
    assert refused.exit_code == 1
    assert "is there already; --force overwrites it" in refused.output
    assert (home / "amplifier.yaml").read_text() == "name: mine\n"
    assert call("init", "--force").exit_code == 0


@pytest.mark.parametrize("name", ["plain", "with: colon", "quote'\"", "[list]", "ünï"])
def test_init_in_a_folder_of_any_name_is_valid(home: Path, name: str) -> None:
    """The folder's name becomes the bundle's, whatever is in it."""
    assert call("init", name).exit_code == 0
    assert load_bundle(project_dir=home / name).name == name


def test_doctor_finds_nothing_broken_in_an_empty_home(home: Path) -> None:
    """Environment, extras, versions, keys present, store and log health."""
    result = call("doctor")
    assert result.exit_code == 0
    for section in ("Environment", "Terminal", "Extras", "Keys", "Programs", "Bundle", "Stores"):
        assert section in result.output
    assert "Nothing is broken." in result.output


def test_doctor_never_shows_a_key(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys present, not their values."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    for arguments in (["doctor"], ["doctor", "--json"]):
        output = call(*arguments).output
        assert "very-secret" not in output
        assert "ANTHROPIC_API_KEY" in output


def test_doctor_names_what_is_broken(home: Path, store: SessionStore) -> None:
    """A broken bundle and a damaged session are found, and the exit code says so."""
    (home / "amplifier.yaml").write_text("hoks: []\n")
    store.root.mkdir(parents=True)
    (store.root / "bad.session").write_text("nonsense")
    result = call("doctor", "--json")
    broken = {one["section"] for one in json.loads(result.output) if one["health"] == "broken"}
    assert broken == {"Bundle", "Stores"}


def test_modules_are_listed_without_importing_them(home: Path) -> None:
    """modules list: id, kind and what they do."""
    output = call("modules", "list", "--kind", "provider").output
    assert "provider-scripted" in output
    assert "tool-bash" not in output
    known = json.loads(call("modules", "list", "--json").output)
    assert {"id", "kind", "target", "package", "summary"} <= set(known[0])


def test_sessions_list_show_and_delete(store: SessionStore) -> None:
    """sessions: list, show, delete."""
    assert "No saved sessions yet" in call("sessions", "list").output
    talk = [
        {"role": "user", "content": "fix it\x1b[2K"},
        {
            "role": "assistant",
            "content": "on it",
            "tool_calls": [{"name": "Bash", "arguments": {"command": "ls"}}],
        },
        {"role": "tool", "content": "a.py\nb.py\nc.py\n"},
    ]
    store.save(SessionInfo("abcdef", name="Fix the parser", turns=1), {"messages": talk})
    assert "Fix the parser" in call("sessions", "list").output
    assert json.loads(call("sessions", "list", "--json").output)[0]["turns"] == 1
    shown = call("sessions", "show", "abc").output
    assert "fix it\\u{1B}[2K" in shown
    assert "● Bash  ls" in shown
    assert "a.py  … 2 more lines" in shown
    assert json.loads(call("sessions", "show", "abc", "--json").output)["state"]["messages"] == talk
    assert call("sessions", "delete", "abc", answer="n\n").exit_code == 0
    assert len(store.list()) == 1
    assert "deleted" in call("sessions", "delete", "fix the parser", "--yes").output
    assert store.list() == []
