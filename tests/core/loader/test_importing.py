"""Files and packages are imported as they are on disk, under names that keep them apart."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError, ModuleValidationError
from amplifier_core.loader.importing import (
    find_package,
    forget,
    import_package,
    import_path,
    import_with,
    is_importable,
    package_name,
)
from tests.core.module_files import MODULE, write
from tests.support.modules import make_old, write_package


def test_a_folder_is_a_module_and_its_parts_can_be_imported(tmp_path: Path) -> None:
    """A package by its path, with relative imports inside it."""
    write(tmp_path, "pack/__init__.py", "from .part import mount\n")
    write(tmp_path, "pack/part.py", MODULE)
    assert callable(import_path(tmp_path / "pack").mount)


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    """The folder tells them apart, also among the imported modules."""
    for folder in ("a", "b"):
        write(tmp_path, f"{folder}/same.py", f"here = {folder!r}\n")
    first, second = (import_path(tmp_path / folder / "same.py") for folder in ("a", "b"))
    assert (first.here, second.here) == ("a", "b")
    assert sys.modules[first.__name__] is first


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """Also when neither its size nor its time of change tells that it changed."""
    path = tmp_path / write(tmp_path, "mine.py", "x = 1\n")
    assert import_path(path).x == 1
    stat = path.stat()
    write(tmp_path, "mine.py", "x = 2\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert import_path(path).x == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("syntax error here", "cannot be imported: SyntaxError"),
        ("import nothing_of_that_name", "cannot be imported: ModuleNotFoundError"),
        ("raise RuntimeError('half written')", "cannot be imported: RuntimeError: half written"),
    ],
)
def test_a_file_that_fails_is_reported_and_not_left_half_imported(
    tmp_path: Path, text: str, why: str
) -> None:
    """Nobody can import what did not come to its end."""
    path = tmp_path / write(tmp_path, "bad.py", f"x = 1\n{text}\n")
    before = set(sys.modules)
    with pytest.raises(ModuleLoadError, match=why) as caught:
        import_path(path)
    assert str(path) in str(caught.value)
    assert set(sys.modules) == before


@pytest.mark.parametrize("name", ["empty", "notes.txt"])
def test_what_holds_no_code_is_no_module(tmp_path: Path, name: str) -> None:
    """A folder needs an __init__.py, a file the ending of a Python file."""
    if name == "empty":
        (tmp_path / name).mkdir()
    else:
        write(tmp_path, name, "hello")
    with pytest.raises(ModuleValidationError, match="is not a Python module") as caught:
        import_path(tmp_path / name)
    assert caught.value.reason_code == "invalid_package_layout"


def test_the_name_of_a_package_is_its_id_with_underscores() -> None:
    """Behind a prefix that all of them share."""
    assert package_name("tool-my-own") == "amplifier_module_tool_my_own"


def test_the_package_of_an_id_is_found_in_its_folder(tmp_path: Path) -> None:
    """By its name; beside it there may be others, also one that is no package."""
    own = write_package(tmp_path, "tool-a", "")
    write_package(tmp_path, "tool-b", "")
    (tmp_path / "amplifier_module_tool_c-1.0.dist-info").mkdir()
    assert find_package("tool-a", tmp_path) == own
    assert find_package("tool-x", tmp_path) is None


@pytest.mark.parametrize("where", [".", "src"])
def test_the_only_package_of_a_folder_is_the_modules(tmp_path: Path, where: str) -> None:
    """Whatever the plan calls it; it may be in the folder or in its `src`."""
    own = write_package(tmp_path / where, "tool-a", "")
    assert find_package("something-else", tmp_path) == own


def test_a_folder_may_be_the_package(tmp_path: Path) -> None:
    """Its name says so; a folder of that name without code is none."""
    own = write_package(tmp_path, "tool-a", "")
    assert find_package("x", own) == own
    (own / "__init__.py").unlink()
    assert find_package("x", own) is None


def test_a_package_may_be_one_file(tmp_path: Path) -> None:
    """`amplifier_module_<id>.py`."""
    write(tmp_path, "amplifier_module_single.py", "here = 1\n")
    package = find_package("single", tmp_path)
    sys.path.insert(0, str(tmp_path))
    assert import_package(package).here == 1
    assert import_package(package) is sys.modules["amplifier_module_single"]


def test_a_package_keeps_its_name_and_is_imported_once(tmp_path: Path) -> None:
    """It may import itself by its name, and two modules that share it share its classes."""
    text = "from amplifier_module_whole.part import Thing\n"
    package = write_package(tmp_path, "whole", text, part="class Thing: pass\n")
    sys.path.insert(0, str(tmp_path))
    module = import_package(package)
    assert module.__name__ == "amplifier_module_whole"
    assert import_package(package) is module


def test_a_package_of_another_folder_is_not_taken_for_this_one(tmp_path: Path) -> None:
    """Also when that one was imported before."""
    found = []
    for folder in ("a", "b"):
        package = write_package(tmp_path / folder, "twice", f"here = {folder!r}\n")
        sys.path.insert(0, str(tmp_path / folder))
        found.append(import_package(package).here)
    assert found == ["a", "b"]


def test_a_package_that_changed_is_imported_again(tmp_path: Path) -> None:
    """With its parts: a change in one of them counts."""
    text = "from amplifier_module_changing.part import value\n"
    package = write_package(tmp_path, "changing", text, part="value = 1\n")
    sys.path.insert(0, str(tmp_path))
    assert import_package(package).value == 1
    write_package(tmp_path, "changing", text, part="value = 'another'\n")
    assert import_package(package).value == "another"


def test_a_package_that_was_imported_by_its_name_stays(tmp_path: Path) -> None:
    """An application's own import and the loader's are the same classes."""
    package = write_package(tmp_path, "already", "class Thing: pass\n")
    sys.path.insert(0, str(tmp_path))
    before = __import__("amplifier_module_already")
    assert import_package(package) is before


def test_a_package_that_was_imported_by_its_name_stays_after_another_of_that_name(
    tmp_path: Path,
) -> None:
    """What is known of the other one's files says nothing about this one."""
    other = write_package(tmp_path / "other", "again", "here = 'other'\n")
    sys.path.insert(0, str(tmp_path / "other"))
    import_package(other)
    forget("amplifier_module_again")
    package = write_package(tmp_path, "again", "class Thing: pass\n")
    sys.path.insert(0, str(tmp_path))
    before = __import__("amplifier_module_again")
    assert import_package(package) is before


