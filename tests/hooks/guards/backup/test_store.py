"""Copies of files: kept within limits, found again, put back."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.backup import (
    Backup,
    BackupError,
    Limits,
    find_surplus,
    list_backups,
    locate_store,
    restore,
)


async def test_copies_are_private_and_not_committed(before, work, kept):
    """Only the owner reads them, and git does not see them."""
    (work / "a").write_text("old")
    await before("a")
    [made] = list_backups(kept)
    assert stat.S_IMODE((kept / made.id).stat().st_mode) == 0o700
    assert stat.S_IMODE((kept / made.id / "content").stat().st_mode) == 0o600
    assert (kept / ".gitignore").read_text() == "*\n"


async def test_the_same_content_is_not_copied_twice_in_a_row(before, work, kept):
    """Ten calls on an unchanged file are one copy; a changed one is another."""
    (work / "a").write_text("old")
    await asyncio.gather(*(before("a") for _ in range(10)))
    assert len(list_backups(kept)) == 1
    (work / "a").write_text("newer")
    await before("a")
    (work / "a").write_text("old")
    await before("a")
    assert [made.size for made in list_backups(kept)] == [3, 5, 3]


@pytest.mark.parametrize(
    ("config", "left"), [({"max_count": 3}, 3), ({"max_bytes": 25}, 2), ({"max_age_days": 1e-9}, 0)]
)
async def test_the_oldest_go_when_it_is_too_much(before, work, kept, config, left):
    """Bounded by count, size and age."""
    for number in range(6):
        (work / "a").write_text(f"content {number}!")
        await before("a", config=config)
    found = list_backups(kept)
    assert len(found) == left
    contents = [(kept / made.id / "content").read_text() for made in found]
    assert contents == [f"content {5 - number}!" for number in range(left)]


NOW = datetime(2026, 11, 15, tzinfo=UTC)


def made_at(age: timedelta, size: int) -> Backup:
    name = (NOW - age).strftime("%Y%m%dT%H%M%S.%fZ") + "-00000000"
    return Backup(name, "/a", size, "", 0o600, "Write", "")


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 50)), max_size=20),
    st.integers(1, 10),
    st.integers(1, 200),
)
def test_what_stays_is_within_the_limits_and_newest(facts, count, size):
    """What is left keeps every limit, and what went is older than all of it."""
    ordered = [made_at(timedelta(days=age), bytes_) for age, bytes_ in sorted(facts)]
    limits = Limits(max_count=count, max_bytes=size, max_age_days=30)
    gone = find_surplus(ordered, limits, NOW)
    stay = ordered[: len(ordered) - len(gone)]
    assert stay + gone == ordered
    assert len(stay) <= count
    assert sum(one.size for one in stay) <= size
    assert all(NOW - one.created <= timedelta(days=30) for one in stay)
    if gone:
        more = [*stay, gone[0]]
        over = len(more) > count or sum(one.size for one in more) > size
        assert over or NOW - gone[0].created > timedelta(days=30)


async def test_a_copy_can_be_put_back_and_that_can_be_undone(before, work, kept):
    """restore puts the file back as it was; what stood there is copied first."""
    path = work / "a.sh"
    path.write_text("old")
    path.chmod(0o750)
    await before("a.sh")
    path.write_text("new")
    path.chmod(0o600)
    [made] = list_backups(kept)
    assert restore(kept, made.id, within=work) == path
    assert path.read_text() == "old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    undo = list_backups(kept)[0]
    assert undo.tool == "restore"
    restore(kept, undo.id)
    assert path.read_text() == "new"


async def test_a_deleted_file_comes_back_with_its_directory(before, work, kept):
    """Also when nothing of it is left."""
    (work / "sub").mkdir()
    (work / "sub" / "a").write_text("old")
    await before("sub/a")
    (work / "sub" / "a").unlink()
    (work / "sub").rmdir()
    restore(kept, list_backups(kept)[0].id)
    assert (work / "sub" / "a").read_text() == "old"


async def test_forged_facts_do_not_lead_out(before, work, kept, tmp_path):
    """The facts lie where an agent may write, so the place they name must be inside."""
    (work / "a").write_text("evil")
    await before("a")
    [made] = list_backups(kept)
    facts = kept / made.id / "backup.json"
    facts.write_text(
        json.dumps({**json.loads(facts.read_text()), "path": str(tmp_path / "secret")})
    )
    with pytest.raises(BackupError, match="is outside"):
        restore(kept, made.id, within=work)
    assert (tmp_path / "secret").read_text() == "secret"
    assert restore(kept, made.id, to=work / "b", within=work).read_text() == "evil"


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".claude/settings.json"])
async def test_forged_facts_restore_nothing_that_runs_programs(before, work, kept, path):
    """Where tools do not write, a copy goes only when a person says so."""
    (work / "a").write_text("evil")
    await before("a")
    [made] = list_backups(kept)
    facts = kept / made.id / "backup.json"
    facts.write_text(json.dumps({**json.loads(facts.read_text()), "path": str(work / path)}))
    with pytest.raises(BackupError, match="can make programs run"):
        restore(kept, made.id, within=work)
    assert not (work / path).exists()


def test_copies_lie_in_our_data_and_each_project_has_its_own(tmp_path, data_home):
    """Out of reach of the agent whose edits they undo."""
    one, other = locate_store(tmp_path / "a"), locate_store(tmp_path / "b")
    assert one != other
    assert one.parent == other.parent == data_home / "amplifier" / "backups"


async def test_damage_is_noticed(before, work, kept):
    """A copy that is not what was copied is not put back."""
    (work / "a").write_text("old")
    await before("a")
    [made] = list_backups(kept)
    (kept / made.id / "content").write_text("odd")
    with pytest.raises(BackupError, match="damaged"):
        restore(kept, made.id)
    (kept / made.id / "content").unlink()
    os.mkfifo(kept / made.id / "content")
    with pytest.raises(BackupError, match="cannot be read"):
        restore(kept, made.id)
    assert (work / "a").read_text() == "old"


@pytest.mark.parametrize(
    "facts", ["", "[]", "{}", "{", "null", '{"path": 3}', "[" * 100_000, '{"path": "a", "zzz": 1}']
)
async def test_what_is_no_backup_is_left_out_of_the_list(before, work, kept, facts):
    """Rubbish in the directory harms nothing."""
    (work / "a").write_text("old")
    await before("a")
    odd = kept / "20261115T000000.000000Z-00000000"
    odd.mkdir()
    (odd / "backup.json").write_text(facts)
    (kept / "99999999T999999.999999Z-00000000").mkdir()
    (kept / "notes.txt").touch()
    assert len(list_backups(kept)) == 1
    assert list_backups(work / "nowhere") == []


def test_an_unclear_id_is_said(kept):
    """No backup, or too many, of that beginning."""
    for name in ("20261115T000000.000000Z-00000000", "20261115T000001.000000Z-00000000"):
        (kept / name).mkdir(parents=True)
        facts = {"path": "/a", "size": 0, "sha256": "", "mode": 0, "tool": "", "session_id": ""}
        (kept / name / "backup.json").write_text(json.dumps({"id": name, **facts}))
    with pytest.raises(BackupError, match="2 backups begin with '2026'"):
        restore(kept, "2026")
    for unknown in ("1999", ""):
        with pytest.raises(BackupError, match="No backup"):
            restore(kept, unknown)
