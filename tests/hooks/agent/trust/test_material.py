"""Everything of a folder that a bundle would run, read once and loaded as it was read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import ModuleEntry, read_entry
from amplifier_hooks import load_bundle, open_session
from amplifier_hooks.agent.session.reload import use_material
from amplifier_hooks.agent.trust.material import (
    Material,
    collect_material,
    find_in_search_paths,
    find_installed,
    find_source,
    iterate_entries,
    list_commands,
    read_files,
)
from amplifier_hooks.machine import files
from amplifier_hooks.machine.files import Snapshot
from tests.support.modules import imports_undone, write_distribution, write_package
from tests.support.project import Project, script
from tests.support.sessions import calls


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


UNREADABLE = "/proc/self/mem"
"""A file that is there, and that nobody can read from its beginning, not even root."""

SAYS = """
from amplifier_core.models import HookResult

async def on_prompt_submit(event, data):
    return HookResult(user_message="{word}")
"""
MOUNTS = """
async def mount(coordinator, config):
    from .part import WORD
    from amplifier_core.models import HookResult
    async def say(event, data):
        return HookResult(user_message=WORD)
    return coordinator.hooks.register("prompt:submit", say)
"""


def look(project: Project, **sections: Any) -> Material:
    return collect_material(project.bundle(**sections), project.folder)


async def run(project: Project, material: Material, swap: Callable[[], Any]) -> list[str]:
    """What hooks say in a session that was opened after the files had changed."""
    with material.hold(), imports_undone():
        swap()
        async with project.session(material.bundle, material=material) as session:
            await session.execute("go")
            return project.shown_by_hooks() or session.failures


def test_only_what_is_not_the_persons_own_needs_trust(project: Project) -> None:
    """Not the packaged bundle, not the settings at home; but what those name elsewhere."""
    home = project.home / ".config" / "amplifier"
    home.mkdir(parents=True)
    (home / "mine.py").write_text(SAYS)
    outside = project.folder.parent / "shared.py"
    outside.write_text(SAYS)
    hooks = [{"module": "./mine.py"}, {"module": str(outside)}]
    (home / "amplifier.yaml").write_text(json.dumps({"hooks": hooks}))
    material = look(project, inherit=True)
    assert sorted(material.files) == [str(outside), "amplifier.yaml"]
    (home / "mine.py").write_text(SAYS + "\n")
    again = look(project)
    assert (again.digest, again.rest == material.rest) == (material.digest, False)


def test_at_home_the_persons_settings_are_files_of_the_folder(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that works there can change them."""
    home = project.home / ".config" / "amplifier"
    home.mkdir(parents=True)
    (home / "amplifier.yaml").write_text("name: mine\n")
    bundle = load_bundle(project_dir=project.home)
    material = collect_material(bundle, project.home)
    assert list(material.files) == [".config/amplifier/amplifier.yaml"]


def test_includes_and_bundles_from_elsewhere_are_part_of_it(project: Project) -> None:
    """By their full names."""
    base = project.folder.parent / "base.yaml"
    base.write_text("name: base\n")
    material = look(project, include=str(base))
    assert list(material.files) == [str(base), "amplifier.yaml"]
    there = collect_material(load_bundle(base, project_dir=project.folder), project.folder)
    assert (list(there.files), there.name) == ([str(base)], str(base))


def test_a_folder_that_is_too_large_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its name and the limits."""
    monkeypatch.setattr(files, "MAX_FILES", 5)
    for number in range(9):
        project.write(f"pack/{number}.py", "")
    with pytest.raises(ModuleLoadError, match=r"yaml:2: .*'pack' .*pack has more than 5 files"):
        look(project, hooks=["./pack"])


@pytest.mark.parametrize(
    "hook",
    [
        {"module": "hooks-rules", "config": {"file": UNREADABLE}},
        {"module": "hooks-shell", "config": {"settings": [UNREADABLE]}},
        {"module": "mine", "source": UNREADABLE},
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_line_that_asks_for_it(
    project: Project, hook: dict[str, Any]
) -> None:
    """Its rules, settings or hooks may be guards."""
    with pytest.raises(
        ModuleLoadError, match=r"amplifier\.yaml:\d+: Module .* read: /proc/self/mem: I"
    ):
        look(project, hooks=[hook])


async def test_a_file_swapped_after_it_was_read_is_not_loaded(project: Project) -> None:
    """Changed, or a link to another."""
    path = project.write("h.py", SAYS.format(word="seen"))
    evil = project.write("evil.py", SAYS.format(word="evil"))
    material = look(project, hooks=["./h.py"])
    assert await run(project, material, lambda: path.write_text(evil.read_text())) == ["seen"]
    project.screen.messages.clear()

    def lead_elsewhere() -> None:
        path.unlink()
        path.symlink_to(evil)

    assert await run(project, material, lead_elsewhere) == ["seen"]


async def test_a_link_that_leads_elsewhere_later_is_another_content(project: Project) -> None:
    """The bytes behind it are what was trusted."""
    one = project.write("one.py", SAYS.format(word="one"))
    project.write("two.py", SAYS.format(word="two"))
    link = project.folder / "h.py"
    link.symlink_to(one)
    material = look(project, hooks=["./h.py"])
    link.unlink()
    link.symlink_to(project.folder / "two.py")
    assert look(project).digest != material.digest
    assert await run(project, material, lambda: None) == ["one"]


async def test_an_installed_package_of_the_folder_is_loaded_as_it_was_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what it imports later; an editable install leaves only its name in the environment."""
    site = project.folder.parent / "site"
    write_package(project.folder, "hooks-own", MOUNTS, part="WORD = 'seen'\n")
    write_distribution(site, "own", {"hooks-own": "amplifier_module_hooks_own:mount"})
    for place in (site, project.folder):
        monkeypatch.syspath_prepend(str(place))
    material = look(project, hooks=["hooks-own"])
    assert [Path(name).name for name in material.files] == [
        "amplifier.yaml",
        "__init__.py",
        "part.py",
    ]
    part = project.folder / "amplifier_module_hooks_own" / "part.py"
    assert await run(project, material, lambda: part.write_text("WORD = 'evil'\n")) == ["seen"]


