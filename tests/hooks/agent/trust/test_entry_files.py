"""The files that the entries of a plan run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.mount_plan import ModuleEntry, read_entry
from amplifier_hooks.agent.trust.entry_files import (
    find_in_search_paths,
    find_installed,
    find_source,
    iterate_entries,
    list_commands,
    read_files,
)
from amplifier_hooks.machine.snapshot import Snapshot
from tests.support.modules import write_package


def names(entry: Any, folder: Path) -> list[str]:
    found = read_files(read_entry("hooks", entry), folder, Snapshot())
    return [str(path.relative_to(folder)) for path in found]


def write(folder: Path, name: str, text: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_source_is_a_file_or_the_python_files_of_a_folder(tmp_path: Path) -> None:
    """What is not there is left to the module, and an address to whoever fetches it."""
    write(tmp_path, "h.py")
    write(tmp_path, "pack/__init__.py")
    write(tmp_path, "pack/sub/part.py")
    write(tmp_path, "pack/data.txt")
    assert names("./h.py", tmp_path) == ["h.py"]
    assert names({"module": "h", "source": "file://pack"}, tmp_path) == [
        "pack/__init__.py",
        "pack/sub/part.py",
    ]
    assert names("./missing.py", tmp_path) == []
    assert names({"module": "h", "source": "git+https://x/y"}, tmp_path) == []
    assert find_source(ModuleEntry(module="hooks-redaction"), tmp_path) is None


def test_pipes_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    """In any place where a file can be named."""
    os.mkfifo(tmp_path / "h.py")
    os.mkfifo(tmp_path / "s.json")
    assert names("./h.py", tmp_path) == []
    for config in ({"settings": ["s.json"]}, {"settings": ["*.json"]}):
        assert names({"module": "hooks-shell", "config": config}, tmp_path) == []
    assert names({"module": "hooks-rules", "config": {"file": "s.json"}}, tmp_path) == []
    hooks = {"Stop": [{"command": "./h.py; cat s.json"}]}
    assert names({"module": "hooks-shell", "config": {"hooks": hooks}}, tmp_path) == []


def test_rules_are_the_files_that_are_named(tmp_path: Path) -> None:
    """Options that are wrong are the module's to complain about."""
    write(tmp_path, "a.yaml", "rules: []")
    assert names({"module": "hooks-rules", "config": {"file": "a.yaml"}}, tmp_path) == ["a.yaml"]
    assert names({"module": "hooks-rules", "config": {"fil": "a.yaml"}}, tmp_path) == []


def test_settings_come_with_the_scripts_that_they_name(tmp_path: Path) -> None:
    """And with code beside those; a broken file counts, too."""
    command = {"command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh --fast'}
    settings = {"hooks": {"PreToolUse": [{"hooks": [command]}]}}
    write(tmp_path, ".claude/settings.json", json.dumps(settings))
    for name in ("check.sh", "lib.sh", "rules.json", "run.log", "notes.txt"):
        write(tmp_path, f".claude/hooks/{name}")
    entry = {"module": "hooks-shell", "config": {"settings": [".claude/*.json"]}}
    assert names(entry, tmp_path) == [
        ".claude/hooks/check.sh",
        ".claude/hooks/lib.sh",
        ".claude/hooks/rules.json",
        ".claude/settings.json",
    ]
    assert list_commands(read_entry("hooks", entry), tmp_path, Snapshot()) == []
    write(tmp_path, ".claude/settings.json", "{")
    assert names(entry, tmp_path) == [".claude/settings.json"]


def test_commands_are_listed_as_they_are_written(tmp_path: Path) -> None:
    """Lines of bash, words, and addresses."""
    hooks = {"Stop": [{"command": "echo 'a b'"}, {"command": "x", "args": ["y"]}]}
    entry = read_entry("hooks", {"module": "hooks-shell", "config": {"hooks": hooks}})
    assert list_commands(entry, tmp_path, Snapshot()) == ["echo 'a b'", "x y"]
    assert list_commands(read_entry("hooks", "hooks-rules"), tmp_path, Snapshot()) == []
    wrong = read_entry("hooks", {"module": "hooks-shell", "config": {"settings": 5}})
    assert list_commands(wrong, tmp_path, Snapshot()) == []


def test_the_entries_of_agents_are_entries(tmp_path: Path) -> None:
    """Their loops and hooks, and those of their tools that are modules."""
    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "hooks": ["h"],
        "agents": {
            "a": {
                "hooks": ["i"],
                "tools": ["Read", {"module": "t"}],
                "session": {"orchestrator": "mine"},
            }
        },
    }
    found = [entry.module for entry in iterate_entries(plan)]
    assert found == ["loop-basic", "context-simple", "h", "mine", "t", "i"]


def test_a_package_in_the_folder_with_the_name_of_a_module_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take the place even of one of our own guards."""
    package = write_package(tmp_path, "hooks-redaction", "x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    entry = ModuleEntry(module="hooks-redaction")
    from amplifier_core.loader import ModuleLoader

    known = ModuleLoader().known()
    assert list(find_installed(entry, tmp_path, known)) == [(package.name, package)]
    assert list(find_installed(entry, tmp_path / "other", known)) == []
    named = ModuleEntry(module="hooks-redaction", source="./x.py")
    assert list(find_installed(named, tmp_path, known)) == []


def test_a_folder_of_modules_in_the_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the variable that names such folders."""
    place = tmp_path / "modules" / "amplifier-module-mine"
    place.mkdir(parents=True)
    monkeypatch.setenv("AMPLIFIER_MODULES", f"{tmp_path}/modules:/nowhere")
    assert list(find_in_search_paths(ModuleEntry(module="mine"), tmp_path)) == [place]
    assert list(find_in_search_paths(ModuleEntry(module="other"), tmp_path)) == []
    assert list(find_in_search_paths(ModuleEntry(module="mine"), tmp_path / "elsewhere")) == []


def serve(**servers: Any) -> ModuleEntry:
    return read_entry("tools", {"module": "tool-mcp", "config": {"servers": servers}})


def test_mcp_servers_are_commands_and_addresses_without_their_secrets(tmp_path: Path) -> None:
    """A person sees what would be started, and nobody sees a password."""
    entry = serve(
        time={"command": "uvx", "args": ["mcp-server-time", "a b"], "env": {"KEY": "secret"}},
        docs={"url": "https://me:secret@x.example/mcp?key=secret", "headers": {"A": "secret"}},
    )
    assert list_commands(entry, tmp_path, Snapshot()) == [
        "uvx mcp-server-time 'a b'",
        "https://x.example/mcp",
    ]
    assert list_commands(serve(wrong={}), tmp_path, Snapshot()) == []


def test_files_that_start_an_mcp_server_need_trust(tmp_path: Path) -> None:
    """Those of the folder; what is not there is left to the module."""
    write(tmp_path, "server.py")
    write(tmp_path, "tools/run.sh")
    write(tmp_path, "notes.db")
    entry = serve(
        a={"command": "python", "args": ["server.py", "missing.py", "notes.db", "/etc/passwd"]},
        b={"command": "./run.sh", "cwd": "tools"},
        c={"url": "https://x.example/mcp"},
    )
    found = read_files(entry, tmp_path, Snapshot())
    assert [str(one.relative_to(tmp_path)) for one in found] == ["server.py", "tools/run.sh"]
    assert read_files(serve(wrong={}), tmp_path, Snapshot()) == []
