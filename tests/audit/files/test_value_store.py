"""The side store: values behind their commitments, until they are redacted."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.errors import AuditError
from amplifier_audit.own_records import ValueRedacted
from amplifier_audit.value_store import LABEL, StoredValue, ValueStore, make_commitment
from tests.audit.support import read_all_files

SALT = bytes(16)


def make_value(text: bytes) -> StoredValue:
    return StoredValue(make_commitment(SALT, text), SALT, "text/plain", text)


@pytest.fixture
def store(tmp_path: Path):
    store = ValueStore(tmp_path / "values.db")
    yield store
    store.close()


def test_a_commitment_is_a_salted_hash_under_a_label() -> None:
    """Anybody who is shown value and salt can compute it."""
    digest = hashlib.sha256(LABEL + b"salt" + b"value").digest()
    text = make_commitment(b"salt", b"value")
    assert base64.urlsafe_b64decode(text + "=") == digest


@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
def test_only_the_committed_value_is_genuine(salt: bytes, value: bytes, other: bytes) -> None:
    """Another value, or another salt, does not open the commitment."""
    commitment = make_commitment(salt, value)
    assert StoredValue(commitment, salt, "t", value).is_genuine()
    assert StoredValue(commitment, salt, "t", other).is_genuine() == (other == value)
    if other != salt:
        assert make_commitment(other, value) != commitment or other + value == salt + value


def test_values_are_found_by_their_commitments(store: ValueStore) -> None:
    """As they were stored, also when a crash made the writer store them twice."""
    one, two = make_value(b"one"), make_value(b"two")
    store.add([one, two])
    store.add([one])
    assert store.get(one.commitment) == one
    assert store.get(two.commitment) == two
    assert store.get("nothing") is None


def test_a_value_that_was_deleted_is_gone_once_and_for_all(store: ValueStore) -> None:
    """Deleting tells whether there was something."""
    one, two = make_value(b"one"), make_value(b"two")
    store.add([one, two])
    assert store.delete(one.commitment)
    assert not store.delete(one.commitment)
    assert store.get(one.commitment) is None
    assert store.get(two.commitment) == two


def test_no_file_holds_a_value_that_was_deleted(tmp_path: Path, store: ValueStore) -> None:
    """Its bytes are overwritten, in the store and in its journal."""
    secrets = [make_value(b"secret number %d " % number * 40) for number in range(50)]
    store.add(secrets)
    assert b"secret number 7" in read_all_files(tmp_path)
    for one in secrets:
        store.delete(one.commitment)
    assert b"secret number" not in read_all_files(tmp_path)


def test_a_redaction_is_unfinished_until_the_value_is_deleted(tmp_path: Path) -> None:
    """Also when the process ended in between."""
    one = make_value(b"one")
    order = ValueRedacted(commitment=one.commitment, by="ann", reason="privacy")
    store = ValueStore(tmp_path / "values.db")
    store.add([one])
    store.begin_redaction(order)
    store.begin_redaction(order)
    store.close()
    store = ValueStore(tmp_path / "values.db")
    assert store.list_unfinished_redactions() == [order]
    store.delete(one.commitment)
    assert store.list_unfinished_redactions() == []
    store.close()


def test_a_new_store_is_for_its_owner_only(tmp_path: Path) -> None:
    """From its first moment, whatever the umask."""
    ValueStore(tmp_path / "values.db").close()
    assert stat.S_IMODE((tmp_path / "values.db").stat().st_mode) == 0o600


def test_looking_into_a_store_changes_nothing_of_it(tmp_path: Path) -> None:
    """It may be evidence."""
    path = tmp_path / "values.db"
    store = ValueStore(path)
    store.add([make_value(b"one")])
    store.close()
    path.chmod(0o440)
    before = path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns
    store = ValueStore(path)
    assert store.get(make_value(b"one").commitment) is not None
    store.close()
    assert (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns) == before


@pytest.mark.parametrize("case", ["no folder", "a folder", "not a database"])
def test_a_store_that_cannot_be_opened_is_one_sentence(tmp_path: Path, case: str) -> None:
    """Whatever stands in its place."""
    path = tmp_path / "values.db"
    if case == "no folder":
        path = tmp_path / "no" / "values.db"
    elif case == "a folder":
        path.mkdir()
    else:
        path.write_bytes(b"this is not a database, for sure" * 100)
    with pytest.raises(AuditError, match="Cannot open the side store"):
        ValueStore(path)


def test_a_store_that_takes_nothing_fails_as_a_disk_does(tmp_path: Path, store: ValueStore) -> None:
    """The log knows how to end on an error of the operating system."""
    blocker = sqlite3.connect(tmp_path / "values.db", isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    store._db.execute("PRAGMA busy_timeout = 1")
    with pytest.raises(OSError, match="side store: database is locked"):
        store.add([make_value(b"one")])
    blocker.rollback()
    blocker.close()
    store.add([make_value(b"one")])


def test_a_batch_that_fails_leaves_nothing_behind(store: ValueStore) -> None:
    """All of its values are there, or none."""
    one = make_value(b"one")
    odd = StoredValue("x", SALT, "t", object())  # type: ignore[arg-type]
    with pytest.raises(OSError, match="side store"):
        store.add([one, odd])
    assert store.get(one.commitment) is None
    with pytest.raises(AttributeError):
        store.add([one, None])  # type: ignore[list-item]
    store.add([one])
    assert store.get(one.commitment) == one


def test_a_store_that_is_damaged_inside_is_one_sentence(tmp_path: Path) -> None:
    """A reader who asks for a value is told, and does not see a traceback."""
    path = tmp_path / "values.db"
    store = ValueStore(path)
    store.add([make_value(b"%d " % number * 500) for number in range(200)])
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    store = ValueStore(path)
    with pytest.raises(AuditError, match="Cannot read the side store"):
        store.get(make_value(b"1 " * 500).commitment)
    store.close()