@pytest.mark.parametrize("how", ["package", "distribution", "search path"])
async def test_nothing_planted_takes_the_place_of_a_module(
    project: Project, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A package of the right name, an entry point, or a folder where modules are looked for."""
    monkeypatch.syspath_prepend(str(project.folder))
    monkeypatch.setenv("AMPLIFIER_MODULES", str(project.folder / "modules"))
    material = look(project, hooks=["hooks-redaction"])

    def plant() -> None:
        evil = SAYS.format(word="evil")
        place = project.folder
        if how == "search path":
            place = project.folder / "modules" / "amplifier-module-hooks-redaction"
        write_package(place, "hooks-redaction", evil)
        if how == "distribution":
            write_package(place, "hooks-evil", evil)
            entries = {"hooks-redaction": "amplifier_module_hooks_evil"}
            write_distribution(place, "evil", entries)

    with material.hold(), imports_undone():
        plant()
        if how == "search path":
            # It stands before our own, so it is refused, not passed over.
            with pytest.raises(ModuleLoadError, match="not among the files that were allowed"):
                await open_session(material.bundle, material=material, working_dir=project.folder)
            return
        async with project.session(material.bundle, material=material) as session:
            await session.execute("go")
            [mounted] = [one for one in session.mounting.mounted if one.kind == "hooks"]
    assert project.shown_by_hooks() == []
    assert mounted.error is None
    assert mounted.origin.startswith("amplifier_hooks.guards.redaction")


@pytest.mark.parametrize("how", ["package", "search path"])
async def test_what_takes_the_place_of_a_module_is_shown_first(
    project: Project, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Where it was there when the person looked, it is among the files, and loaded as it was."""
    monkeypatch.syspath_prepend(str(project.folder))
    monkeypatch.setenv("AMPLIFIER_MODULES", str(project.folder / "modules"))
    place = project.folder
    if how == "search path":
        place = project.folder / "modules" / "amplifier-module-hooks-redaction"
    package = write_package(place, "hooks-redaction", MOUNTS, part="WORD = 'seen'\n")
    material = look(project, hooks=["hooks-redaction"])
    assert str((package / "part.py").relative_to(project.folder)) in material.files
    swap = lambda: (package / "part.py").write_text("WORD = 'evil'\n")  # noqa: E731
    assert await run(project, material, swap) == ["seen"]


async def test_a_trusted_hook_cannot_import_what_was_not_trusted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even from a folder that is on the path of imports."""
    monkeypatch.syspath_prepend(str(project.folder))
    project.write("helper_of_mine.py", "print('never')\n")
    project.write("h.py", "import helper_of_mine\n" + SAYS.format(word="seen"))
    material = look(project, hooks=["./h.py"])
    with pytest.raises(ModuleLoadError, match="'helper_of_mine' is in"):
        await run(project, material, lambda: None)


async def test_the_files_of_agents_are_loaded_as_they_were_read(project: Project) -> None:
    """Also when the agent is called much later."""
    rule = "- {name: r, action: %s, event: 'prompt:submit', reason: never}\n"
    rules = project.write("rules.yaml", rule % "deny")
    path = project.write("h.py", SAYS.format(word="seen"))
    hooks = ["./h.py", {"module": "hooks-rules", "config": {"file": "rules.yaml"}}]
    steps = script(calls("Delegate", agent_name="a", task="x"), "ok", when_done="repeat")
    sections = {"agents": {"a": {"description": "d", "hooks": hooks}}, "tools": ["tool-delegate"]}
    material = look(project, providers=steps, **sections)
    assert {"h.py", "rules.yaml"} <= set(material.files)

    def swap() -> None:
        path.write_text(SAYS.format(word="evil"))
        rules.write_text("[]\n")

    with material.hold():
        swap()
        async with project.session(material.bundle, material=material) as session:
            await session.execute("go")
            results = [m for m in session.context.get_messages() if m["role"] == "tool"]
    assert "seen" in project.shown_by_hooks()
    assert "denied" in str(results[0]["content"])


async def test_a_loader_without_the_file_says_so(project: Project) -> None:
    """What was not there when the person looked is not loaded."""
    material = look(project)
    with material.hold():
        project.write("late.py", SAYS)
        async with project.session(material.bundle, material=material) as session:
            use_material(session, material)
            with pytest.raises(ModuleLoadError, match="not among the files that were allowed"):
                session.mounting.loader.find("./late.py")
