"""Modules are found by resolver, path, entry point or package name, and say what is wrong."""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from amplifier_core import loader as installed
from amplifier_core import module_sources
from amplifier_core.errors import ModuleLoadError, ModuleNotFound
from amplifier_core.loader import (
    GROUP,
    TYPE_TO_MOUNT_POINT,
    ModuleLoader,
    ModuleValidationError,
    choose_modules,
    describe_modules,
    guess_kind,
    read_facts,
)
from amplifier_core.testing import RecordingDisplay, TestCoordinator
from tests.core.module_files import MODULE, write
from tests.support.modules import make_old, write_distribution, write_package

RETURNS = "async def mount(coordinator, config):\n    return {!r}, config\n"
GIT = "git+https://host.invalid/repo"


@pytest.fixture
def loader(tmp_path: Path) -> ModuleLoader:
    return ModuleLoader(base=tmp_path)


# Paths


@pytest.mark.parametrize("module_id", ["mine", "./mine.py", "mine.py"])
def test_a_file_is_found_from_the_base_folder(
    loader: ModuleLoader, tmp_path: Path, module_id: str
) -> None:
    """By its source, or by an id that is a path itself."""
    source = write(tmp_path, "mine.py", MODULE)
    found = loader.find(module_id, source if module_id == "mine" else None)
    assert (found.id, found.origin) == (module_id, str(tmp_path / "mine.py"))
    assert callable(found.on_session_ready)


def test_a_source_may_be_written_as_the_address_of_a_file(
    loader: ModuleLoader, tmp_path: Path
) -> None:
    """`file://` and the path."""
    write(tmp_path, "mine.py", MODULE)
    assert loader.find("mine", f"file://{tmp_path}/mine.py").origin == str(tmp_path / "mine.py")


def test_a_folder_is_a_module(loader: ModuleLoader, tmp_path: Path) -> None:
    """A package by its path, of whatever name; nothing is added to the path of imports."""
    write(tmp_path, "pack/__init__.py", MODULE)
    before = list(sys.path)
    assert callable(loader.find("pack", "pack/").mount)
    assert sys.path == before


@pytest.mark.parametrize("source", ["checkout", "checkout/amplifier_module_tool_mine"])
def test_a_folder_may_hold_the_package_of_a_module(
    loader: ModuleLoader, tmp_path: Path, source: str
) -> None:
    """A checkout of a module's repository, or the package in it: it is imported by its name."""
    text = "from amplifier_module_tool_mine.part import mount\n"
    package = write_package(tmp_path / "checkout", "tool-mine", text, part=MODULE)
    found = loader.find("tool-mine", f"./{source}")
    assert found.origin == str(package)
    assert sys.modules["amplifier_module_tool_mine"].mount is found.mount
    assert sys.path[0] == str(tmp_path / "checkout")
    loader.cleanup()
    assert str(tmp_path / "checkout") not in sys.path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("syntax error here", "cannot be imported: SyntaxError"),
        ("x = 1", r"has no mount\(coordinator, config\) and no function on_<event>"),
        ("mount = 'text'", "has no mount"),
    ],
)
def test_a_broken_file_is_reported_with_its_reason(
    loader: ModuleLoader, tmp_path: Path, text: str, why: str
) -> None:
    """Which module, and what happened when it was read."""
    source = write(tmp_path, "bad.py", text)
    with pytest.raises(ModuleLoadError, match=why):
        loader.find("bad", source)


@pytest.mark.parametrize("source", ["gone.py", "some/folder"])
def test_a_source_that_is_missing_is_named(loader: ModuleLoader, source: str) -> None:
    """The message has the module and the path."""
    why = f"Module 'gone': there is no file or folder {source!r}"
    with pytest.raises(ModuleNotFound) as caught:
        loader.find("gone", source)
    assert str(caught.value) == why
    assert (caught.value.module_id, caught.value.known) == ("gone", ())
    assert caught.value.reason_code == "missing_source"


@pytest.mark.parametrize("path", ["./gone.py", "../gone", "/gone/away.py", "~/gone"])
def test_a_path_that_leads_nowhere_is_not_taken_for_an_id(path: str) -> None:
    """No file behind a path: the message does not list ids that nobody meant."""
    with pytest.raises(ModuleNotFound, match=r"^There is no file or folder '") as caught:
        ModuleLoader().find(path)
    assert caught.value.known == ()


