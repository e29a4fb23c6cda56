"""Every hook module of ours, broken in every way: a guard stops the session, an observer does not.

The same at the command line, for modules of ours and for what a user writes: exit code 3, and a
message with the file and the line.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_core.errors import ModuleLoadError
from amplifier_core.loader import ModuleLoader
from amplifier_hooks.cli.commands.demo.session import SECRET
from amplifier_hooks.modules.observers import OBSERVERS
from tests.hooks.cli.program import invoke, run_amplifier
from tests.support.project import Project
from tests.support.trust import trust_project

MODULES = {
    name: entry.module
    for name, entry in ModuleLoader().known().items()
    if name.startswith("hooks-")
}
GUARDS = sorted(MODULES.keys() - OBSERVERS)
UNREADABLE = "/proc/self/mem"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A folder with a bundle of its own."""
    return Project(tmp_path)


Break = Callable[[pytest.MonkeyPatch, str], dict[str, Any]]
"""Breaks a module, and returns the rest of the entry that asks for it."""


def lose_module(monkeypatch: pytest.MonkeyPatch, module: str) -> dict[str, Any]:
    """Python marks an import that must fail with None."""
    # Trust reads the settings of hooks-shell before any module is mounted.
    importlib.import_module("amplifier_hooks.coding_agents.shell_hooks.config")
    monkeypatch.setitem(sys.modules, MODULES[module], None)
    return {}


def lose_package(monkeypatch: pytest.MonkeyPatch, module: str) -> dict[str, Any]:
    """A package that is imported while the module is mounted."""

    def mount(coordinator: Any, config: Any) -> None:
        raise ImportError("No module named 're2'")

    monkeypatch.setattr(importlib.import_module(MODULES[module]), "mount", mount)
    return {}


def give_wrong_type(monkeypatch: pytest.MonkeyPatch, module: str) -> dict[str, Any]:
    """An option that every module has; one of them has another."""
    return {"config": {"timeout" if module == "hooks-otel" else "priority": "high"}}


def raise_late(monkeypatch: pytest.MonkeyPatch, module: str) -> dict[str, Any]:
    """After its hooks are registered: none of them may stay behind."""

    async def mount(coordinator: Any, config: Any) -> None:
        coordinator.hooks.register("tool:pre", lambda event, data: None, name="half")
        raise KeyError("port")

    monkeypatch.setattr(importlib.import_module(MODULES[module]), "mount", mount)
    return {}


def exit_early(monkeypatch: pytest.MonkeyPatch, module: str) -> dict[str, Any]:
    """As a script would that was meant to be run by hand."""
    monkeypatch.setattr(importlib.import_module(MODULES[module]), "mount", lambda c, o: sys.exit(0))
    return {}


WAYS: list[Break] = [lose_module, lose_package, give_wrong_type, raise_late, exit_early]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("module", GUARDS)
async def test_a_broken_guard_stops_the_session(
    project: Project, monkeypatch: pytest.MonkeyPatch, module: str, way: Break
) -> None:
    """The error names the module, and the line of the bundle that asks for it."""
    bundle = project.bundle(hooks=[{"module": module, **way(monkeypatch, module)}])
    with pytest.raises(ModuleLoadError, match=rf"amplifier\.yaml:\d+: .*{module}"):
        async with project.session(bundle):
            pass


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("module", sorted(OBSERVERS))
async def test_a_broken_observer_is_told_and_left_out(
    project: Project, monkeypatch: pytest.MonkeyPatch, module: str, way: Break
) -> None:
    """The session works without it, and nothing of it stays behind."""
    bundle = project.bundle(hooks=[{"module": module, **way(monkeypatch, module)}])
    async with project.session(bundle) as session:
        assert session.coordinator.hooks.list_handlers("tool:pre") in ({}, {"tool:pre": []})
        assert len(session.failures) == 1
    [told] = project.shown("modules")
    assert re.match(rf"Left out: .*amplifier\.yaml:\d+: .*{module}", told)


@pytest.mark.parametrize("module", sorted(MODULES))
async def test_an_option_that_a_module_does_not_know_is_never_passed_over_in_silence(
    project: Project, module: str
) -> None:
    """A guard may have needed it to guard; an observer does its work without it."""
    needed = {
        "hooks-test-runner": {"command": "true"},
        "hooks-model-judge": {"scope": "commands that only read"},
    }
    options = {"no_such_option": 1, **needed.get(module, {})}
    bundle = project.bundle(hooks=[{"module": module, "config": options}])
    if module in GUARDS:
        with pytest.raises(ModuleLoadError, match="unknown option 'no_such_option'"):
            async with project.session(bundle):
                pass
        return
    async with project.session(bundle) as session:
        failures = session.failures
    if module == "hooks-model-judge":  # left out it allows nothing; misread it might
        assert len(failures) == 1
        assert "unknown option 'no_such_option'" in failures[0]
        return
    assert failures == []
    assert "unknown option 'no_such_option' is ignored" in project.shown(module)[0]


