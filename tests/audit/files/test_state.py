"""How far a writer has acknowledged: two slots, written in turn."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.record import Head
from amplifier_audit.state import SLOT, State, StateFile, read_state
from tests.audit.support import feed_lines, make_lines

HEAD = feed_lines(make_lines(7)).head
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def write_states(path: Path, *offsets: int) -> None:
    file = StateFile(path)
    for offset in offsets:
        file.write(State("ab", 0, offset, Head()))
    file.sync()
    file.close()


def read_offset(path: Path) -> int | None:
    state = read_state(path)
    return state.offset if state else None


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    """All of it: log, segment, byte, head and checkpoint."""
    state = State("ab", 3, 4711, HEAD, "a checkpoint\n")
    file = StateFile(tmp_path / "state")
    file.write(state)
    assert read_state(tmp_path / "state") == state
    file.close()


def test_a_state_survives_a_torn_slot(tmp_path: Path) -> None:
    """A slot that was torn fails its checksum, and the one before it still stands."""
    write_states(tmp_path / "state", 0, 1, 2)
    assert read_offset(tmp_path / "state") == 2
    content = bytearray((tmp_path / "state").read_bytes())
    content[SLOT + 100] ^= 1
    (tmp_path / "state").write_bytes(content)
    assert read_offset(tmp_path / "state") == 1


def test_each_byte_of_the_newest_slot_counts(tmp_path: Path) -> None:
    """Wherever it is torn or changed, the older one is used."""
    path = tmp_path / "state"
    write_states(path, 1, 2)
    content = path.read_bytes()
    used = len(content[:SLOT].rstrip(b"\0"))
    for place in range(0, used, 7):
        damaged = bytearray(content)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        assert read_offset(path) == 1
    path.write_bytes(content)
    assert read_offset(path) == 2


def test_a_writer_that_comes_later_writes_over_the_older_slot(tmp_path: Path) -> None:
    """It goes on counting where the one before it stopped."""
    path = tmp_path / "state"
    write_states(path, 1, 2, 3)
    write_states(path, 4)
    assert read_offset(path) == 4
    newest = path.read_bytes()[:SLOT]
    path.write_bytes(b"x" * SLOT + path.read_bytes()[SLOT:])
    assert b'"offset": 4' in newest
    assert read_offset(path) == 3


def test_a_file_that_is_no_state_or_not_there_is_none(tmp_path: Path) -> None:
    """Then nobody knows what was acknowledged."""
    (tmp_path / "state").write_bytes(b"nonsense")
    assert read_state(tmp_path / "state") is None
    assert read_state(tmp_path / "none") is None
    assert read_state(tmp_path) is None


@pytest.mark.parametrize("text", [b"[]", b"{}", b'{"counter":1e999}', b"x", b'{"counter":1}'])
def test_a_slot_whose_checksum_is_right_may_still_be_no_state(tmp_path: Path, text: bytes) -> None:
    """Whoever forges one does not break the writer with it."""
    slot = hashlib.sha256(text).hexdigest().encode() + b" " + text + b"\n"
    (tmp_path / "state").write_bytes(slot.ljust(SLOT, b"\0"))
    assert read_state(tmp_path / "state") is None


def test_the_largest_state_fits_into_its_slot(tmp_path: Path) -> None:
    """The head of a log of any size, with a signed checkpoint."""
    size = 2**53 - 1
    head = Head(size, "f" * 64, (b"\xff" * 32,) * size.bit_count())
    state = State("f" * 32, 10**8, 2**53, head, "x" * 300)
    file = StateFile(tmp_path / "state")
    file.write(state)
    file.write(state)
    file.close()
    assert (tmp_path / "state").stat().st_size == 2 * SLOT
    assert read_state(tmp_path / "state") == state


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"log": "a"},
        {"head": {}},
        5,
        {"log": "a", "segment": float("inf"), "offset": 0, "head": HEAD.to_dict()},
        {"log": "a", "segment": 0, "offset": 0, "head": {"size": float("inf")}},
    ],
)
def test_what_is_no_saved_position_is_refused(data: Any) -> None:
    """Bad JSON of any shape is one ValueError."""
    with pytest.raises(ValueError):
        State.from_dict(data)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "log": JSON,
            "segment": JSON,
            "offset": JSON,
            "head": st.just(HEAD.to_dict()) | JSON,
            "checkpoint": JSON,
        },
    )
    | JSON
)
def test_any_json_is_a_position_or_a_value_error(data: Any) -> None:
    """No other exception escapes, and what passes can be written again."""
    try:
        state = State.from_dict(data)
    except ValueError:
        return
    assert State.from_dict(json.loads(json.dumps(state.to_dict()))) == state


def test_a_name_is_kept_where_there_is_one() -> None:
    """A position that an auditor saved has one; the state of a writer need not."""
    state = State("ab", 0, 5, Head())
    assert "name" not in state.to_dict()
    named = State("ab", 0, 5, Head(), name="ann")
    assert State.from_dict(named.to_dict()) == named


def test_a_state_lies_where_earlier_versions_wrote_it(tmp_path: Path) -> None:
    """The first slot is 8 KiB long, so the second one begins there."""
    text = json.dumps({"counter": 7, **State("ab", 0, 42, Head()).to_dict()}).encode()
    slot = hashlib.sha256(text).hexdigest().encode() + b" " + text + b"\n"
    (tmp_path / "state").write_bytes(bytes(8192) + slot)
    assert read_offset(tmp_path / "state") == 42


def test_nobody_else_may_read_or_write_a_state(tmp_path: Path) -> None:
    """Whatever the umask."""
    before = os.umask(0)
    try:
        write_states(tmp_path / "state", 1)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o600


def test_the_descriptor_is_that_of_the_file_that_is_written(tmp_path: Path) -> None:
    """A file that somebody puts under the same name afterwards is another one."""
    path = tmp_path / "state"
    file = StateFile(path)
    path.rename(tmp_path / "moved")
    path.touch()
    assert os.path.samestat(os.fstat(file.descriptor), (tmp_path / "moved").stat())
    file.close()
