"""amplifier doctor: what is there, what is missing, and what is broken."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import sys
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

import amplifier_hooks
from amplifier_hooks import SessionStore
from amplifier_hooks.cli.commands import doctor
from amplifier_hooks.cli.commands.doctor import EXTRAS, Finding, check_frameworks, examine
from amplifier_hooks.coding_agents.installing.guard import GuardOptions, install_guard, remove_guard
from amplifier_hooks.coding_agents.installing.installation import Target
from amplifier_hooks.coverage import TABLES
from amplifier_hooks.guards.mcp.definitions import KnownTools
from amplifier_hooks.modules.installation import name_install_command
from amplifier_hooks.sandbox import protection
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke, run_at_terminal
from tests.hooks.guards.policy.test_unread_tools import TOOL

LANGCHAIN = next(one for one in TABLES if one.name == "langchain")


def install(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Pretend that only these are installed."""

    def find_version(package: str) -> str:
        if package in packages:
            return "9.9"
        raise PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "version", find_version)


def test_an_installed_framework_is_shown_with_what_is_not_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The line that attaches hooks, where they decide, and everything that passes them by."""
    install(monkeypatch, LANGCHAIN.package)
    first, second, *rest = check_frameworks()
    assert (first.name, first.detail) == ("LangChain 9.9", LANGCHAIN.attach)
    assert "tool:pre" in second.detail
    assert [one.detail for one in rest] == list(LANGCHAIN.unseen)


def test_without_any_the_names_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that people learn that there are adapters."""
    install(monkeypatch)
    (only,) = check_frameworks()
    assert only.health == "absent"
    assert "LangChain" in only.detail


def test_a_finding_can_be_written_as_json() -> None:
    """`doctor --json` prints exactly these fields."""
    found = asdict(Finding("Keys", "A_KEY", "absent", "for a provider"))
    assert found == {
        "section": "Keys",
        "name": "A_KEY",
        "health": "absent",
        "detail": "for a provider",
    }


SRC = Path(amplifier_hooks.__file__).parents[1]
SECTIONS = (
    *("Environment", "Terminal", "Extras", "Keys"),
    *("Programs", "Sandbox", "Bundle", "Stores"),
)


def find(section: str, name: str) -> Finding:
    (found,) = [one for one in examine() if (one.section, one.name) == (section, name)]
    return found


def test_nothing_is_broken_in_an_empty_home(home: Path) -> None:
    """Every section is there; what is merely absent is fine."""
    done = invoke("doctor")
    assert done.code == 0
    assert [line for line in done.stdout.splitlines() if line in SECTIONS] == list(SECTIONS)
    assert done.stdout.endswith("Nothing is broken.\n")


def test_it_says_which_program_and_which_installation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And names another project's program that the shell would start instead."""
    ours, theirs = tmp_path / "ours" / "amplifier-hooks", tmp_path / "theirs" / "amplifier"
    for one in (ours, theirs):
        one.parent.mkdir()
        one.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(ours)])
    monkeypatch.setenv("PATH", f"{theirs.parent}:{ours.parent}")
    found = [one for one in examine() if one.section == "Environment"]
    details = [one.detail for one in found if one.name == "program"]
    assert details == [str(ours), f"amplifier on your PATH is another program: {theirs}"]
    assert f"from {SRC.parent}" in find("Environment", "amplifier-hooks").detail
    assert find("Environment", "amplifier-core").detail == version("amplifier-core")


def test_a_kernel_of_another_version_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """amplifier-hooks names the one that it was built with."""
    monkeypatch.setattr(
        importlib.metadata, "requires", lambda name: ["amplifier-core==2.0.2+hooks.0"]
    )
    found = find("Environment", "amplifier-core")
    assert found.health == "broken"
    assert "needs 2.0.2+hooks.0" in found.detail