@pytest.mark.parametrize("module", ["hooks-logging", "hooks-redaction"])
@pytest.mark.parametrize("source", ["./gone.py", UNREADABLE])
async def test_a_file_in_place_of_a_module_of_ours_may_be_a_guard(
    project: Project, module: str, source: str
) -> None:
    """Whatever the id is: what its author wrote is not what we know."""
    bundle = project.bundle(hooks=[{"module": module, "source": source}])
    with pytest.raises(ModuleLoadError, match=rf"amplifier\.yaml:\d+: .*{module}"):
        async with project.session(bundle):
            pass


# At the command line


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person with nothing but a project folder."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(folder)
    return folder


def write(folder: Path, *hooks: Any, **sections: Any) -> Path:
    """The bundle of the folder, trusted; its model says one word."""
    script = [{"text": "done"}]
    provider = {"module": "provider-scripted", "config": {"script": script, "when_done": "repeat"}}
    bundle = {"providers": [provider], "hooks": list(hooks), **sections}
    path = folder / "amplifier.yaml"
    path.write_text(yaml.safe_dump(bundle, sort_keys=False))
    trust_project(folder)
    return path


OWN: list[tuple[Any, str]] = [
    ({"module": "./mine.py"}, "No module named 'nothing_here' (mine.py, line 2)"),
    ({"module": "./gone.py"}, "there is no file or folder"),
    ({"module": "./exits.py"}, "SystemExit: 0"),
    ({"module": "./empty.py"}, "has no mount(coordinator, config) and no function on_<event>"),
    ({"module": "hooks-comand-guard"}, "did you mean 'hooks-command-guard'?"),
    ({"module": "hooks-command-guard", "config": {"alow": []}}, "did you mean 'allow'?"),
    ({"module": "hooks-command-guard", "config": {"allow": 7}}, "option 'allow' cannot be 7"),
    ({"module": "hooks-rules", "config": {"file": "rules.yaml"}}, "rules.yaml"),
    ({"module": "hooks-shell", "config": {"settings": ["broken.json"]}}, "broken.json:1: not "),
    ({"module": "hooks-shell", "config": {"settings": ["shape.json"]}}, "PreToolUse must be a"),
    ({"module": "hooks-shell", "config": {"settings": ["gone.json"]}}, "cannot read settings"),
]


@pytest.mark.parametrize(("entry", "why"), OWN)
def test_the_command_line_ends_with_the_line_and_exit_code_3(
    home: Path, entry: dict[str, Any], why: str
) -> None:
    """Nothing runs, and the person reads what is wrong, where, and what would do."""
    (home / "mine.py").write_text("\nimport nothing_here\n")
    (home / "exits.py").write_text("import sys\nsys.exit(0)\n")
    (home / "empty.py").write_text("x = 1\n")
    (home / "rules.yaml").write_text("rules: 7\n")
    (home / "broken.json").write_text('{"hooks": ')
    (home / "shape.json").write_text(json.dumps({"hooks": {"PreToolUse": {}}}))
    path = write(home, entry)
    # A wrong option is told with its own line, everything else with that of the entry.
    wrong = next((name for name in ("alow", "allow") if name in entry.get("config", {})), None)
    begins = f"- module: {entry['module']}" if wrong is None else f"    {wrong}:"
    lines = path.read_text().splitlines()
    at = next(number for number, line in enumerate(lines, 1) if line.startswith(begins))
    outcome = invoke("run", "hi")
    assert (outcome.code, outcome.stdout) == (3, "")
    assert f"Error: {path}:{at}: " in outcome.stderr
    assert why in outcome.stderr
    assert "`required: false` in its entry would leave it out" in outcome.stderr


def test_what_may_be_missing_is_told_and_the_run_goes_on(home: Path) -> None:
    """An observer, and a hook whose entry says so: each once, with its line."""
    observer = {"module": "hooks-datetime", "config": {"timezone": "Nowhere"}}
    path = write(home, observer, {"module": "./gone.py", "required": False})
    outcome = run_amplifier("run", "hi")
    assert (outcome.code, outcome.stdout) == (0, "done\n")
    assert outcome.stderr.count(f"Left out: {path}:") == 2


def test_a_guard_of_a_sub_agent_that_does_not_load_keeps_the_sub_agent_from_working(
    home: Path,
) -> None:
    """The session goes on without the sub-agent; the agent reads why."""
    call = {"name": "Delegate", "input": {"agent_name": "a", "task": "x"}}
    script = [{"tool_calls": [call]}, {"expect": "hooks-redacton", "text": "it cannot"}]
    provider = {"module": "provider-scripted", "config": {"script": script}}
    agents = {"a": {"description": "d", "hooks": ["hooks-redacton"]}}
    write(home, providers=[provider], agents=agents)
    outcome = run_amplifier("run", "hi")
    assert (outcome.code, outcome.stdout) == (0, "it cannot\n")


@pytest.mark.parametrize("package", ["re2", "tree_sitter", "tree_sitter_bash"])
def test_the_default_bundle_and_the_demonstration_stop_without_what_their_guards_need(
    home: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """Nothing runs unguarded, and no secret is shown that a guard would have hidden."""
    monkeypatch.setitem(sys.modules, package, None)
    write(home)
    for command in (["run", "hi"], ["demo"]):
        outcome = invoke(*command)
        assert outcome.code == 3
        assert f"needs the package {package!r}" in outcome.stderr
        assert "pip install" in outcome.stderr
        assert SECRET not in outcome.output
