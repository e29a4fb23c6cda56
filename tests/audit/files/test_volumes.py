"""Whether a path lies on a disk of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit.log_directory import is_local

TABLE = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /net rw - nfs4 server:/export rw
31 30 0:41 / /net/local rw - xfs /dev/sdb rw
32 22 0:42 / /with\\040space rw shared:2 master:1 - fuse.sshfs host: rw
33 22 0:43 / /over rw - xfs /dev/sdc rw
34 22 0:44 / /over rw - cifs //host/share rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "local"),
    [
        ("/home/me/log", True),
        ("/", True),
        ("/net/log", False),
        ("/net/local/log", True),
        ("/network", True),
        ("/with space/log", False),
        ("/over/log", False),
    ],
)
def test_the_innermost_mount_decides(tmp_path: Path, path: str, local: bool) -> None:
    """And the last one, where one covers another."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(TABLE)
    assert is_local(Path(path), mounts) is local


def test_what_is_not_known_may_hang(tmp_path: Path) -> None:
    """Without a table, and in an empty one."""
    assert not is_local(tmp_path, tmp_path / "none")
    (tmp_path / "empty").touch()
    assert not is_local(tmp_path, tmp_path / "empty")


def test_a_link_leads_to_its_target(tmp_path: Path) -> None:
    """What counts is where the file lies."""
    mounts = tmp_path / "mountinfo"
    far = f"{tmp_path}/far".replace(" ", r"\040")
    mounts.write_text(f"1 1 0:1 / / rw - ext4 a rw\n2 1 0:2 / {far} rw - nfs a rw\n")
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    assert not is_local(tmp_path / "near" / "log", mounts)
    assert is_local(tmp_path / "other", mounts)