# What is installed


@pytest.mark.parametrize("module_id", ["hooks-x", "a.b.c", "os; import sys", ""])
def test_an_unknown_id_lists_the_known_ones(module_id: str) -> None:
    """In its text for people, and as a field for programs."""
    with pytest.raises(ModuleNotFound, match=r"^Unknown module .*; have .*loop-basic, ") as caught:
        ModuleLoader().find(module_id)
    assert caught.value.module_id == module_id
    assert "loop-basic" in caught.value.known


@pytest.mark.parametrize("source", [None, GIT])
def test_packages_of_the_ecosystem_are_found_by_their_name(site: Path, source: str | None) -> None:
    """The id with underscores behind `amplifier_module_`; where it was fetched from is no path."""
    write(site, "amplifier_module_my_hooks.py", MODULE)
    assert ModuleLoader().find("my-hooks", source).origin == "amplifier_module_my_hooks"


def test_a_package_that_is_imported_already_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when there is no file behind it."""
    module = type(sys)("amplifier_module_made")
    module.__dict__["mount"] = print
    monkeypatch.setitem(sys.modules, "amplifier_module_made", module)
    assert ModuleLoader().find("made").mount is print


def test_a_package_that_does_not_import_is_reported(site: Path) -> None:
    """It is installed and broken, which is not the same as unknown."""
    write(site, "amplifier_module_bad_one.py", "raise RuntimeError('no')\n")
    why = "Module 'bad-one' cannot be imported: RuntimeError: no"
    with pytest.raises(ModuleLoadError, match=why) as caught:
        ModuleLoader().find("bad-one")
    assert caught.value.module_id == "bad-one"


def test_an_entry_point_that_does_not_import_is_reported(site: Path) -> None:
    """A dangling entry point names itself."""
    write_distribution(site, "theirs", {"ghost": "no_such_package:mount"})
    with pytest.raises(ModuleLoadError, match="Module 'ghost' cannot be imported") as caught:
        ModuleLoader().find("ghost")
    assert (caught.value.module_id, caught.value.reason_code) == ("ghost", "invalid_entry_point")


def test_an_entry_point_may_name_a_python_module(site: Path) -> None:
    """Its `mount` is what mounts."""
    write(site, "theirs_whole.py", MODULE)
    write_distribution(site, "theirs", {"whole": "theirs_whole"})
    assert ModuleLoader().find("whole").mount.__name__ == "mount"


def test_every_module_of_the_package_can_be_found() -> None:
    """The entry points of this distribution point at something that mounts."""
    loader = ModuleLoader()
    for module_id in loader.known():
        if module_id.startswith(("loop-", "context-", "tool-", "hooks-", "provider-")):
            assert callable(loader.find(module_id).mount), module_id


# Ids that several modules have


def test_an_installed_module_wins_over_a_built_in(site: Path) -> None:
    """An entry point of another distribution, wherever it stands in the path of imports."""
    write(site, "theirs_loop.py", RETURNS.format("theirs"))
    write_distribution(site, "theirs", {"loop-basic": "theirs_loop:mount"})
    sys.path.append(sys.path.pop(sys.path.index(str(site))))
    assert ModuleLoader().find("loop-basic").origin == "theirs_loop:mount"
    assert ModuleLoader().find("context-simple").origin.startswith("amplifier_hooks.")


def test_of_two_installed_modules_the_first_one_is_found(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with imports: the path of imports decides."""
    for folder in (site, tmp_path / "later"):
        write_distribution(folder, folder.name, {"tool-x": f"{folder.name}_package:mount"})
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "later")])
    assert ModuleLoader().known()["tool-x"].value == "site_package:mount"


def test_an_importable_package_wins_over_a_built_in(site: Path) -> None:
    """Without an entry point."""
    write_package(site, "context-simple", MODULE)
    assert ModuleLoader().find("context-simple").origin == "amplifier_module_context_simple"


