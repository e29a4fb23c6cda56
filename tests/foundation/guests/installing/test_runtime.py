"""The resident process's own files: there as long as a guard needs them."""

from __future__ import annotations

import json
from pathlib import Path

from amplifier_foundation.guests.installing.record import Record, Records
from amplifier_foundation.guests.installing.runtime import (
    clear_runtime,
    list_installed,
    prepare_runtime,
)


def make_record(path: str, *, scope: str = "user", http: bool = False) -> Record:
    """Of an installation."""
    return Record(path, "claude", scope, "", "", existed=False, mode=None, http=http)


def read_launch(folder: Path) -> dict[str, object]:
    """What the file says."""
    data: dict[str, object] = json.loads((folder / "launch.json").read_text())
    return data


def test_the_folder_says_how_to_start_the_process(home: Path) -> None:
    """With the variables of the person who installs."""
    folder, door = prepare_runtime(http=False)
    assert folder == home / "data" / "amplifier" / "guests"
    assert door is None
    launch = read_launch(folder)
    assert "http" not in launch
    assert launch["env"]["HOME"] == str(home)  # type: ignore[index]


def test_the_address_stays_the_same_for_the_next_guard(home: Path) -> None:
    """The first one has it in its settings."""
    _, door = prepare_runtime(http=True)
    assert door is not None
    assert prepare_runtime(http=True)[1] == door
    folder, none = prepare_runtime(http=False)
    assert none is None
    assert read_launch(folder)["http"] == door._asdict()


def test_http_ends_with_the_last_guard_that_speaks_it(home: Path) -> None:
    """The others go on without."""
    records = Records()
    records.save(make_record("/a", http=True), None)
    records.save(make_record("/b"), None)
    folder, _ = prepare_runtime(http=True)
    assert not clear_runtime(records)
    assert "http" in read_launch(folder)
    records.forget(Path("/a"))
    assert not clear_runtime(records)
    assert "http" not in read_launch(folder)


def test_nothing_is_left_after_the_last_guard(home: Path) -> None:
    """Neither file nor folder."""
    records = Records()
    folder, _ = prepare_runtime(http=True)
    for name in ("guest.sock", "resident.log", "start.lock"):
        (folder / name).touch()
    assert clear_runtime(records)
    assert not folder.exists()
    assert clear_runtime(records)


def test_codexs_own_file_is_no_guard() -> None:
    """Only settings with our entries count."""

    class Fixed(Records):
        def list(self):  # type: ignore[no-untyped-def]
            return iter([make_record("/a"), make_record("/b", scope="trust")])

    assert [one.path for one in list_installed(Fixed())] == ["/a"]
