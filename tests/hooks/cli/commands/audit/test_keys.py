"""amplifier audit create-key."""

from __future__ import annotations

from pathlib import Path

from amplifier_audit import load_signer
from tests.hooks.cli.program import invoke


def test_the_public_key_is_printed_and_the_private_one_kept(tmp_path: Path) -> None:
    """A file for its owner alone; what is printed verifies what it signs."""
    path = tmp_path / "key"
    done = invoke("audit", "create-key", path, "--name", "ours")
    assert done.code == 0
    assert done.stdout == load_signer(path).public + "\n"
    assert done.stdout.startswith("ours+")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    """A log that was signed with it could not be continued."""
    path = tmp_path / "key"
    invoke("audit", "create-key", path)
    before = path.read_bytes()
    done = invoke("audit", "create-key", path)
    assert done.code == 2
    assert str(path) in done.stderr
    assert path.read_bytes() == before
