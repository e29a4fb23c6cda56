"""Where commands run: what a `cd` before them changes, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.guards.bash import Workspace, list_all_commands
from amplifier_hooks.guards.bash.movements import locate

PLACES = [
    ("x", {"."}),
    ("cd a && x", {"a"}),
    ("cd a; x", {"a"}),
    ("cd a\nx", {"a"}),
    ("cd a && cd b && x", {"a/b"}),
    ("cd a/b && cd .. && x", {"a"}),
    ("make && cd a && x", {"a"}),
    ("cd a || exit 1; x", {"a"}),
    ("{ cd a; }; x", {"a"}),
    ("pushd a && x", {"a"}),
    ("cd ./a 2>/dev/null && x", {"a"}),
    ('cd "$PWD/a" && x', {"a"}),
    ("env -C a x", {"a"}),
    ("cd a && bash -c 'cd b && x'", {"a/b"}),
    ("(cd a); x", {"."}),
    ("cd a & x", {"."}),
    ("cd a | x", {"."}),
    ("y=$(cd a && pwd); x", {"."}),
    ("for f in 1 2; do (cd a && y); done; x", {"."}),
    ("mkdir new && cd new && x", {"new"}),
    ("make && cd a; x", {".", "a"}),
    ("if make; then cd a; fi; x", {".", "a"}),
    ("cd a || cd b; x", {"a", "b", "a/b"}),
]


@pytest.mark.parametrize(("source", "expected"), PLACES)
def test_a_command_runs_behind_the_cd_that_leads_to_it(
    tmp_path: Path, source: str, expected: set[str]
) -> None:
    assert _find_places(tmp_path, source) == {tmp_path / one for one in expected}


UNSURE = [
    "cd missing; x",
    'cd "$D" && x',
    "cd a*; x",
    "cd a; cd -; x",
    "cd a; popd; x",
    'eval "cd a"; x',
    ". ./setup && cd a && x",
    "$GO a; x",
    "for d in a b; do cd $d; x; done",
    "f() { cd a; }; f; x",
    "CDPATH=b; cd a; x",
    "ln -s . c; cd a; x",
    "cd a; trap x EXIT; cd ..",
]


@pytest.mark.parametrize("source", UNSURE)
def test_what_is_not_sure_may_be_anywhere(tmp_path: Path, source: str) -> None:
    everywhere = tmp_path / "everywhere"
    assert everywhere in _find_places(tmp_path, source)


def _find_places(folder: Path, source: str) -> set[Path]:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "b").mkdir()
    commands = list_all_commands(source)
    workspace = Workspace(folder, Path("/home/me"))
    bases = [folder, folder / "everywhere"]
    command = next(one for one in commands if one.name == "x")
    return set(locate(command, bases, workspace, commands))