def test_a_guard_that_a_project_switches_off_is_broken(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of agents that are guarded; nobody else's settings matter."""
    project = tmp_path / "cloned"
    (project / ".claude").mkdir(parents=True)
    monkeypatch.chdir(project)
    (project / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    assert [one for one in examine() if one.section == "Guards"] == []
    install_guard(Target("claude", "user", project), GuardOptions())
    try:
        found = find("Guards", "Claude Code")
        assert (found.health, "disableAllHooks" in found.detail) == ("broken", True)
        (project / ".claude" / "settings.json").unlink()
        assert find("Guards", "Claude Code").health == "good"
    finally:
        remove_guard(Target("claude", "user", project))


def test_a_key_is_named_and_never_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is set, in words and for machines."""
    assert find("Keys", "ANTHROPIC_API_KEY").health == "absent"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    assert find("Keys", "ANTHROPIC_API_KEY").detail == "set"
    for arguments in (["doctor"], ["doctor", "--json"]):
        output = invoke(*arguments).output
        assert "very-secret" not in output
        assert "ANTHROPIC_API_KEY" in output


def test_it_says_what_walls_commands_in_and_what_does_not_hold(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine without any wall in capitals."""
    monkeypatch.setattr(protection, "query_abi", lambda: 2)
    monkeypatch.setattr(protection, "is_available", lambda: True)
    assert find("Sandbox", "commands").detail == "run behind Landlock (ABI 2)"
    lacks = [one.detail for one in examine() if one.name == "does not hold"]
    assert any("signals" in lack for lack in lacks)
    monkeypatch.setattr(protection, "query_abi", lambda: 0)
    monkeypatch.setattr(protection, "find_bubblewrap", lambda: None)
    protection._examine_bubblewrap.cache_clear()
    found = find("Sandbox", "commands")
    protection._examine_bubblewrap.cache_clear()
    assert found.health == "absent"
    assert found.detail.startswith("NOT SANDBOXED: the kernel has no Landlock")


def test_what_is_broken_is_named(home: Path) -> None:
    """A bundle that cannot be read, a damaged session; the exit code says so."""
    (home / "amplifier.yaml").write_text("hoks: []\n")
    store = SessionStore()
    store.root.mkdir(parents=True)
    (store.root / "bad.session").write_text("nonsense")
    done = invoke("doctor", "--json")
    broken = {one["section"] for one in json.loads(done.stdout) if one["health"] == "broken"}
    assert done.code == 1
    assert broken == {"Bundle", "Stores"}
    assert invoke("doctor").stdout.endswith("2 broken\n")


def test_a_check_that_fails_itself_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are made all the same."""

    def fail() -> Any:
        raise RuntimeError("no keys at all")
        yield

    fail.__name__ = "_check_keys"
    monkeypatch.setattr(doctor, "_check_keys", fail)
    assert find("keys", "RuntimeError") == Finding(
        "keys", "RuntimeError", "broken", "no keys at all"
    )
    assert find("Environment", "python").health == "good"


def test_a_missing_package_comes_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra, and which of its packages is not there."""
    monkeypatch.setitem(EXTRAS, "odd", ("json", "no_such_package.part"))
    found = find("Extras", "odd")
    assert found.health == "absent"
    assert found.detail == f"missing no_such_package.part: {name_install_command('odd')}"


def named_packages() -> set[str]:
    """The top of every name that another file of ours imports, by a statement or by its text."""
    found: set[str] = set()
    for path in SRC.rglob("*.py"):
        if path.name == "doctor.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value.split(".")[0])
    return found


def test_only_packages_that_something_imports_are_looked_for() -> None:
    """What is not there yet is not announced."""
    looked_for = {name.split(".")[0] for packages in EXTRAS.values() for name in packages}
    assert looked_for <= named_packages()


def test_hostile_names_are_shown_harmless(home: Path) -> None:
    """The name of a bundle comes from a file that somebody else may have written."""
    (home / "amplifier.yaml").write_text('name: "a\\e[2Jb"\n')
    done = invoke("doctor")
    assert "a\\u{1B}[2Jb" in done.stdout
    assert "\x1b" not in done.stdout


def test_at_a_terminal_it_says_that_questions_can_be_asked(home: Path) -> None:
    """With the size of the terminal, and whether it gets colours."""
    with run_at_terminal("doctor", columns=100, rows=60) as program:
        assert program.wait_end() == 0
        shown = program.text()
    assert "can be asked here (100×60, xterm-256color)" in shown
    assert "✓ colour" in shown
    assert b"\x1b[32m" in program.raw


def test_hooks_that_do_not_load_are_broken(project: Project) -> None:
    """In a folder that a person trusts; nothing of another one is run."""
    bundle = project({"text": "x"}, hooks=["hooks-redacton"])
    shown = invoke("doctor")
    assert shown.code == 1
    assert f"{bundle}:" in shown.stdout
    assert "did you mean 'hooks-redaction'? — no session starts without it" in shown.stdout
    project({"text": "x"}, hooks=["hooks-redacton", "hooks-datetime"], trusted=False)
    assert "hooks-redacton" not in invoke("doctor").stdout


def test_a_file_that_a_hook_runs_and_nobody_can_read_is_broken(home: Path) -> None:
    """Told once, with the line that asks for it."""
    path = home / "amplifier.yaml"
    path.write_text("hooks:\n- module: hooks-rules\n  config: {file: /proc/self/mem}\n")
    shown = invoke("doctor")
    assert shown.code == 1
    assert f"{path}:2: Module 'hooks-rules' runs a file that cannot be read: " in shown.stdout
    assert shown.stdout.count("hooks-rules") == 1


def test_tools_that_no_guard_can_read_are_named(project: Project) -> None:
    """Those of modules, and what servers have offered; ours and those that only read are not."""
    home = Path.cwd()
    (home / "deploy.py").write_text(TOOL)
    servers = {"servers": {"shop": {"command": "shop-server"}}}
    tools = ["tool-filesystem", "tool-bash", "./deploy.py"]
    mcp = {"module": "tool-mcp", "config": servers}
    order = {"name": "order", "inputSchema": {"properties": {"item": {}}}}
    price = {**order, "name": "price", "annotations": {"readOnlyHint": True}}
    KnownTools().allow(["shop-server"], "shop", [order, price], "ana")
    project({"text": "x"}, hooks=["hooks-command-guard"], tools=[*tools, mcp])
    shown = find("Hooks", "tools they cannot read")
    assert shown.health == "absent"
    assert shown.detail.startswith("No guard can read the input of mcp__shop__order, deploy:")
    project({"text": "x"}, hooks=["hooks-command-guard"], tools=tools[:2])
    assert not [one for one in examine() if one.name == "tools they cannot read"]
