"""The files that a command line names anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.shell_hooks.scripts import (
    find_changed,
    list_modules,
    list_named,
    runs_modules,
)


@pytest.mark.parametrize(
    "command",
    [
        "bash -c './x.sh'",
        'sh -c "true && ./x.sh"',
        "find . -name y -exec ./x.sh {} +",
        "git ls-files | xargs -n1 ./x.sh",
        "`./x.sh`",
        "eval ./x.sh",
        '"$(git rev-parse --show-toplevel)/x.sh"',
        "$ROOT/x.sh",
        "node -r ./x.sh y.js",
        "env --split-string='./x.sh -a'",
        "make SHELL=./x.sh",
        "trap ./x.sh EXIT",
        "cat <x.sh | bash",
    ],
)
def test_a_name_is_found_wherever_it_stands(tmp_path: Path, command: str) -> None:
    """In quotes, behind options, in code for another shell, behind a value that nobody knows."""
    assert tmp_path / "x.sh" in list_named([command], tmp_path)


def test_behind_cd_names_start_from_the_other_folder(tmp_path: Path) -> None:
    """As well as from where they would have started."""
    (tmp_path / "sub").mkdir()
    found = list_named(["cd sub && ./x.sh"], tmp_path)
    assert tmp_path / "sub" / "x.sh" in found
    assert tmp_path / "x.sh" in found


def test_what_is_written_to_is_not_run(tmp_path: Path) -> None:
    """A log may change as it likes."""
    found = list_named(["./x.sh >out.py 2>> err.sh"], tmp_path)
    assert [path.name for path in found if path.suffix] == ["x.sh"]


def test_modules_are_looked_for_in_the_folder_as_python_would(tmp_path: Path) -> None:
    """As a file, as a package, and the package that they are in."""
    found = {str(path.relative_to(tmp_path)) for path in list_modules(["python3 -m a.b"], tmp_path)}
    assert found == {"a/b.py", "a/b/__main__.py", "a/b/__init__.py", "a.py", "a/__init__.py"}
    assert list_modules(["python3", "-m", "a"], tmp_path)
    assert set(list_modules(["python3 -m a"], tmp_path)) <= set(
        list_named(["python3 -m a"], tmp_path)
    )


@pytest.mark.parametrize(
    ("texts", "modules"),
    [
        (["python3 -m ruff"], True),
        (["python", "-Wd", "-c", "1"], True),
        (["/opt/python3.12 -Im x"], True),
        (["python3 x.py -m"], True),
        (["python3 x.py"], False),
        (["make -m"], False),
    ],
)
def test_python_is_told_apart_from_other_programs(texts: list[str], modules: bool) -> None:
    """In doubt it looks elsewhere first."""
    assert runs_modules(texts) is modules


def test_a_file_has_changed_when_it_is_not_what_it_was(tmp_path: Path) -> None:
    """Gone, other, or a script where there was none; what was no script may change."""
    path = tmp_path / "x.sh"
    assert find_changed({path: None}) is None
    path.write_text("a")
    assert find_changed({path: None}) == path
    assert find_changed({path: b"a"}) is None
    assert find_changed({path: b"b"}) == path
    path.unlink()
    assert find_changed({path: b"a"}) == path
    (tmp_path / "data").write_text("x")
    assert find_changed({tmp_path / "data": None}) is None
    assert find_changed({}) is None
