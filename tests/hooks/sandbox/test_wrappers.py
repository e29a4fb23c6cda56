"""The command line of bubblewrap; what it holds is tried in test_escapes. A profile of Seatbelt.

What macOS makes of the profile was never tried.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_hooks.sandbox import plain_process, wrappers
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall
from amplifier_hooks.sandbox.wrappers import (
    build_arguments,
    build_profile,
    build_seatbelt_arguments,
)

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="BUBBLEWRAP IS NOT INSTALLED"
)


@pytest.fixture
def wall(tmp_path: Path) -> Wall:
    for name in ("work/.git/hooks", "private", "data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data" / "key").write_text("secret")
    root = (tmp_path / "work").resolve()
    hooks = root / ".git" / "hooks"
    data = (tmp_path / "data").resolve()
    private = (tmp_path / "private").resolve()
    return Wall((root,), (data,), (hooks,), private, kind="bubblewrap")


def run(wall: Wall, script: str) -> str:
    """What a script prints behind the wall."""
    command = [*build_arguments(wall, str(wall.writable[0]), None), "bash", "-c", script]
    return subprocess.run(command, capture_output=True, text=True).stdout


def test_without_the_program_it_is_an_error(wall: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command never runs without the wall that was wanted."""
    monkeypatch.setattr(wrappers, "find_bubblewrap", lambda: None)
    with pytest.raises(FileNotFoundError, match="not installed"):
        build_arguments(wall, "/", None)


def test_the_network_is_shared_only_where_it_is_allowed(
    wall: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other namespace is new in any case."""
    monkeypatch.setattr(wrappers, "find_bubblewrap", lambda: "bwrap")
    assert "--share-net" in build_arguments(wall, "/", None)
    assert "--share-net" not in build_arguments(replace(wall, network="deny"), "/", None)


@needs_bubblewrap
@pytest.mark.parametrize(
    "attack",
    [
        "echo x > .git/hooks/pre-commit",
        "rm -r .git/hooks",
        "mv .git git; mkdir .git",
        "mv .git/hooks .git/old",
    ],
)
def test_a_sealed_place_cannot_be_changed_or_moved_away(wall: Wall, attack: str) -> None:
    """Its folders are mounts, which cannot be renamed; other files of the root can be written."""
    root = wall.writable[0]
    command = [*build_arguments(wall, str(root), None), "bash", "-c"]
    assert subprocess.run([*command, attack], capture_output=True).returncode != 0
    assert list((root / ".git" / "hooks").iterdir()) == []
    subprocess.run([*command, "echo x > .git/index && echo x > $PWD/new"], check=True)


@needs_bubblewrap
def test_a_hidden_place_looks_empty(wall: Wall) -> None:
    """And nothing can be put there."""
    command = [*build_arguments(wall, "/", None), "bash", "-c"]
    done = subprocess.run(
        [*command, f"ls {wall.hidden[0]}; echo x > {wall.hidden[0]}/key"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
    assert (wall.hidden[0] / "key").read_text() == "secret"


@needs_bubblewrap
def test_a_command_sees_no_process_but_its_own(wall: Wall) -> None:
    """So it can neither look into ours nor send it a signal."""
    space, *names = run(wall, "readlink /proc/self/ns/pid; cat /proc/[0-9]*/comm").split()
    assert space.startswith("pid:")
    assert space != str(Path("/proc/self/ns/pid").readlink())
    assert {"bwrap", "cat"} <= set(names) <= {"bwrap", "bash", "cat"}


@needs_bubblewrap
def test_services_of_this_machine_are_out_of_sight(wall: Wall) -> None:
    """Their sockets lie in /run; a command that may talk to them sees them."""
    (made,) = run(wall, "stat -c %d:%i /run").split()
    seen = Path("/run").stat()
    assert made != f"{seen.st_dev}:{seen.st_ino}"
    allowed = replace(wall, unix_sockets=True)
    assert run(allowed, "stat -c %i /run").split() == [str(seen.st_ino)]


@needs_bubblewrap
def test_a_denied_network_is_a_loopback_of_its_own(wall: Wall) -> None:
    """No route leads out of it."""
    script = "readlink /proc/self/ns/net; grep -o lo: /proc/net/dev; tail -n +2 /proc/net/route"
    space, *rest = run(replace(wall, network="deny"), script).split()
    assert space.startswith("net:")
    assert space != str(Path("/proc/self/ns/net").readlink())
    assert rest == ["lo:"]


@needs_bubblewrap
def test_temporary_folders_are_private(wall: Wall) -> None:
    """What is written to /tmp and /var/tmp lands in the folder of the session."""
    ours = f"from-the-sandbox-{uuid.uuid4()}"
    run(wall, f"echo x > /tmp/{ours}; echo x > /var/tmp/{ours}-too")
    names = {path.name for path in wall.temporary.iterdir()}
    assert names >= {ours, f"{ours}-too"}
    assert not Path("/tmp", ours).exists()
    assert not Path("/var/tmp", f"{ours}-too").exists()


@needs_bubblewrap
async def test_a_daemon_ends_with_the_call_that_started_it(
    wall: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a session of its own, and deaf to signals; as long as it lives it holds a lock."""
    monkeypatch.setattr(plain_process, "GRACE", 0.2)
    lock, root = wall.writable[0] / "lock", wall.writable[0]
    inner = f"trap '' TERM HUP; exec 9> {lock}; flock 9; touch started; while :; do sleep 1; done"
    script = f'(setsid bash -c "{inner}" > /dev/null 2>&1 < /dev/null &)'
    wait = "while ! [ -e started ]; do sleep 0.01; done; echo done"
    outcome = await run_command(f"{script}; {wait}", cwd=root, wall=wall, timeout=60)
    assert outcome.stdout == "done\n"
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)


@needs_bubblewrap
async def test_a_sealed_place_that_is_not_there_yet_is_taken_away_again(wall: Wall) -> None:
    """A mount needs something to stand on, so that a new place can only be put back."""
    root = wall.writable[0]
    absent = replace(wall, sealed=(*wall.sealed, root / ".git" / "config"))
    outcome = await run_command("echo x > .git/config; cat .git/config", cwd=root, wall=absent)
    assert outcome.stdout == "x\n"
    assert ".git/config" in outcome.notes[0]
    assert not (root / ".git" / "config").exists()


SEATBELT = Wall(
    writable=(Path('/project/a "b"'),),
    hidden=(Path("/data"),),
    sealed=(Path("/project/.git/hooks"), Path("/project/.git/config")),
    temporary=Path("/private/tmp/x"),
    network="deny",
    granted=(Path("/project/.git/config"),),
)


def test_rules_come_in_the_order_in_which_the_last_one_counts() -> None:
    """Writing is denied, then allowed in places, then denied in sealed and hidden ones."""
    lines = build_profile(SEATBELT).splitlines()
    denied = lines.index("(deny file-write*)")
    allowed = next(n for n, line in enumerate(lines) if "/private/tmp/x" in line)
    sealed = lines.index('(deny file-write* (subpath "/project/.git/hooks"))')
    hidden = lines.index('(deny file-read* file-write* (subpath "/data"))')
    assert denied < allowed < sealed < hidden
    assert "(deny network*)" in lines


def test_names_cannot_end_their_quotes() -> None:
    """A folder's name is not a rule."""
    assert r'(subpath "/project/a \"b\"")' in build_profile(SEATBELT)


def test_the_command_comes_after_the_profile() -> None:
    """As sandbox-exec wants it."""
    assert build_seatbelt_arguments(SEATBELT)[1:] == ["-p", build_profile(SEATBELT)]
