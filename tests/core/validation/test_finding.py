"""Finding the code behind a path, an import name or an id."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleError, ModuleValidationError
from amplifier_core.testing import MockCoordinator
from amplifier_core.validation.module import find_module_near, import_code, mount_code
from tests.support.modules import GOOD_HOOKS, write_module

CORE = """
async def mount(coordinator, config):
    coordinator.register_capability("mounted", config)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of the ecosystem that imports itself by its own name."""
    folder = tmp_path / "amplifier_module_tool_found"
    folder.mkdir()
    (folder / "__init__.py").write_text("from amplifier_module_tool_found.core import mount\n")
    (folder / "core.py").write_text(CORE)
    return folder


def test_a_package_is_imported_by_its_own_name(package: Path) -> None:
    """So that its classes are the ones that the author's tests import; the path is put back."""
    before = list(sys.path)
    code = import_code(package)
    assert code.python_module.__name__ == "amplifier_module_tool_found"
    assert code.find_mount().__module__ == "amplifier_module_tool_found.core"
    assert import_code(str(package)).python_module is code.python_module
    assert sys.path == before


def test_the_folder_around_a_package_will_do(package: Path) -> None:
    """The root of a project."""
    assert import_code(package.parent).origin == str(package)


def test_a_package_may_take_itself_off_the_path(package: Path) -> None:
    """What it does to the path is its own affair."""
    with (package / "__init__.py").open("a") as file:
        file.write(f"import sys\nsys.path.remove({str(package.parent)!r})\n")
    assert import_code(package).find_mount()


def test_a_file_is_read_as_it_is_now(tmp_path: Path) -> None:
    """An author edits and validates again."""
    file = write_module(tmp_path, "async def mount(c, k): return 1")
    first = import_code(file)
    write_module(tmp_path, "async def mount(c, k): return 2")
    assert import_code(str(file)).python_module is not first.python_module


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """If it is a package."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(CORE)
    assert import_code(tmp_path / "mine").find_mount()


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("amplifier_hooks.guards.datetime", "amplifier_hooks.guards.datetime"),
        ("hooks-datetime", "amplifier_hooks.guards.datetime"),
    ],
)
def test_a_module_may_be_named(name: str, home: str) -> None:
    """As Python imports it, or by its id."""
    code = import_code(name)
    assert code.python_module.__name__ == home
    assert code.find_mount() is code.python_module.mount


def test_a_package_that_is_installed_may_be_named(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the name of the package, and by the id of the module."""
    monkeypatch.syspath_prepend(package.parent)
    for name in ("amplifier_module_tool_found", "tool-found"):
        assert import_code(name).python_module.__name__ == "amplifier_module_tool_found"


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("./nowhere.py", "there is no file or folder 'nowhere.py'"),
        (Path("nowhere"), "there is no file or folder 'nowhere'"),
        ("no_such_package", "Unknown module 'no_such_package'"),
        ("hooks-nonsense", "Unknown module 'hooks-nonsense'"),
        ("json.no_such_part", "No module named 'json.no_such_part'"),
        ("", "Unknown module ''"),
    ],
)
def test_what_cannot_be_found_is_said(module: str | Path, why: str) -> None:
    """With what was asked for."""
    with pytest.raises(ModuleError, match=why):
        import_code(module)


def test_a_folder_without_code_is_no_module(tmp_path: Path) -> None:
    """It says what is missing."""
    with pytest.raises(ModuleError, match=r"has no __init__\.py"):
        import_code(tmp_path)


def test_an_entry_point_may_name_another_function(tmp_path: Path) -> None:
    """The part behind the colon; the id of an entry point says nothing of it."""
    file = write_module(tmp_path, "async def install(c, k): ...\nasync def mount(c, k): ...")
    code = import_code(file, "sample_module:install")
    assert code.find_mount() is code.python_module.install
    code = import_code(file, "tool-sample")
    assert code.find_mount() is code.python_module.mount
    with pytest.raises(ModuleValidationError, match="no mount"):
        import_code(file, "sample_module:nothing").find_mount()


def test_a_plain_file_of_hooks_has_a_mount(tmp_path: Path) -> None:
    """As in a session."""
    file = write_module(tmp_path, "async def on_session_start(event, data): ...")
    assert import_code(file).find_mount()


async def test_mounting_gives_the_clean_up(tmp_path: Path, package: Path) -> None:
    """Or None; the options are a copy."""
    coordinator, config = MockCoordinator(), {"level": 1}
    assert await mount_code(package, coordinator, config) is None
    assert coordinator.get_capability("mounted") == config
    assert coordinator.get_capability("mounted") is not config
    undo = await mount_code(write_module(tmp_path, GOOD_HOOKS), coordinator)
    assert coordinator.hooks.list_handlers() == {"tool:pre": ["ok"]}
    undo()
    assert coordinator.hooks.list_handlers() == {}


def test_the_nearest_package_above_a_test_is_the_module(tmp_path: Path) -> None:
    """Beside the tests, around them, or under `src`; folders that are no package do not count."""
    test = tmp_path / "project" / "tests" / "unit" / "test_x.py"
    assert find_module_near(test) is None
    (tmp_path / "project" / "amplifier_module_not").mkdir(parents=True)
    assert find_module_near(test) is None
    places = [
        "amplifier_module_far",
        "project/src/amplifier_module_a",
        "project/tests/amplifier_module_b",
    ]
    for place in places:
        package = tmp_path / place
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        assert find_module_near(test) == package
    inside = tmp_path / "amplifier_module_far" / "tests" / "test_y.py"
    assert find_module_near(inside) == tmp_path / "amplifier_module_far"
