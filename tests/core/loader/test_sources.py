"""Modules are imported from bytes that were read before, whatever the disk has become."""

from __future__ import annotations

import importlib
import py_compile
import sys
import traceback
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError, ModuleValidationError
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.importing import claim, import_source, is_importable, release
from tests.core.module_files import MODULE, write
from tests.support.modules import imports_undone, write_distribution, write_package


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
