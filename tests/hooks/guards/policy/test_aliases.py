"""What links and mounts below a hidden place lead to is hidden, too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.guards.policy.aliases import find_mounted, list_aliases
from amplifier_hooks.guards.policy.places import list_places
from amplifier_hooks.sandbox.linux.landlock import query_abi
from amplifier_hooks.sandbox.process import run_command
from amplifier_hooks.sandbox.wall import Wall


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder of which everything is on another disk."""
    folder = tmp_path / "data/amplifier"
    (folder / "sessions").mkdir(parents=True)
    disk = tmp_path / "disk"
    for name in ("audit", "one", "further"):
        (disk / name).mkdir(parents=True)
        (disk / name / "record").write_text("secret of ours")
    (disk / "audit.key").write_text("secret of ours")
    (folder / "audit").symlink_to(disk / "audit")
    (folder / "audit.key").symlink_to(disk / "audit.key")
    (folder / "sessions/one").symlink_to(disk / "one")
    (disk / "one/more").symlink_to(disk / "further")
    return folder


def test_targets_of_links_are_hidden(data: Path, tmp_path: Path) -> None:
    """Folders and files, one and two levels down, and what they link to in turn."""
    disk = tmp_path.resolve() / "disk"
    wanted = {disk / name for name in ("audit", "audit.key", "one", "further")}
    assert set(list_aliases([data])) == wanted
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    places = list_places([tmp_path / "project"], env)
    assert wanted <= set(places.hidden)
    assert places.find_refusal(disk / "audit/record", writing=False)


def test_what_holds_the_project_stays_open(data: Path, tmp_path: Path) -> None:
    """A link to it would otherwise close everything."""
    (data / "backups").symlink_to(tmp_path)
    assert tmp_path.resolve() not in list_aliases([data], [tmp_path.resolve() / "project"])


def test_a_link_in_a_circle_ends(data: Path) -> None:
    """Each folder is looked at once."""
    (data / "circle").symlink_to(data)
    (data / "nowhere").symlink_to(data / "nowhere")
    assert len(list_aliases([data])) >= 4


@pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")
async def test_a_command_reads_nothing_of_it(data: Path, tmp_path: Path) -> None:
    """Behind the wall, by the link and by the name on the other disk."""
    project, temporary = tmp_path / "project", tmp_path / "temporary"
    project.mkdir()
    temporary.mkdir()
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    hidden = list_places([project], env).hidden
    files = [*data.rglob("*"), *(tmp_path / "disk").rglob("*")]
    wall = Wall((project.resolve(),), hidden, (), temporary.resolve())
    command = ["cat", *map(str, files), str(data / "audit/record"), "/etc/hostname"]
    outcome = await run_command(command, cwd=project, timeout=30, wall=wall)
    assert outcome.returncode != 0
    assert "secret of ours" not in outcome.stdout
    assert outcome.stdout  # other files can be read


MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 254:0 /disk\\040two/audit /home/me/data/audit rw,relatime - ext4 /dev/vda rw
31 22 254:16 /trails /home/me/data/store rw,relatime - ext4 /dev/vdb rw
32 22 254:16 / /mnt/b rw,relatime - ext4 /dev/vdb rw
33 22 0:5 / /home/me/other rw - tmpfs tmpfs rw
"""


def test_mounts_are_found_where_else_they_are() -> None:
    """A folder of the same disk, and a part of another disk that is mounted elsewhere."""
    found = set(find_mounted(Path("/home/me/data"), MOUNTS))
    assert found == {Path("/disk two/audit"), Path("/mnt/b/trails")}
    assert set(find_mounted(Path("/home/me/other"), MOUNTS)) == set()


def test_a_bind_mount_is_seen(tmp_path: Path) -> None:
    """In a mount namespace of its own, as the kernel reports it."""
    place, disk = tmp_path / "data/audit", tmp_path / "disk"
    place.mkdir(parents=True)
    disk.mkdir()
    code = (
        "from pathlib import Path; from amplifier_hooks.guards.policy.aliases import list_aliases; "
        f"print(*list_aliases([Path({str(place.parent)!r})]))"
    )
    script = f"mount --bind '{disk}' '{place}' && exec '{sys.executable}' -P -c \"{code}\""
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    if done.returncode and "Traceback" not in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert str(disk.resolve()) in done.stdout.split(), done.stderr
