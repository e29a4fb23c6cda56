"""Files that are no longer where or what they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amplifier_audit.disk import HeldFile, TakenAway


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "file"
    found.write_bytes(b"12345678")
    return found


def hold(path: Path, **options: bool) -> HeldFile:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return HeldFile(path, descriptor, **options)
    finally:
        os.close(descriptor)


def test_a_file_that_grows_in_its_place_is_there(path: Path) -> None:
    """That is what a writer does to it."""
    held = hold(path)
    held.size = 8
    with path.open("ab") as file:
        file.write(b"9")
    assert held.find_loss() is None


def test_a_file_that_grows_while_it_is_looked_at_is_there(path: Path) -> None:
    """The writer's thread goes on between the look and the comparison."""

    class Growing(type(path)):  # type: ignore[misc]
        def stat(self, **options: bool) -> os.stat_result:
            seen: os.stat_result = path.stat(**options)
            with path.open("ab") as file:
                file.write(b"9")
            held.size = 9
            return seen

    held = hold(path)
    held.size = 8
    held.path = Growing(path)
    assert held.find_loss() is None
    assert held.size == 9


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        ("delete", "is gone"),
        ("replace", "was replaced"),
        ("link", "was replaced"),
        ("cut", "4 bytes"),
    ],
)
def test_what_happened_to_a_file_is_said(path: Path, damage: str, word: str) -> None:
    """In words that name the file."""
    held = hold(path)
    held.size = 8
    if damage == "cut":
        os.truncate(path, 4)
    else:
        path.rename(path.with_name("elsewhere"))
    if damage == "replace":
        path.write_bytes(b"12345678")
    elif damage == "link":
        path.symlink_to("elsewhere")
    loss = held.find_loss()
    assert loss is not None
    assert loss.startswith("file ")
    assert word in loss


def test_a_file_that_nobody_may_write_is_held_exactly(path: Path) -> None:
    """Such as a key; its name may be a link."""
    link = path.with_name("link")
    link.symlink_to(path)
    held = HeldFile(link, exact=True, link=True)
    assert held.find_loss() is None
    path.write_bytes(b"123456789")
    assert held.find_loss() == "link was changed"


def test_what_is_raised_says_the_loss_as_its_reason() -> None:
    """As the errors of the system do."""
    assert TakenAway("x is gone").strerror == "x is gone"
