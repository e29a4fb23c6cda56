"""The resident process's own files: there as long as a guard needs them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from threading import Thread

from amplifier_hooks.coding_agents.installing.guard import (
    clear_runtime,
    list_installed,
    lock_runtime,
    prepare_runtime,
)
from amplifier_hooks.coding_agents.installing.places import find_settings
from amplifier_hooks.coding_agents.installing.record import Record, Records


def make_record(agent: str, root: Path, *, http: bool = False) -> Record:
    """Of a guard in a project, with an entry in its settings."""
    path = find_settings(agent, "project", root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"hooks": {"Stop": [{"hooks": [{"command": "x # amplifier-guest"}]}]}}')
    return Record(str(path), agent, "project", str(root), "", existed=False, mode=None, http=http)


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
    first = make_record("claude", home, http=True)
    records.save(first, None)
    records.save(make_record("gemini", home), None)
    folder, _ = prepare_runtime(http=True)
    assert not clear_runtime(records)
    assert "http" in read_launch(folder)
    records.forget(Path(first.path))
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


def test_only_settings_with_our_entries_count(home: Path) -> None:
    """Neither Codex's own file, nor those of a project that was deleted."""
    records = Records()
    there, gone = make_record("claude", home / "a"), make_record("claude", home / "b")
    trust = replace(there, path=str(home / "config.toml"), scope="trust")
    for one in (there, gone, trust):
        records.save(one, None)
    Path(gone.path).unlink()
    assert list_installed(records) == [there]
    Path(there.path).write_text("{,")
    assert list_installed(records) == [there]


def test_one_installs_after_the_other(home: Path) -> None:
    """Else one could remove what the other has just made."""
    order: list[str] = []

    def install() -> None:
        with lock_runtime():
            order.append("second")

    with lock_runtime():
        other = Thread(target=install)
        other.start()
        other.join(0.2)
        order.append("first")
    other.join()
    assert order == ["first", "second"]
