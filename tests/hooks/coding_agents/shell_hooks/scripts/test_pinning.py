"""Hooks run the scripts that a person has seen, whatever has become of the files."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.trust.material import collect_material
from amplifier_hooks.coding_agents.dialects.dialect import Handler
from amplifier_hooks.coding_agents.shell_hooks.scripts import Pins, read_scripts
from amplifier_hooks.machine.files import Snapshot
from tests.hooks.coding_agents.shell_hooks.hook_files import write_file, write_script
from tests.support.project import Project

Change = Callable[[Path], Any]


def make_handler(command: str, **more: Any) -> Handler:
    return Handler("claude", "PreToolUse", "here", command=command, **more)


def pin(handler: Handler, folder: Path) -> Handler:
    """The hook as it is mounted, after a person has looked at it."""
    snapshot = Snapshot()
    read_scripts([handler], folder, snapshot)
    snapshot.seal()
    return Pins(snapshot, folder, folder.parent / "copies").pin(handler)


def run(handler: Handler, folder: Path) -> str:
    given = handler.run if handler.run is not None else handler.command
    words = ["bash", "-c", given] if isinstance(given, str) else list(given or ())
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    return place


@pytest.mark.parametrize("command", ["./x.sh", "bash x.sh", '"$PWD"/x.sh', "true; . ./x.sh"])
def test_a_script_runs_as_it_was_when_it_was_read(folder: Path, command: str) -> None:
    """Changed or gone since."""
    write_script(folder, "x.sh", "echo seen")
    pinned = pin(make_handler(command), folder)
    write_script(folder, "x.sh", "echo evil")
    assert run(pinned, folder) == "seen"
    (folder / "x.sh").unlink()
    assert run(pinned, folder) == "seen"


def test_what_lies_beside_a_script_goes_with_it(folder: Path) -> None:
    """A library, settings; not the files that it writes."""
    write_script(folder, "hooks/x.sh", '. "$(dirname "$0")/lib.sh"')
    write_file(folder, "hooks/lib.sh", "echo seen")
    write_file(folder, "hooks/run.log", "x")
    pinned = pin(make_handler("hooks/x.sh"), folder)
    write_file(folder, "hooks/lib.sh", "echo evil")
    assert run(pinned, folder) == "seen"
    assert not list((folder.parent / "copies").rglob("run.log"))


def test_words_without_a_shell_are_led_to_the_copies(folder: Path) -> None:
    """Whatever is in their names."""
    write_script(folder, "it's.sh", "echo seen")
    handler = make_handler("./it's.sh", args=("./it's.sh", "a b"))
    pinned = pin(handler, folder)
    write_script(folder, "it's.sh", "echo evil")
    assert run(pinned, folder) == "seen"


def test_a_script_that_was_not_there_is_never_run(folder: Path) -> None:
    """Whoever plants it."""
    pinned = pin(make_handler("./late.sh || echo nothing"), folder)
    write_script(folder, "late.sh", "echo evil")
    assert run(pinned, folder) == "nothing"


def test_a_hook_that_runs_elsewhere_names_files_from_there(folder: Path) -> None:
    """Its own folder counts."""
    write_script(folder, "sub/x.sh", "echo seen")
    pinned = pin(make_handler("./x.sh", cwd="sub"), folder)
    write_script(folder, "sub/x.sh", "echo evil")
    assert run(pinned, folder / "sub") == "seen"


def test_python_looks_for_modules_elsewhere_unless_one_of_the_folder_was_read(
    folder: Path,
) -> None:
    """Or a file of any name could be planted before those that are installed."""
    assert pin(make_handler("python3 -m json.tool"), folder).env == {"PYTHONSAFEPATH": "1"}
    write_file(folder, "tools/check.py", "")
    own = pin(make_handler("python3 -m tools.check"), folder)
    assert own.env == {}
    assert own.expects[folder / "tools" / "check.py"] == b""
    assert pin(make_handler("", url="http://x"), folder).run is None


DENY = "cat >/dev/null; exit 0"


@pytest.mark.parametrize(
    ("command", "change"),
    [
        ("bash -c ./x.sh", lambda folder: write_script(folder, "x.sh", "exit 0")),
        ("bash -c ./x.sh", lambda folder: (folder / "x.sh").unlink()),
        ("bash -c 'test ! -e y.sh || ./y.sh'", lambda f: write_script(f, "y.sh", "exit 0")),
        ("cd sub; ./z.sh", lambda folder: write_script(folder, "sub/z.sh", "exit 0")),
        ("python3 -m mine", lambda folder: write_file(folder, "mine.py", "")),
        ("python3 -m mine", lambda folder: write_file(folder, "mine/__main__.py", "")),
    ],
)
async def test_a_hook_whose_files_changed_denies(
    tmp_path: Path, command: str, change: Change
) -> None:
    """Where no copy can stand in, it does not run, and nothing passes it."""
    project = Project(tmp_path)
    write_script(project.folder, "x.sh", DENY)
    write_script(project.folder, "sub/z.sh", DENY)
    hooks = {"UserPromptSubmit": [{"hooks": [{"command": f"{command}; true"}]}]}
    entry = {"module": "hooks-shell", "config": {"hooks": hooks}}
    bundle = project.bundle(hooks=[entry])
    material = collect_material(bundle, project.folder)
    with material.hold():
        async with project.session(bundle, material=material) as session:
            assert "denied" not in await session.execute("go")
            change(project.folder)
            reply = await session.execute("go")
    assert "is not what it was when a person allowed the hook" in reply
    assert "/reload" in reply
