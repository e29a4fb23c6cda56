"""hooks-backup: what is copied, kept, pruned and put back."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.backup import (
    FILE,
    MOST,
    Backup,
    BackupError,
    Limits,
    find_surplus,
    list_backups,
    list_restorations,
    locate_store,
    note_restoration,
    restore,
)
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS
from tests.support.harness import Harness, finish


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "secret").write_text("secret")
    return (tmp_path / "work").resolve()


@pytest.fixture(autouse=True)
def data_home(tmp_path, monkeypatch):
    """Copies go into the data of this test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def kept(work, data_home):
    return locate_store(work)


@pytest.fixture
async def before(work):
    """Emits tool:pre for a tool and a path; answers with the result."""
    harness = Harness(work, session_id="s-1")
    unmount = None

    async def emit(path, tool="Write", config=None):
        nonlocal unmount
        if unmount is None or config is not None:
            await finish(unmount)
            unmount = await harness.mount("backup", config)
        return await harness.answer(tool, {"file_path": str(path), "content": "new"})

    yield emit
    await finish(unmount)


async def test_roots_may_lie_elsewhere(before, work, kept, tmp_path):
    """Option `roots`."""
    result = await before("../secret", config={"roots": [".", str(tmp_path)]})
    assert result.user_message is None
    assert [made.path for made in list_backups(kept)] == [str(tmp_path.resolve() / "secret")]


async def test_options_are_checked(work):
    """One line that names the key and the value."""
    with pytest.raises(ModuleLoadError, match="hooks-backup: option 'max_count' cannot be 0"):
        await Harness(work).mount("backup", {"max_count": 0})


async def test_the_directory_may_be_called_as_modules_of_the_ecosystem_call_it(before, work):
    """Option `backup_dir`."""
    (work / "file").write_text("old")
    await before("file", config={"backup_dir": "copies"})
    assert len(list_backups(work / "copies")) == 1


async def test_the_directory_may_lie_in_the_project(before, work):
    """Option `directory`, from the working directory."""
    (work / "file").write_text("old")
    await before("file", config={"directory": ".amplifier/backups"})
    assert len(list_backups(work / ".amplifier" / "backups")) == 1


@pytest.mark.parametrize("tool", sorted(EDITING_TOOLS))
async def test_a_file_is_copied_before_it_is_overwritten(before, work, kept, tool):
    """Whichever tool overwrites it."""
    (work / "a.py").write_bytes(b"old\r\n\xff")
    (work / "a.py").chmod(0o751)
    result = await before("a.py", tool)
    assert result.action == "continue"
    assert result.user_message is None
    [made] = list_backups(kept)
    assert (made.path, made.size, made.mode, made.tool) == (str(work / "a.py"), 6, 0o751, tool)
    assert made.session_id == "s-1"
    assert (kept / made.id / "content").read_bytes() == b"old\r\n\xff"


@pytest.mark.parametrize(
    ("path", "tool"),
    [("new.py", "Write"), ("a", "Read"), ("a", "Bash"), ("", "Write"), ("a\0", "Write")],
)
async def test_what_overwrites_nothing_is_no_concern(before, work, kept, path, tool):
    """New files, other tools and paths that the tool will refuse are passed over in silence."""
    (work / "a").write_text("old")
    result = await before(path, tool)
    assert result.action == "continue"
    assert result.user_message is None
    assert list_backups(kept) == []


async def test_odd_calls_pass(work):
    """Whatever is in the event, the call goes on."""
    harness = Harness(work)
    unmount = await harness.mount("backup")
    for data in (
        {},
        {"tool_name": "Write"},
        {"tool_name": "Write", "tool_input": {"file_path": 7}},
    ):
        assert (await harness.hooks.emit("tool:pre", data)).action == "continue"
    await finish(unmount)
    assert harness.hooks.list_handlers() == {}


@pytest.mark.parametrize(
    ("prepare", "path", "config", "word"),
    [
        (lambda work: (work / "a").write_text("x" * 50), "a", {"max_file_bytes": 10}, "50 bytes"),
        (lambda work: (work / "a").mkdir(), "a", {}, "not an ordinary file"),
        (lambda work: os.mkfifo(work / "a"), "a", {}, "not an ordinary file"),
        (lambda work: (work / "a").symlink_to("../secret"), "a", {}, "outside"),
        (lambda work: None, "../secret", {}, "outside"),
        (lambda work: (work / "a").write_text("x"), "a", {"directory": "a/b"}, "a"),
        (lambda work: (work / "kept").symlink_to(".."), "b", {"directory": "kept"}, "leads out"),
    ],
)
async def test_a_copy_that_cannot_be_made_is_said_and_blocks_nothing(
    before, work, prepare, path, config, word
):
    """Never blocks the call, and says so when a backup could not be made."""
    (work / "b").write_text("old")
    prepare(work)
    result = await asyncio.wait_for(before(path, config=config), 10)
    assert result.action == "continue"
    assert result.user_message_level == "warning"
    assert result.user_message.startswith("No backup of ")
    assert word in result.user_message
    assert not list(work.parent.glob("*/*T*Z-*"))


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
