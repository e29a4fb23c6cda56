"""Saved sessions: found again by id, prefix or name, never half written."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import SessionStateError
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(state=st.dictionaries(st.text(), JSON, max_size=5), name=st.text(max_size=20))
def test_what_was_saved_comes_back(
    state: dict, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever JSON can hold, and the head that a list shows."""
    store = SessionStore(tmp_path_factory.mktemp("s"))
    store.save(SessionInfo("abc", name=name, turns=3), state)
    back = store.load("abc")
    assert back.state == state
    assert (back.info.name, back.info.turns) == (name, 3)


def test_a_session_is_read_by_its_whole_id(tmp_path: Path) -> None:
    """And no other is."""
    store = SessionStore(tmp_path)
    store.save(SessionInfo("abc", name="Mine"), {})
    assert (store.get("abc") or SessionInfo("")).name == "Mine"
    assert store.get("ab") is None


def test_what_the_bundle_held_comes_back(tmp_path: Path) -> None:
    """Without being shown in lists; a file of an older version has none."""
    store = SessionStore(tmp_path)
    store.save(SessionInfo("abc"), {}, {"outline": {"hooks": []}})
    assert store.load("abc").plan == {"outline": {"hooks": []}}
    store.save(SessionInfo("abc"), {})
    assert store.load("abc").plan == {}
    (tmp_path / "old.session").write_text('{"format": 1, "plan": 7}\n{}\n')
    assert store.load("old").plan == {}


def test_a_session_is_found_by_id_prefix_and_name(tmp_path: Path) -> None:
    """An ambiguous beginning is refused, and an unknown name gets the latest sessions."""
    store = SessionStore(tmp_path)
    store.save(SessionInfo("aa11", name="Fix the parser"), {})
    store.save(SessionInfo("aa22", name="Write docs"), {})
    assert store.find("aa11").id == store.find("fix the PARSER").id == "aa11"
    assert store.find("aa2").id == "aa22"
    with pytest.raises(SessionStateError, match="Several sessions begin with 'aa'"):
        store.find("aa")
    with pytest.raises(SessionStateError, match="No session 'zz'; the latest are: aa"):
        store.find("zz")


def test_sessions_of_one_name_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    """As much of an id as is needed."""
    store = SessionStore(tmp_path)
    for one in ("12345678-a", "session-1", "session-2"):
        store.save(SessionInfo(one, name="Go"), {})
    with pytest.raises(SessionStateError) as caught:
        store.find("zz")
    assert {"12345678 (Go)", "session-1 (Go)", "session-2 (Go)"} == set(
        str(caught.value).partition("are: ")[2].split(", ")
    )


@pytest.mark.parametrize("bad", ["", "../x", "a/b", ".hidden", "a\0b", "x" * 200, "é", "a\n"])
def test_an_id_that_is_no_file_name_is_refused(bad: str, tmp_path: Path) -> None:
    """Nothing is written outside the folder."""
    with pytest.raises(SessionStateError, match="is not a session id"):
        SessionStore(tmp_path / "s").save(SessionInfo(bad), {})
    assert not list(tmp_path.rglob("*x*"))


def test_saving_again_keeps_the_time_of_creation(tmp_path: Path) -> None:
    """It is set once; the time of the last update follows each save."""
    store = SessionStore(tmp_path)
    first = store.save(SessionInfo("a", created="2020-01-01T00:00:00+00:00"), {})
    again = store.save(SessionInfo("a"), {"n": 2})
    assert again.created == first.created
    assert again.updated > again.created


def test_sessions_are_private_and_listed_latest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the owner reads them."""
    store = SessionStore(tmp_path / "s")
    moments = iter(["2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01+00:00"])
    monkeypatch.setattr(
        "amplifier_hooks.agent.session.saved_sessions._format_now", lambda: next(moments)
    )
    store.save(SessionInfo("old", created="2025-12-31T00:00:00+00:00"), {})
    store.save(SessionInfo("new", created="2025-12-31T00:00:00+00:00"), {})
    assert [info.id for info in store.list()] == ["new", "old"]
    mode = stat.S_IMODE((tmp_path / "s" / "new.session").stat().st_mode)
    assert mode == 0o600


@pytest.mark.parametrize(
    "content", ["", "not json\n", "[]\n{}\n", '{"format": 99}\n{}\n', '{"format": 1}\n', "\udcff"]
)
def test_a_damaged_file_is_listed_and_explained(content: str, tmp_path: Path) -> None:
    """It cannot be resumed, but it can be seen and deleted."""
    store = SessionStore(tmp_path)
    (tmp_path / "bad.session").write_bytes(content.encode("utf-8", "surrogateescape"))
    assert [info.id for info in store.list()] == ["bad"]
    with pytest.raises(SessionStateError, match="cannot be resumed"):
        store.load("bad")
    assert store.delete("bad").id == "bad"
    assert store.list() == []


def test_an_empty_store_has_no_sessions(tmp_path: Path) -> None:
    """The folder need not exist."""
    assert SessionStore(tmp_path / "none").list() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a folder that nobody can write to")
def test_a_folder_that_cannot_be_written_is_one_sentence() -> None:
    """An error says what and why."""
    with pytest.raises(SessionStateError, match="cannot be saved"):
        SessionStore(Path("/proc/none")).save(SessionInfo("a"), {})


def test_a_kill_while_saving_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """Whenever the process dies, the file is whole."""
    store = SessionStore(tmp_path)
    store.save(SessionInfo("a"), {"n": -1})
    script = (
        "import sys; from pathlib import Path\n"
        "from amplifier_hooks.agent.session.saved_sessions import *\n"
        "s = SessionStore(Path(sys.argv[1])); n = 0\n"
        "while True:\n"
        "    s.save(SessionInfo('a'), {'n': n, 'x': 'y' * 100000}); n += 1\n"
        "    print(n, flush=True)\n"
    )
    for pause in (0.0, 0.003, 0.011):
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE
        )
        with child:
            child.stdout.readline()  # it is at work
            time.sleep(pause)
            child.kill()
        assert store.load("a").state["n"] >= 0
    assert [info.id for info in store.list()] == ["a"]
