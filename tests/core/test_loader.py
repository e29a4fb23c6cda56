"""Modules are found by path, entry point or package name, and say what is wrong with them."""

from __future__ import annotations

import os
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError, ModuleNotFound
from amplifier_core.interfaces import hook
from amplifier_core.loader import GROUP, ModuleLoader
from amplifier_core.testing import TestCoordinator
from tests.core.module_files import MODULE, PLAIN, write


@pytest.fixture
def loader(tmp_path: Path) -> ModuleLoader:
    return ModuleLoader(tmp_path)


@pytest.mark.parametrize("module_id", ["mine", "./mine.py", "mine.py"])
def test_a_file_is_found_from_the_base_folder(
    loader: ModuleLoader, tmp_path: Path, module_id: str
) -> None:
    """By its source, or by an id that is a path itself."""
    source = write(tmp_path, "mine.py", MODULE)
    found = loader.find(module_id, source if module_id == "mine" else None)
    assert (found.id, found.origin) == (module_id, str(tmp_path / "mine.py"))
    assert callable(found.on_session_ready)


def test_a_folder_is_a_module_and_its_parts_can_be_imported(
    loader: ModuleLoader, tmp_path: Path
) -> None:
    """A package by its path, with relative imports inside it."""
    write(tmp_path, "pack/__init__.py", "from .part import mount\n")
    write(tmp_path, "pack/part.py", MODULE)
    assert callable(loader.find("pack", "pack/").mount)


def test_two_files_of_one_name_are_two_modules(loader: ModuleLoader, tmp_path: Path) -> None:
    """The folder tells them apart, also among the imported modules."""
    for folder in ("a", "b"):
        write(tmp_path, f"{folder}/same.py", f"mount = {folder!r}.join\n")
    first, second = loader.find("same", "a/same.py"), loader.find("same", "b/same.py")
    assert first.mount != second.mount


async def test_a_plain_file_registers_its_marked_and_named_functions(
    loader: ModuleLoader, tmp_path: Path
) -> None:
    """Functions marked with @hook or named on_<event> are hooks; others are left alone."""
    coordinator = TestCoordinator()
    module = loader.find("plain", write(tmp_path, "plain.py", PLAIN))
    unmount = await module.mount(coordinator, {})
    assert coordinator.hooks.list_handlers() == {
        "tool:pre": ["guard"],
        "tool:post": ["guard"],
        "session:start": ["on_session_start"],
    }
    (handler,) = coordinator.hooks.handlers_for("tool:pre")
    assert (handler.priority, handler.on_error) == (7, "deny")
    unmount()
    assert not any(coordinator.hooks.list_handlers().values())


async def test_a_plain_file_takes_no_config(loader: ModuleLoader, tmp_path: Path) -> None:
    """Options that nothing reads are a mistake."""
    module = loader.find("plain", write(tmp_path, "plain.py", PLAIN))
    with pytest.raises(ModuleLoadError, match=r"'plain' takes no config, got \['x'\]") as caught:
        await module.mount(TestCoordinator(), {"x": 1})
    assert caught.value.module_id == "plain"