def test_a_module_in_the_search_paths_wins_over_a_built_in(tmp_path: Path) -> None:
    """In a folder of its id."""
    package = write_package(tmp_path / "amplifier-module-tool-todo", "tool-todo", MODULE)
    loader = ModuleLoader(None, [tmp_path])
    assert loader.find("tool-todo").origin == str(package)
    assert loader.find("tool-bash").origin.startswith("amplifier_hooks.")


def test_the_search_paths_may_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders between colons; search paths that are given count instead."""
    package = write_package(tmp_path / "amplifier-module-mine", "mine", MODULE)
    monkeypatch.setenv("AMPLIFIER_MODULES", f"/nowhere/at/all::{tmp_path}")
    loader = ModuleLoader()
    assert loader.find("mine").origin == str(package)
    loader.cleanup()
    with pytest.raises(ModuleNotFound):
        ModuleLoader(search_paths=[tmp_path / "other"]).find("mine")


@pytest.mark.parametrize("form", ["package", "file"])
def test_a_module_of_another_session_is_not_found_once_that_has_ended(
    loader: ModuleLoader, tmp_path: Path, form: str
) -> None:
    """What was imported from its folder does not stand in for a built-in."""
    if form == "package":
        write_package(tmp_path / "theirs", "loop-basic", MODULE)
    else:
        write(tmp_path, "theirs/amplifier_module_loop_basic.py", MODULE)
    assert loader.find("loop-basic", "./theirs").origin.startswith(str(tmp_path))
    assert ModuleLoader().find("loop-basic").origin == "amplifier_module_loop_basic"
    loader.cleanup()
    assert ModuleLoader().find("loop-basic").origin.startswith("amplifier_hooks.")


BUILT_IN = (
    f"Module 'loop-basic': the built-in one is used, because the one of {GIT!r} is not "
    "installed, and no module source resolver brings it"
)


def test_a_built_in_serves_where_nobody_fetches_the_source() -> None:
    """The plan of an existing bundle starts, and it is said which module it runs with."""
    found = ModuleLoader().find("loop-basic", GIT)
    assert found.origin.startswith("amplifier_hooks.")
    assert found.remark == BUILT_IN
    assert ModuleLoader().find("loop-basic").remark == ""


@pytest.mark.parametrize("who", ["session", "sub-agent", "nobody"])
async def test_the_person_is_told_of_a_built_in_in_anothers_place(
    who: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Once: what a sub-agent mounts, and what no session mounts, is in the log."""
    screen = RecordingDisplay()
    coordinator = TestCoordinator(display_system=screen)
    coordinator.parent_id = "parent" if who == "sub-agent" else None
    await ModuleLoader().load("loop-basic", {}, GIT, None if who == "nobody" else coordinator)
    shown = [(BUILT_IN, "warning", "modules")] if who == "session" else []
    assert screen.messages == shown
    assert caplog.messages == ([] if shown else [BUILT_IN])


def test_a_source_that_nobody_fetches_is_reported() -> None:
    """What is missing, and what would do."""
    with pytest.raises(ModuleNotFound) as caught:
        ModuleLoader().find("tool-nowhere", GIT)
    assert str(caught.value) == (
        "Module 'tool-nowhere' is not installed, and no module source resolver brings it from "
        f"{GIT!r}: install it, or give the path of a copy as its source"
    )
    assert caught.value.known == ()


# Loading


async def test_loading_binds_the_options(loader: ModuleLoader, tmp_path: Path) -> None:
    """By id or by path, with what the module wants to be called for."""
    write(tmp_path, "mine.py", MODULE)
    mount: Any = await loader.load("mine", {"name": "a"}, tmp_path / "mine.py")
    coordinator = TestCoordinator()
    (await mount(coordinator))()
    assert coordinator.session_state["undone"] == ["a"]
    assert mount.__on_session_ready__[0] == "mine"


async def test_loading_what_is_not_there_is_a_value_error(loader: ModuleLoader) -> None:
    """As applications of the ecosystem expect."""
    with pytest.raises(ValueError, match="Unknown module 'nonsense'"):
        await loader.load("nonsense")


