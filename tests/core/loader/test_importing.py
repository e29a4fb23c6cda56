"""Files and packages are imported as they are on disk, under names that keep them apart."""

from __future__ import annotations

import importlib
import os
import py_compile
import sys
import traceback
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError, ModuleNotFound, ModuleValidationError
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.importing import (
    SETTLED,
    claim,
    find_package,
    forget,
    import_package,
    import_path,
    import_source,
    import_with,
    is_importable,
    package_name,
    read_path_state,
    release,
)
from tests.core.module_files import MODULE, write
from tests.support.modules import imports_undone, make_old, write_distribution, write_package


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


def test_the_same_path_has_the_same_state(site: Path) -> None:
    """As long as nothing happens to it."""
    assert read_path_state() == read_path_state()


def test_what_comes_into_a_folder_of_the_path_makes_another_state(site: Path) -> None:
    """Such as an installed package; what happens inside of it is no matter of the path."""
    make_old(site)
    before = read_path_state()
    package = site / "some_package"
    package.mkdir()
    after = read_path_state()
    assert after != before
    (package / "__init__.py").touch()
    assert read_path_state() == after


def test_another_folder_makes_another_state(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that is not there yet, when it comes."""
    before = read_path_state()
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "later")])
    added = read_path_state()
    assert added != before
    (tmp_path / "later").mkdir()
    assert read_path_state() != added


def test_the_current_folder_counts_where_the_path_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty text in the path is the folder that the process is in."""
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    before = read_path_state()
    monkeypatch.chdir(tmp_path)
    assert read_path_state() != before


def test_another_finder_makes_another_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may find what no folder has."""
    before = read_path_state()
    monkeypatch.setattr(sys, "meta_path", [object(), *sys.meta_path])
    assert read_path_state() != before


def test_a_file_that_is_changed_in_its_place_makes_another_state(tmp_path: Path) -> None:
    """Its folder does not change."""
    file = tmp_path / "entry_points.txt"
    file.write_text("before")
    make_old(file)
    before = read_path_state([str(file)])
    file.write_text("later.")
    assert read_path_state([str(file)]) != before


def test_a_state_is_settled_when_the_last_change_was_long_ago(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before that, another change could have the same time."""
    monkeypatch.setattr(sys, "path", [str(site)])
    assert not read_path_state().is_settled()
    make_old(site, 2 * SETTLED / 1e9)
    assert read_path_state().is_settled()


def test_nothing_on_the_path_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes will be a change."""
    monkeypatch.setattr(sys, "path", ["/nowhere/at/all"])
    assert read_path_state().is_settled()


class Kept:
    """Sources that were read when they were named."""

    def __init__(self, *paths: Path) -> None:
        self.files = {path: path.read_bytes() for path in paths}
        self.folder: Path | None = None

    def read(self, path: Path) -> bytes:
        return self.files[path]

    def list_below(self, folder: Path) -> list[Path]:
        return sorted(path for path in self.files if path.is_relative_to(folder))

    def governs(self, path: Path) -> bool:
        return self.folder is not None and path.is_relative_to(self.folder)


def keep_tree(folder: Path) -> Kept:
    return Kept(*folder.rglob("*.py"))


def test_a_file_that_changed_after_it_was_read_is_loaded_as_it_was(tmp_path: Path) -> None:
    """And one that is gone from the disk, too."""
    path = tmp_path / write(tmp_path, "mine.py", "x = 'seen'\n")
    kept = Kept(path)
    path.write_text("x = 'swapped'\n")
    assert import_source(kept, path, "mine").x == "seen"
    path.unlink()
    assert import_source(kept, path, "mine").x == "seen"


def test_a_package_and_what_it_imports_later_are_loaded_as_they_were(tmp_path: Path) -> None:
    """Relative imports inside functions find the bytes that were read, not the file."""
    write(tmp_path, "pack/__init__.py", "def late():\n    from .part import x\n    return x\n")
    write(tmp_path, "pack/part.py", "x = 'seen'\n")
    kept = keep_tree(tmp_path)
    write(tmp_path, "pack/part.py", "x = 'swapped'\n")
    write(tmp_path, "pack/planted.py", "x = 'planted'\n")
    module = import_source(kept, tmp_path / "pack", "pack")
    assert module.late() == "seen"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"{module.__name__}.planted")


def test_a_compiled_file_beside_the_source_is_not_used(tmp_path: Path) -> None:
    """Whoever can write it could put anything there under the time and size of the source."""
    write(tmp_path, "pack/__init__.py", "from .part import x\n")
    part = tmp_path / write(tmp_path, "pack/part.py", "x = 'good'\n")
    kept = keep_tree(tmp_path)
    write(tmp_path, "pack/part.py", "x = 'evil'\n")
    evil = py_compile.compile(
        str(part), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    assert evil is not None
    write(tmp_path, "pack/part.py", "x = 'good'\n")
    assert import_source(kept, tmp_path / "pack", "pack").x == "good"


@pytest.mark.parametrize("place", ["", "src/"])
def test_a_package_of_the_ecosystem_keeps_its_own_name(tmp_path: Path, place: str) -> None:
    """In its folder, or in one called src; nothing is added to the path of imports."""
    write(tmp_path, f"{place}amplifier_module_hooks_kept/__init__.py", MODULE)
    before = list(sys.path)
    with imports_undone():
        module = import_source(keep_tree(tmp_path), tmp_path, "hooks-kept")
        assert module.__name__ == "amplifier_module_hooks_kept"
        assert import_source(keep_tree(tmp_path), tmp_path, "hooks-kept") is module
        write(tmp_path, f"{place}amplifier_module_hooks_kept/more.py", "")
        assert import_source(keep_tree(tmp_path), tmp_path, "hooks-kept") is not module
    assert sys.path == before


def test_what_was_not_read_is_refused(tmp_path: Path) -> None:
    """Also by a loader that has sources: it does not fall back to the disk."""
    kept = Kept(tmp_path / write(tmp_path, "seen.py", MODULE))
    write(tmp_path, "planted.py", MODULE)
    loader = ModuleLoader(base=tmp_path, sources=kept)
    assert loader.find("./seen.py").origin == str(tmp_path / "seen.py")
    with pytest.raises(ModuleLoadError, match="not among the files that were allowed"):
        loader.find("./planted.py")
    with pytest.raises(ModuleNotFound, match="no file or folder"):
        loader.find("x", source="./missing.py")
    assert loader.copy().sources is kept


def test_a_folder_without_a_module_is_named(tmp_path: Path) -> None:
    """As it is when it is loaded from the disk."""
    write(tmp_path, "things/a.py", "")
    write(tmp_path, "things/b.py", "")
    with pytest.raises(ModuleValidationError, match="is not a Python module"):
        import_source(keep_tree(tmp_path), tmp_path / "things", "things")


def test_a_module_that_fails_is_reported_and_forgotten(tmp_path: Path) -> None:
    """With its reason, and with the line of the source in the traceback."""
    path = tmp_path / write(tmp_path, "broken.py", "x = 1\nraise RuntimeError('half')\n")
    known = set(sys.modules)
    with pytest.raises(ModuleLoadError, match="RuntimeError: half") as caught:
        import_source(Kept(path), path, "broken")
    assert set(sys.modules) == known
    assert "in line 2" in str(caught.value) or caught.value.__cause__ is not None


def test_an_installed_package_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever imports it by its name gets the bytes that were read."""
    write(tmp_path, "claimed_package/__init__.py", "from . import part\nx = 'seen'\n")
    write(tmp_path, "claimed_package/part.py", "y = 'seen'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with imports_undone():
        assert importlib.import_module("claimed_package").x == "seen"
        kept = keep_tree(tmp_path)
        write(tmp_path, "claimed_package/part.py", "y = 'swapped'\n")
        claim(kept, tmp_path / "claimed_package", "claimed_package")
        module = importlib.import_module("claimed_package")
        assert (module.x, module.part.y) == ("seen", "seen")
        claim(kept, tmp_path / "claimed_package", "claimed_package")
        assert importlib.import_module("claimed_package") is module


def test_a_claim_ends_with_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next session imports the package as it finds it."""
    write(tmp_path, "claimed_for_a_while/__init__.py", "x = 'seen'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with imports_undone():
        kept = keep_tree(tmp_path)
        claim(kept, tmp_path / "claimed_for_a_while", "claimed_for_a_while")
        write(tmp_path, "claimed_for_a_while/__init__.py", "x = 'new'\n")
        assert importlib.import_module("claimed_for_a_while").x == "seen"
        release(keep_tree(tmp_path))
        assert importlib.import_module("claimed_for_a_while").x == "seen"
        release(kept)
        assert importlib.import_module("claimed_for_a_while").x == "new"


@pytest.mark.parametrize("governed", [True, False])
def test_what_sources_govern_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, governed: bool
) -> None:
    """Neither by an entry point in their folder nor by a search path that leads there."""
    write_distribution(tmp_path, "theirs", {"tool-todo": "amplifier_module_tool_planted:mount"})
    write_package(tmp_path, "tool-planted", MODULE)
    write_package(tmp_path / "amplifier-module-tool-bash", "tool-bash", MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("AMPLIFIER_MODULES", str(tmp_path))
    kept = Kept()
    kept.folder = tmp_path if governed else tmp_path / "elsewhere"
    loader = ModuleLoader(base=tmp_path)
    assert loader.known()["tool-todo"].value == "amplifier_module_tool_planted:mount"
    loader.use_sources(kept)
    own = "amplifier_hooks.agent.tools.todo:mount"
    with imports_undone():
        found = loader.known()["tool-todo"].value
        assert found == (own if governed else "amplifier_module_tool_planted:mount")
        if governed:
            with pytest.raises(ModuleLoadError, match="not among the files that were allowed"):
                loader.find("tool-bash")
        else:
            assert "amplifier-module-tool-bash" in loader.find("tool-bash").origin
        loader.cleanup()


def test_a_package_that_a_finder_refuses_is_not_importable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next place is looked at, or one of ours."""

    class Refusing:
        def find_spec(self, fullname: str, path: object, target: object = None) -> None:
            if fullname.startswith("amplifier_module_"):
                raise ModuleNotFoundError("not trusted", name=fullname)

    monkeypatch.setattr(sys, "meta_path", [Refusing(), *sys.meta_path])
    assert ModuleLoader().find("tool-todo").origin == "amplifier_hooks.agent.tools.todo:mount"


def test_a_folder_that_is_the_package_is_imported_by_its_name(tmp_path: Path) -> None:
    """Where no package lies in it, but it has the name of one; tracebacks show its lines."""
    text = "def fail():\n    raise ValueError('here')\n"
    write(tmp_path, "amplifier_module_hooks_itself/__init__.py", text)
    with imports_undone():
        place = tmp_path / "amplifier_module_hooks_itself"
        module = import_source(keep_tree(place), place, "hooks-itself")
        assert module.__name__ == "amplifier_module_hooks_itself"
        (place / "__init__.py").unlink()
        with pytest.raises(ValueError, match="here") as caught:
            module.fail()
    shown = "".join(traceback.format_exception(caught.value))
    assert "raise ValueError('here')" in shown


def test_a_package_of_a_path_is_no_installed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other sessions do not find it by its name; where one is installed, they find that."""
    write(tmp_path, "plan/amplifier_module_hooks_twice.py", "x = 'plan'\n")
    with imports_undone():
        import_source(keep_tree(tmp_path), tmp_path / "plan", "hooks-twice")
        assert not is_importable("amplifier_module_hooks_twice")
        write(tmp_path, "site/amplifier_module_hooks_twice.py", "x = 'site'\n")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        assert is_importable("amplifier_module_hooks_twice")
        assert importlib.import_module("amplifier_module_hooks_twice").x == "site"