def test_a_package_is_the_same_by_another_path(tmp_path: Path) -> None:
    """A link to its folder does not make it a second package."""
    package = write_package(tmp_path / "real", "linked", "class Thing: pass\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    sys.path.insert(0, str(tmp_path / "real"))
    module = import_package(package)
    assert import_package(tmp_path / "link" / package.name) is module


def test_a_package_that_fails_is_reported_and_forgotten(tmp_path: Path) -> None:
    """With its parts."""
    text = "import amplifier_module_broken.part\nraise RuntimeError('half written')\n"
    package = write_package(tmp_path, "broken", text, part="")
    sys.path.insert(0, str(tmp_path))
    with pytest.raises(ModuleLoadError, match="cannot be imported: RuntimeError: half written"):
        import_package(package)
    assert not [one for one in sys.modules if one.startswith("amplifier_module_broken")]


def test_whatever_an_import_raises_is_the_modules_failure() -> None:
    """With its id, and the reason that whoever imports gives."""
    with pytest.raises(ModuleLoadError, match="'ghost' cannot be imported: KeyError") as caught:
        import_with("ghost", lambda: {"a": 1}["x"], "invalid_entry_point")
    assert (caught.value.module_id, caught.value.reason_code) == ("ghost", "invalid_entry_point")
    assert import_with("fine", lambda: 1) == 1


def test_forgetting_takes_the_parts_along_and_nothing_else() -> None:
    """A name that begins alike is another module."""
    for name in ("amplifier_module_f", "amplifier_module_f.part", "amplifier_module_full"):
        sys.modules[name] = type(sys)(name)
    forget("amplifier_module_f")
    left = [one for one in sys.modules if one.startswith("amplifier_module_f")]
    assert left == ["amplifier_module_full"]


def test_a_package_that_was_looked_for_in_vain_is_found_when_it_comes(site: Path) -> None:
    """Also if it comes at once."""
    for old in (True, False):
        name = f"amplifier_module_tool_late_{old}".lower()
        if old:
            make_old(site)
        assert not is_importable(name)
        assert not is_importable(name)
        (site / f"{name}.py").write_text("")
        importlib.invalidate_caches()
        assert is_importable(name)


def test_a_package_that_is_missing_is_not_looked_for_again(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every session asks for those of our modules, and there are none."""
    asked: list[str] = []
    name = "amplifier_module_tool_nowhere"
    monkeypatch.setattr(sys, "path", [str(site)])
    monkeypatch.setattr(PathFinder, "find_spec", lambda name, *_: asked.append(name))
    make_old(site)
    for _ in range(3):
        assert not is_importable(name)
    assert asked == [name]


def test_finders_that_need_no_path_are_always_asked(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they have may come and go without a change on the path."""
    name, has = "amplifier_module_tool_learned", set[str]()

    class Learning:
        def find_spec(self, fullname: str, path: object, target: object = None) -> object:
            return ModuleSpec(fullname, None) if fullname in has else None

    monkeypatch.setattr(sys, "path", [str(site)])
    monkeypatch.setattr(sys, "meta_path", [Learning(), PathFinder])
    make_old(site)
    assert not is_importable(name)
    has.add(name)
    assert is_importable(name)
    has.clear()
    assert not is_importable(name)