async def test_an_entry_point_is_loaded_once(
    loader: ModuleLoader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each load gives a new mount all the same; entry points without a distribution count too."""
    loads: list[str] = []

    class Counting(EntryPoint):
        def load(self) -> Any:
            loads.append(self.name)
            return print

    entry = Counting("counted", "builtins:print", GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    first, second = await loader.load("counted"), await loader.load("counted")
    assert first is not second
    assert loads == ["counted"]


class Resolver:
    """Answers with one folder, or fails."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    def resolve(
        self, module_id: str, source_hint: Any = None, profile_hint: Any = None
    ) -> module_sources.ModuleSource:
        self.asked.append((module_id, source_hint, profile_hint))
        if isinstance(self.answer, Exception):
            raise self.answer
        return module_sources.FileSystemModuleSource([self.answer])


async def resolving(answer: Any) -> tuple[TestCoordinator, Resolver]:
    coordinator, resolver = TestCoordinator(), Resolver(answer)
    await coordinator.mount("module-source-resolver", resolver)
    return coordinator, resolver


@pytest.mark.parametrize("given", ["constructor", "call"])
async def test_a_mounted_resolver_is_asked_first(tmp_path: Path, given: str) -> None:
    """Before a built-in of the same id; its folder is in front of the path of imports then."""
    write_package(tmp_path, "loop-basic", RETURNS.format("resolved"))
    coordinator, resolver = await resolving(tmp_path)
    loader = ModuleLoader(coordinator if given == "constructor" else None)
    in_call = coordinator if given == "call" else None
    mount = await loader.load("loop-basic", {"a": 1}, GIT, in_call)
    assert await mount(None) == ("resolved", {"a": 1})
    assert resolver.asked == [("loop-basic", GIT, GIT)]
    assert sys.path[0] == str(tmp_path)
    assert loader._added_paths == [str(tmp_path)]
    loader.cleanup()
    assert str(tmp_path) not in sys.path
    assert loader._added_paths == []


async def test_a_resolver_that_does_not_know_is_passed_over() -> None:
    """The module is looked for as if there were no resolver."""
    coordinator, resolver = await resolving(module_sources.ModuleNotFoundError("unknown"))
    mount: Any = await ModuleLoader(coordinator).load("loop-basic")
    assert mount.__module_origin__.startswith("amplifier_hooks.")
    assert resolver.asked


async def test_a_resolver_that_fails_is_reported() -> None:
    """Nothing else is tried: it knows the module, and cannot bring it."""
    coordinator, _ = await resolving(module_sources.ModuleLoadError("no network"))
    why = "Module 'loop-basic': its source cannot be had: ModuleLoadError: no network"
    with pytest.raises(ModuleLoadError, match=why) as caught:
        await ModuleLoader(coordinator).load("loop-basic")
    assert (caught.value.module_id, caught.value.reason_code) == ("loop-basic", "missing_source")


