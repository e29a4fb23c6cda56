"""The lock files: pinned by hash, free of addresses, and the dev lock only adds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = [*sorted(ROOT.glob("requirements*.lock")), ROOT / "scripts" / "bootstrap.lock"]


def pins(path: Path) -> dict[str, str]:
    """Package and version, as pinned."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", path.read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_pin_has_a_hash_and_no_address(path: Path):
    """Hash-pinned lock files that name no host."""
    text = path.read_text()
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    assert all("--hash=sha256:" in entry for entry in entries if entry)
    assert "://" not in text
    assert "index-url" not in text


def test_the_dev_lock_only_adds_to_the_run_time_lock():
    """After `make demo`, `make test` adds packages and replaces none."""
    run, dev = pins(ROOT / "requirements.lock"), pins(ROOT / "requirements-dev.lock")
    assert run.items() <= dev.items()


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_no_pin_is_bound_to_one_file(path: Path):
    """A lone hash is that of the wheel for one Python: the lock would fail on every other."""
    entries = re.split(r"^(?=\S)", path.read_text(), flags=re.MULTILINE)
    lone = [entry.split()[0] for entry in entries if entry.count("--hash=") == 1]
    assert lone == []
