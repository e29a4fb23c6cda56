"""Settings files on disk: replaced as a whole, through links, with their mode."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing import settings_file
from amplifier_hooks.coding_agents.installing.settings_file import (
    SettingsError,
    delete_settings,
    list_missing_folders,
    read_settings,
    remove_folders,
    write_settings,
)


def test_a_missing_file_reads_as_nothing(tmp_path: Path) -> None:
    """It is made when it is written, with the folders it needs."""
    path = tmp_path / "a" / "b" / "settings.json"
    file = read_settings(path)
    assert (file.content, file.text) == (None, "")
    assert list_missing_folders(file.target) == [tmp_path / "a", tmp_path / "a" / "b"]
    write_settings(file, b"{}", None)
    assert path.read_bytes() == b"{}"


def test_the_mode_is_the_one_that_is_given(tmp_path: Path) -> None:
    """Exactly."""
    path = tmp_path / "s.json"
    path.write_text("{}")
    path.chmod(0o640)
    file = read_settings(path)
    assert file.mode == 0o640
    write_settings(file, b"[]", file.mode)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """What it points to is replaced: people keep their settings in a repository."""
    real = tmp_path / "dotfiles" / "s.json"
    real.parent.mkdir()
    real.write_text("{}")
    link = tmp_path / "s.json"
    link.symlink_to(real)
    write_settings(read_settings(link), b"[]", 0o600)
    assert link.is_symlink()
    assert real.read_bytes() == b"[]"


def test_the_first_mark_of_some_editors_stays() -> None:
    """It is not part of the text."""
    path = Path("/nowhere")
    file = read_settings(path)
    marked = type(file)(path, path, b"\xef\xbb\xbf{}", None)
    assert marked.text == "{}"
    assert marked.encode("[]") == b"\xef\xbb\xbf[]"
    assert file.encode("[]") == b"[]"


def test_what_is_not_text_is_refused_with_its_line(tmp_path: Path) -> None:
    """Other encodings cannot be edited."""
    path = tmp_path / "s.json"
    path.write_bytes(b"{\n\xff}")
    with pytest.raises(SettingsError, match="line 2: this is not UTF-8"):
        _ = read_settings(path).text


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A folder, a device, or a file in the place of a folder."""
    with pytest.raises(SettingsError, match="not a regular file"):
        read_settings(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings(tmp_path / "file" / "s.json")


def test_a_file_that_cannot_be_settings_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its size."""
    monkeypatch.setattr(settings_file, "_LARGEST", 10)
    path = tmp_path / "s.json"
    path.write_text(" " * 10)
    assert read_settings(path).text == " " * 10
    path.write_text(" " * 11)
    with pytest.raises(SettingsError, match="has 11 bytes"):
        read_settings(path)


@pytest.mark.parametrize("act", ["write", "delete"])
def test_a_change_meanwhile_is_not_overwritten(tmp_path: Path, act: str) -> None:
    """Agents write their settings themselves."""
    path = tmp_path / "s.json"
    path.write_text("{}")
    file = read_settings(path)
    path.write_text('{"new": 1}')
    with pytest.raises(SettingsError, match="changed by somebody else"):
        write_settings(file, b"[]", None) if act == "write" else delete_settings(file)
    assert path.read_text() == '{"new": 1}'


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make /proc the place")
def test_a_failed_write_is_a_sentence() -> None:
    """With the path and the reason."""
    with pytest.raises(SettingsError, match=r"cannot be written: .*; nothing was changed"):
        write_settings(read_settings(Path("/proc/no/s.json")), b"", None)


def test_only_empty_folders_are_removed(tmp_path: Path) -> None:
    """From the inside."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "kept").touch()
    remove_folders([tmp_path / "a", inner])
    assert (tmp_path / "a").is_dir()
    assert not inner.exists()


def test_a_file_can_be_deleted(tmp_path: Path) -> None:
    """If it is as it was read."""
    path = tmp_path / "s.json"
    path.touch()
    delete_settings(read_settings(path))
    assert not path.exists()
