"""Everything of a folder that a bundle would run, read once and loaded as it was read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks import load_bundle, open_session
from amplifier_hooks.agent.session.reload import use_material
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.machine import snapshot
from tests.support.modules import imports_undone, write_distribution, write_package
from tests.support.project import Project, script
from tests.support.sessions import calls

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
    monkeypatch.setattr(snapshot, "MAX_FILES", 5)
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