async def test_a_resolver_may_answer_with_the_wrong_folder(tmp_path: Path) -> None:
    """One that is not there, or that has no module in it."""
    coordinator = TestCoordinator()

    class Wrong:
        def resolve(self, module_id: str) -> Path:
            return tmp_path / module_id

    await coordinator.mount("module-source-resolver", Wrong())
    with pytest.raises(ModuleNotFound, match=r"the resolver names .*/gone, which is not a folder"):
        await ModuleLoader(coordinator).load("gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModuleValidationError, match="is not a Python module") as caught:
        await ModuleLoader(coordinator).load("empty")
    assert caught.value.reason_code == "invalid_package_layout"


@pytest.mark.parametrize("named", ["tool-x", "tool-y"])
async def test_a_resolved_folder_may_name_its_module_by_an_entry_point(
    tmp_path: Path, named: str
) -> None:
    """As after an installation into it; the package may then have any name."""
    write(tmp_path, "their_package.py", RETURNS.format("theirs"))
    write_distribution(tmp_path, "theirs", {named: "their_package:mount"})
    coordinator, _ = await resolving(tmp_path)
    loader = ModuleLoader(coordinator)
    if named == "tool-x":
        assert await (await loader.load("tool-x"))(None) == ("theirs", {})
    else:
        with pytest.raises(ModuleValidationError):
            await loader.load("tool-x")


async def test_two_loaders_of_one_folder_each_take_back_their_own_entry(tmp_path: Path) -> None:
    """The end of one session does not take the folder from another."""
    write_package(tmp_path, "shared", MODULE)
    coordinator, _ = await resolving(tmp_path)
    first, second = ModuleLoader(coordinator), ModuleLoader(coordinator)
    for loader in (first, second, first):
        await loader.load("shared")
    first.cleanup()
    first.cleanup()
    assert str(tmp_path) in sys.path
    second.cleanup()
    assert str(tmp_path) not in sys.path


async def test_what_somebody_else_took_out_of_the_path_is_no_mistake(tmp_path: Path) -> None:
    """Clean-up takes back what is still there."""
    write_package(tmp_path, "taken", MODULE)
    coordinator, _ = await resolving(tmp_path)
    loader = ModuleLoader(coordinator)
    await loader.load("taken")
    sys.path.remove(str(tmp_path))
    loader.cleanup()
    assert loader._added_paths == []


async def test_a_copy_knows_the_same_and_cleans_up_by_itself(tmp_path: Path) -> None:
    """A sub-agent's loader: its end does not take the parent's folders away."""
    write_package(tmp_path / "amplifier-module-mine", "mine", MODULE)
    parent = ModuleLoader(search_paths=[tmp_path], base=tmp_path)
    parent.find("mine")
    child = parent.copy()
    assert child.base == tmp_path
    assert child.known() is parent.known()
    child.find("mine")
    child.cleanup()
    assert sys.path.count(str(tmp_path / "amplifier-module-mine")) == 1
    parent.cleanup()


# The rest of the ecosystem's face


async def test_initializing_mounts_and_leaves_the_undoing_to_the_coordinator(
    loader: ModuleLoader, tmp_path: Path
) -> None:
    """And puts what is to be called into the queue."""
    write(tmp_path, "mine.py", MODULE)
    coordinator = TestCoordinator()
    mount = await loader.load("mine", {"name": "a"}, "./mine.py")
    await loader.initialize(mount, coordinator)
    ((module_id, function),) = loader.get_on_session_ready_queue()
    await function(coordinator)
    assert (module_id, coordinator.session_state["ready"]) == ("mine", True)
    await coordinator.cleanup()
    assert coordinator.session_state["undone"] == ["a"]


async def test_a_module_without_a_clean_up_is_initialized_too(loader: ModuleLoader) -> None:
    """Nothing to undo, nothing to call."""

    async def mount(coordinator: Any) -> None:
        coordinator.session_state["mounted"] = True

    coordinator = TestCoordinator()
    await loader.initialize(mount, coordinator)
    assert coordinator.session_state["mounted"]
    assert loader.get_on_session_ready_queue() == []


def test_the_queue_is_copied_and_can_be_cleared(loader: ModuleLoader) -> None:
    """Whoever looks at it does not change it."""
    loader.enqueue_on_session_ready("a", print)
    loader.get_on_session_ready_queue().clear()
    assert loader.get_on_session_ready_queue() == [("a", print)]
    loader.clear_on_session_ready_queue()
    assert loader.get_on_session_ready_queue() == []


async def test_discovering_lists_what_is_installed_and_what_is_in_folders(tmp_path: Path) -> None:
    """Installed modules first."""
    write_package(tmp_path / "amplifier-module-my-hooks", "my-hooks", '"""Mine."""\n')
    found = {one.id: one for one in await ModuleLoader(search_paths=[tmp_path]).discover()}
    assert list(found)[-1] == "my-hooks"
    assert (found["my-hooks"].type, found["my-hooks"].description) == ("hook", "Mine.")
    assert found["loop-basic"].mount_point == "orchestrator"


def test_each_kind_has_its_mount_point() -> None:
    """Under the names that plans and modules use."""
    assert set(TYPE_TO_MOUNT_POINT.values()) == set(TestCoordinator().mount_points)


reads: list[str] = []


def read_counted(group: str) -> Any:
    """The entry points, as they are on disk now."""
    reads.append(group)
    return importlib.metadata.EntryPoints(
        point
        for dist in importlib.metadata.distributions()
        for point in dist.entry_points.select(group=group)
    )


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", read_counted)
    monkeypatch.setattr(installed, "_last", [])
    reads.clear()


@pytest.fixture
def old_site(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the path, with one distribution that has been there for a while."""
    monkeypatch.setattr(sys, "path", [str(site)])
    write_distribution(site, "theirs", {"tool-x": "first:mount"})
    settle(site)
    return site


def settle(site: Path) -> None:
    """Let time pass."""
    for place in (*site.rglob("*"), site):
        make_old(place)


def choose() -> dict[str, str]:
    return {name: point.value for name, point in choose_modules(None)[0].items()}


def test_what_is_installed_is_read_once(old_site: Path) -> None:
    """Each caller has a dict of its own all the same."""
    first, second = choose_modules(None)[0], choose_modules(None)[0]
    assert first == second
    assert first is not second
    assert reads == [GROUP]


def test_a_distribution_that_is_installed_later_is_found(old_site: Path) -> None:
    """By the next loader, in the same process."""
    assert "tool-y" not in choose()
    write_distribution(old_site, "later", {"tool-y": "other:mount"})
    assert choose()["tool-y"] == "other:mount"


def test_a_distribution_that_is_taken_away_is_gone(old_site: Path) -> None:
    """Its modules with it."""
    assert choose() == {"tool-x": "first:mount"}
    shutil.rmtree(old_site / "theirs-1.2.3.dist-info")
    assert choose() == {}


def test_a_distribution_that_is_changed_in_its_place_is_read_again(old_site: Path) -> None:
    """Its folder does not say so, its file does."""
    assert choose() == {"tool-x": "first:mount"}
    (old_site / "theirs-1.2.3.dist-info" / "entry_points.txt").write_text(
        f"[{GROUP}]\ntool-x = second:mount\n"
    )
    assert choose() == {"tool-x": "second:mount"}


def test_a_checkout_that_names_its_first_module_is_read_again(old_site: Path) -> None:
    """A development install writes its names anew in their place, and had none of ours before."""
    facts = old_site / "theirs_too.egg-info"
    facts.mkdir()
    (facts / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: theirs-too\nVersion: 1\n")
    settle(old_site)
    assert choose() == {"tool-x": "first:mount"}
    (facts / "entry_points.txt").write_text(f"[{GROUP}]\ntool-y = other:mount\n")
    assert choose() == {"tool-x": "first:mount", "tool-y": "other:mount"}


def test_what_has_just_changed_is_not_remembered(old_site: Path) -> None:
    """The next change could have the same time."""
    make_old(old_site, 0)
    choose()
    choose()
    assert reads == [GROUP, GROUP]
    settle(old_site)
    choose()
    choose()
    assert reads == [GROUP] * 3


def test_another_reader_is_asked(old_site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that are packed into one file have their own."""
    assert choose()
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [])
    assert choose() == {}


def test_ours_give_way_and_the_first_of_others_on_the_path_wins(old_site: Path) -> None:
    """Those that only we have are told apart."""
    ours = {"tool-x": "ours:mount", "tool-own": "ours:mount"}
    write_distribution(old_site, "amplifier-hooks", ours)
    found, own = choose_modules(None)
    assert found["tool-x"].value == "first:mount"
    assert found["tool-own"].value == "ours:mount"
    assert own == {"tool-own"}


@pytest.mark.parametrize("governed", [True, False])
def test_what_sources_govern_is_not_installed(old_site: Path, governed: bool) -> None:
    """Whoever asks without these sources still has it."""

    class Judged:
        def governs(self, path: Path) -> bool:
            return governed and path == old_site

    sources: Any = Judged()
    assert choose_modules(sources)[0].keys() == (set() if governed else {"tool-x"})
    assert choose() == {"tool-x": "first:mount"}
    assert reads == [GROUP]


def test_an_entry_point_without_a_distribution_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As hosts and tests make them up."""
    point: Any = SimpleNamespace(name="tool-x", value="x:mount", group=GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    assert choose_modules(None) == ({"tool-x": point}, frozenset())


@pytest.mark.parametrize(
    ("module_id", "kind"),
    [
        ("my-orchestrator", "orchestrator"),
        ("loop-basic", "orchestrator"),
        ("provider-x", "provider"),
        ("tool-x", "tool"),
        ("hooks-x", "hook"),
        ("context-x", "context"),
        ("something", "tool"),
    ],
)
def test_the_kind_is_guessed_from_the_id(module_id: str, kind: str) -> None:
    """A tool if the id says nothing."""
    assert guess_kind(module_id) == kind


@pytest.mark.parametrize(
    "text",
    [
        '"""What it does.\n\nMore."""\n__amplifier_module_type__ = "hook"\nimport nothing\n',
        '"""What it does.\n\nMore."""\n__amplifier_module_type__: str = "hook"\nx, y = 1, 2\n',
    ],
)
def test_a_package_declares_its_kind_and_says_what_it_does(tmp_path: Path, text: str) -> None:
    """It is read, not imported."""
    facts = read_facts(write_package(tmp_path, "x", text))
    assert facts == {"type": "hook", "about": "What it does.\n\nMore."}


@pytest.mark.parametrize("text", ["syntax error here", "\0", None])
def test_what_cannot_be_read_says_nothing(tmp_path: Path, text: str | None) -> None:
    """Broken files and missing ones have no facts."""
    package = write_package(tmp_path, "x", text or "")
    if text is None:
        (package / "__init__.py").unlink()
    assert read_facts(package) == {}


def test_a_kind_that_is_computed_is_not_known() -> None:
    """Nor that of no package at all."""
    assert read_facts(None) == {"type": None, "about": None}


def test_installed_modules_are_described(site: Path) -> None:
    """By what their package declares, else by their id; one that cannot be found, too."""
    write_package(site, "declared", '"""Says so."""\n__amplifier_module_type__ = "provider"\n')
    write_package(site, "wrong", '__amplifier_module_type__ = "nonsense"\n')
    entries = {
        "declared": "amplifier_module_declared:mount",
        "wrong": "amplifier_module_wrong:mount",
        "hooks-gone": "amplifier_module_gone.part:mount",
        "hooks-away": "amplifier_module_away:mount",
    }
    write_distribution(site, "theirs", entries)
    known = ModuleLoader().known()
    found = describe_modules({one: known[one] for one in entries}, [], TYPE_TO_MOUNT_POINT)
    assert [(one.id, one.type, one.mount_point, one.description) for one in found] == [
        ("declared", "provider", "providers", "Says so."),
        ("wrong", "tool", "tools", "Module wrong"),
        ("hooks-gone", "hook", "hooks", "Module hooks-gone"),
        ("hooks-away", "hook", "hooks", "Module hooks-away"),
    ]
    assert {(one.name, one.version, one.config_schema) for one in found} == {
        (one, "1.2.3", None) for one in entries
    }
    assert "amplifier_module_declared" not in sys.modules


def test_a_package_that_is_imported_already_is_asked(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have computed what it declares."""
    module = ModuleType("amplifier_module_loaded", " Of this kind. ")
    module.__dict__["__amplifier_module_type__"] = "context"
    monkeypatch.setitem(sys.modules, "amplifier_module_loaded", module)
    write_distribution(site, "theirs", {"loaded": "amplifier_module_loaded:mount"})
    entry = ModuleLoader().known()["loaded"]
    (found,) = describe_modules({"loaded": entry}, [], TYPE_TO_MOUNT_POINT)
    assert (found.type, found.description) == ("context", "Of this kind.")


def test_modules_in_folders_come_after_the_installed_ones(site: Path, tmp_path: Path) -> None:
    """An id that is installed is not described twice."""
    write_distribution(site, "theirs", {"tool-a": "amplifier_module_tool_a:mount"})
    folders = []
    for module_id in ("tool-a", "my-loop"):
        folders.append(tmp_path / f"amplifier-module-{module_id}")
        write_package(folders[-1], module_id, '"""In a folder."""\n')
    write(folders[-1], "README.md", "")
    entries = {"tool-a": ModuleLoader().known()["tool-a"]}
    first, second = describe_modules(entries, folders, TYPE_TO_MOUNT_POINT)
    assert (first.id, first.version) == ("tool-a", "1.2.3")
    assert (second.id, second.type, second.mount_point) == (
        "my-loop",
        "orchestrator",
        "orchestrator",
    )
    assert (second.version, second.description) == ("unknown", "In a folder.")
