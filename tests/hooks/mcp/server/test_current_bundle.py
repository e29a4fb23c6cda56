"""The bundle that applies here, and which of its hooks can be asked."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

import pytest

from amplifier_core.loader import GROUP
from amplifier_core.mount_plan import ModuleEntry
from amplifier_hooks.mcp.server import current_bundle as bundle_module
from amplifier_hooks.mcp.server.current_bundle import (
    ACT_WHEN_MOUNTED,
    EFFECTS,
    BundledModules,
    CurrentBundle,
)
from amplifier_hooks.mcp.server.tool import Refused
from amplifier_hooks.modules.observers import OBSERVERS
from tests.hooks.mcp.server.world import World
from tests.support.trust import trust_project


@pytest.fixture(autouse=True)
def _reads_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_module, "FRESH_SECONDS", 0.0)


async def test_a_bundle_that_nobody_has_trusted_is_refused(world: World) -> None:
    """With the command that a person can use; and again when it has changed."""
    bundle = CurrentBundle(world.project)
    world.save_bundle(trusted=False)
    with pytest.raises(Refused, match="amplifier trust"):
        await bundle.load()
    trust_project(world.project)
    assert (await bundle.load()).bundle.name == "shop"
    world.save_bundle(trusted=False, description="another")
    with pytest.raises(Refused, match="as it is now"):
        await bundle.load()


async def test_a_bundle_that_cannot_be_read_is_refused_with_its_place(world: World) -> None:
    """Its file and line."""
    (world.project / "amplifier.yaml").write_text("hooks: [")
    with pytest.raises(Refused, match=r"no session starts: .*amplifier\.yaml"):
        await CurrentBundle(world.project).load()


async def test_hooks_stay_mounted_until_the_bundle_changes(world: World) -> None:
    """The same registrations for the same content, and none of them left at the end."""
    world.save_bundle()
    bundle = CurrentBundle(world.project)
    _, first = await bundle.mount_asked()
    _, second = await bundle.mount_asked()
    assert first is second
    world.save_bundle(hooks=[{"module": "hooks-command-guard", "enabled": False}])
    _, third = await bundle.mount_asked()
    assert "hooks-command-guard" not in [row.hook for row in third.list_rows("tool:pre")]
    assert first.list_rows("tool:pre") == []
    await bundle.close()
    assert third.list_rows("tool:pre") == []


async def test_what_was_read_is_used_again_for_a_moment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent may ask many times in a row."""
    monkeypatch.setattr(bundle_module, "FRESH_SECONDS", 1000.0)
    bundle = CurrentBundle(world.project)
    assert await bundle.load() is await bundle.load()


@pytest.mark.parametrize(
    ("module", "source", "kind", "listed"),
    [
        ("hooks-rules", None, "asked", True),
        ("hooks-rate-limit", None, "depends", True),
        ("hooks-backup", None, "observes", True),
        ("hooks-otel", None, "observes", False),
        ("hooks-shell", None, "runs code", False),
        ("hooks-rules", "rules.py", "runs code", False),
        ("hooks-of-somebody", None, "runs code", False),
        ("trusted-by-name", None, "asked", True),
        ("mine", "mine.py", "asked", True),
    ],
)
def test_only_what_is_known_to_have_no_effect_is_asked(
    module: str, source: str | None, kind: str, listed: bool, tmp_path: Path
) -> None:
    """Or what a person vouches for, by its name or its file."""
    bundle = CurrentBundle(tmp_path, evaluated=["trusted-by-name", "./mine.py"])
    place = None if source is None else str(tmp_path / source)
    entry = ModuleEntry(module=module, source=place)
    assert bundle.find_effect(entry).kind == kind
    assert bundle.is_listed(entry) is listed
    assert bundle.name_module(entry) == (module if source is None else f"{module} ({source})")


def test_a_module_of_ours_is_ours() -> None:
    """One that nobody has installed is not, nor one of another kind of id."""
    own = BundledModules()
    assert own.contains(ModuleEntry(module="hooks-rules"))
    assert not own.contains(ModuleEntry(module="hooks-not-there"))
    assert not own.contains(ModuleEntry(module="./hooks-rules"))


def test_one_with_a_source_is_what_its_author_made() -> None:
    """Whatever id it has."""
    assert not BundledModules().contains(ModuleEntry(module="hooks-rules", source="./mine.py"))


def test_another_of_the_same_id_comes_before_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the search paths, or as a package."""
    (tmp_path / "amplifier-module-hooks-rules").mkdir()
    monkeypatch.setenv("AMPLIFIER_MODULES", str(tmp_path))
    assert not BundledModules().contains(ModuleEntry(module="hooks-rules"))
    monkeypatch.delenv("AMPLIFIER_MODULES")
    name = "amplifier_module_hooks_command_guard"
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert not BundledModules().contains(ModuleEntry(module="hooks-command-guard"))


def test_what_is_known_is_known_of_modules_that_there_are() -> None:
    """A module of ours that is not in the table is treated like anybody's."""
    ours = {one.name for one in entry_points(group=GROUP) if one.name.startswith("hooks-")}
    assert set(EFFECTS) <= ours
    assert set(EFFECTS) >= ACT_WHEN_MOUNTED


def test_what_only_observes_is_an_observer_for_sessions_too() -> None:
    """A guard is never passed over."""
    quiet = {name for name, known in EFFECTS.items() if known.kind == "observes"}
    assert quiet < OBSERVERS


def test_why_a_hook_was_not_asked_is_said_in_words() -> None:
    """What it does, and that it did not do it."""
    assert EFFECTS["hooks-rate-limit"].why.endswith("; it was not called, so nothing was counted")
    assert EFFECTS["hooks-rules"].why == "applies the rules of the bundle"
