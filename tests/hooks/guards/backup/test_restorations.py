"""Restorations: what people have put back is remembered."""

from __future__ import annotations

from datetime import UTC, datetime

from amplifier_hooks.guards.backup import list_backups, list_restorations, restore
from amplifier_hooks.guards.backup.restorations import FILE, MOST, note_restoration


async def test_a_copy_that_is_put_back_leaves_a_note(before, work, kept, monkeypatch):
    """With the file and the time since which changes to it are undone."""
    monkeypatch.chdir(work)
    (work / "a").write_text("old")
    await before("a")
    (work / "a").write_text("new")
    [made] = list_backups(kept)
    restore(kept, made.id)
    (note,) = list_restorations(kept)
    assert (note.path, note.backup) == (str(work / "a"), made.id)
    begin, end = note.span
    assert begin == made.created <= end


async def test_a_copy_that_goes_elsewhere_undoes_nothing(before, work, kept, tmp_path):
    """The file itself is as it was."""
    (work / "a").write_text("old")
    await before("a")
    restore(kept, list_backups(kept)[0].id, to=tmp_path / "b")
    assert list_restorations(kept) == []


def test_unreadable_notes_are_left_out_and_old_ones_forgotten(tmp_path):
    """Somebody may have written there."""
    times = '"since": "2026-11-17T09:00:00", "time": "x"'
    bad = f'no json\n[]\n{{"path": 1}}\n{{"path": "a", "backup": "b", "session_id": "", {times}}}\n'
    (tmp_path / FILE).write_text(bad)
    assert list_restorations(tmp_path) == []
    assert list_restorations(tmp_path / "nowhere") == []
    line = '{"path": "a", "since": "2026-11-17T09:00:00Z", "time": "2026-11-17T09:00:00Z", '
    (tmp_path / FILE).write_text(f'{line}"backup": "b", "session_id": ""}}\n' * MOST)
    note_restoration(tmp_path, "new", "b", datetime.now(UTC), "s")
    found = list_restorations(tmp_path)
    assert (len(found), found[-1].path) == (MOST, "new")
