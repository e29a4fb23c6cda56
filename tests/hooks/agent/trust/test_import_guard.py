"""Nothing of a folder is imported but what was trusted, however the folder came to be searched."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_core.loader.importing import claim
from amplifier_hooks.agent.trust.material import find_unguarded, guard_imports
from amplifier_hooks.machine.files import Snapshot
from tests.support.modules import imports_undone, write_module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is on the path of imports, as by an editable install or `python -m`."""
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    before = set(sys.modules)
    with imports_undone():
        yield place
    for name in [one for one in sys.modules if one.startswith("guarded_") and one not in before]:
        del sys.modules[name]


def test_what_lies_in_the_folder_cannot_be_imported(folder: Path) -> None:
    """Until the guard is gone; a file, a package and a package without a file of its own."""
    write_module(folder, "x = 1\n", "guarded_file.py")
    (folder / "guarded_space").mkdir()
    write_module(folder / "guarded_space", "x = 1\n", "part.py")
    with guard_imports(folder):
        for name in ("guarded_file", "guarded_space", "guarded_space.part"):
            with pytest.raises(ModuleNotFoundError, match="is not part of what was trusted"):
                importlib.import_module(name)
    assert importlib.import_module("guarded_file").x == 1


def test_a_file_of_the_folder_takes_nobodys_place(folder: Path) -> None:
    """What is installed elsewhere under its name is found behind it."""
    write_module(folder, "raise RuntimeError('planted')\n", "colorsys.py")
    sys.modules.pop("colorsys", None)
    with guard_imports(folder):
        assert hasattr(importlib.import_module("colorsys"), "rgb_to_hls")


def test_a_link_to_the_folder_leads_there_as_well(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under whatever name it is searched."""
    write_module(folder, "x = 1\n", "guarded_linked.py")
    link = folder.parent / "link"
    link.symlink_to(folder)
    monkeypatch.setattr(sys, "path", [str(link), *(p for p in sys.path if p != str(folder))])
    with guard_imports(folder), pytest.raises(ModuleNotFoundError):
        importlib.import_module("guarded_linked")


def test_what_was_read_before_is_imported_as_it_was_read(folder: Path) -> None:
    """The guard leaves it to the sources; those who look past both see the disk."""
    path = write_module(folder, "x = 'seen'\n", "guarded_claimed.py")
    kept = Snapshot()
    kept.read(path)
    kept.seal()
    path.write_text("x = 'swapped'\n")
    with guard_imports(folder):
        claim(kept, path, "guarded_claimed")
        assert importlib.import_module("guarded_claimed").x == "seen"
        found = find_unguarded("guarded_claimed")
        assert found is not None
        assert found.origin == str(path)
    assert find_unguarded("guarded_nowhere") is None


def test_the_program_itself_can_be_imported_where_it_lies_in_the_folder() -> None:
    """As for those who work on it, in a process that has not asked before."""
    script = (
        "from pathlib import Path\n"
        "from amplifier_hooks.agent.trust.material import guard_imports\n"
        "import amplifier_core\n"
        "with guard_imports(Path(amplifier_core.__file__).parents[1]):\n"
        "    import amplifier_audit, click, colorsys\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