def test_a_changed_file_is_read_again(loader: ModuleLoader, tmp_path: Path) -> None:
    """Also when neither its size nor its time of change tells that it changed."""
    path = tmp_path / write(tmp_path, "mine.py", "async def mount(c, k): return 1\n")
    before = loader.find("mine", "mine.py").mount
    stat = path.stat()
    write(tmp_path, "mine.py", "async def mount(c, k): return 2\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    after = loader.find("mine", "mine.py").mount
    assert before.__code__.co_consts != after.__code__.co_consts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("syntax error here", "cannot be imported: SyntaxError"),
        ("import nothing_of_that_name", "cannot be imported: ModuleNotFoundError"),
        ("raise RuntimeError('half written')", "cannot be imported: RuntimeError: half written"),
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


def test_a_file_that_fails_is_not_left_half_imported(loader: ModuleLoader, tmp_path: Path) -> None:
    """Nobody can import what did not come to its end."""
    before = set(sys.modules)
    source = write(tmp_path, "bad.py", "x = 1\nraise RuntimeError('half written')\n")
    with pytest.raises(ModuleLoadError):
        loader.find("bad", source)
    assert set(sys.modules) == before


@pytest.mark.parametrize("name", ["empty/", "notes.txt/"])
def test_what_holds_no_code_is_no_module(loader: ModuleLoader, tmp_path: Path, name: str) -> None:
    """A folder needs an __init__.py, a file the ending of a Python file."""
    if name == "empty/":
        (tmp_path / "empty").mkdir()
    else:
        write(tmp_path, "notes.txt", "hello")
    with pytest.raises(ModuleLoadError, match="is no Python module"):
        loader.find("it", f"./{name.rstrip('/')}")


@pytest.mark.parametrize("source", ["gone.py", "some/folder"])
def test_a_source_that_is_missing_is_named(loader: ModuleLoader, source: str) -> None:
    """The message has the module and the path."""
    why = f"Module 'gone': there is no file or folder {source!r}"
    with pytest.raises(ModuleNotFound) as caught:
        loader.find("gone", source)
    assert str(caught.value) == why
    assert (caught.value.module_id, caught.value.known) == ("gone", ())


@pytest.mark.parametrize("path", ["./gone.py", "../gone", "/gone/away.py", "~/gone"])
def test_a_path_that_leads_nowhere_is_not_taken_for_an_id(path: str) -> None:
    """No file behind a path: the message does not list ids that nobody meant."""
    with pytest.raises(ModuleNotFound, match=r"^There is no file or folder '") as caught:
        ModuleLoader().find(path)
    assert caught.value.known == ()


@pytest.mark.parametrize("module_id", ["hooks-x", "a.b.c", "os; import sys", ""])
def test_an_unknown_id_lists_the_known_ones(module_id: str) -> None:
    """In its text for people, and as a field for programs."""
    with pytest.raises(
        ModuleNotFound, match=r"^Unknown module .*; have \[.*'loop-basic'"
    ) as caught:
        ModuleLoader().find(module_id)
    assert caught.value.module_id == module_id
    assert "loop-basic" in caught.value.known


@pytest.mark.parametrize("source", [None, "git+https://host.invalid/repo"])
def test_packages_of_the_ecosystem_are_found_by_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str | None
) -> None:
    """The id with underscores behind `amplifier_module_`; where it was fetched from is no path."""
    write(tmp_path, "amplifier_module_my_hooks.py", MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ModuleLoader().find("my-hooks", source).origin == "amplifier_module_my_hooks"


def test_a_package_that_does_not_import_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is installed and broken, which is not the same as unknown."""
    write(tmp_path, "amplifier_module_bad_one.py", "raise RuntimeError('no')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleLoadError, match="cannot be imported: RuntimeError: no"):
        ModuleLoader().find("bad-one")


def test_an_entry_point_that_does_not_import_is_reported(loader: ModuleLoader) -> None:
    """A dangling entry point names itself."""
    loader._entry_points = {"ghost": EntryPoint("ghost", "no_such_package:mount", GROUP)}
    with pytest.raises(ModuleLoadError, match="Module 'ghost' cannot be imported") as caught:
        loader.find("ghost")
    assert caught.value.module_id == "ghost"


def test_marking_needs_the_names_of_events() -> None:
    """@hook without events says what it needs."""
    with pytest.raises(TypeError, match="@hook needs the names of events"):
        hook()


def test_every_module_of_the_package_can_be_found() -> None:
    """The entry points of this distribution point at something that mounts."""
    loader = ModuleLoader()
    for module_id in loader.known():
        if module_id.startswith(("loop-", "context-", "tool-", "hooks-", "provider-")):
            assert callable(loader.find(module_id).mount), module_id
