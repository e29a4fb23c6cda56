"""Values from the side store, put back in the places of their commitments."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import anchor_to_file, read_checkpoints, verify
from amplifier_audit.checkpoint import Note
from amplifier_audit.errors import AuditError
from amplifier_audit.log import AuditLog
from amplifier_audit.log_directory import open_log
from amplifier_audit.reader import read_records
from amplifier_audit.record import Record
from amplifier_audit.report import describe_report, find_exit_code
from amplifier_audit.settings import AuditSettings
from amplifier_audit.value_store import StoredValue, ValueStore, make_commitment, reveal
from tests.audit.support import count_open_files, first_segment, read_bodies

SALT = bytes(16)


def keep(path: Path, *values: bytes) -> list[dict[str, Any]]:
    """Store values; what stands for them in a line."""
    rows = [StoredValue(make_commitment(SALT, one), SALT, "t", one) for one in values]
    store = ValueStore(path)
    store.add(rows)
    store.close()
    return [{"$commitment": row.commitment, "media_type": "t"} for row in rows]


def make_record(body: dict[str, Any]) -> Record:
    return {"type": "dispatch", "body": body}


def reveal_body(body: dict[str, Any], path: Path | None) -> Any:
    (record,) = reveal([make_record(body)], path)
    return record["body"]


async def test_values_are_kept_aside_and_revealed(tmp_path: Path) -> None:
    """The lines do not hold what people wrote, and the side store gives it back."""
    log = await AuditLog.open(tmp_path, AuditSettings(values="committed"))
    secret = "hunter2 is the password"
    body = {"tool": "Bash", "input": {"command": secret}, "hooks": [{"prompt": secret}], "text": ""}
    await log.commit(log.append("tool_started", body))
    await log.commit(log.append("tool_started", body))
    await log.close()
    assert secret.encode() not in first_segment(tmp_path).read_bytes()
    one, two = read_bodies(tmp_path, "tool_started")
    assert (one["tool"], one["text"]) == ("Bash", "")
    assert one["input"]["$commitment"] != two["input"]["$commitment"]
    assert one["hooks"][0]["prompt"]["media_type"] == "text/plain"
    found = list(reveal(read_records(open_log(tmp_path)), tmp_path / "values.db"))
    assert [r["body"] for r in found if r["type"] == "tool_started"] == [body, body]


def test_a_value_is_filled_in_wherever_it_stands(tmp_path: Path) -> None:
    """In lists and objects at any depth; all else stays."""
    one, two = keep(tmp_path / "values.db", b'{"a":1}', b'"text"')
    body = {"x": [one, {"y": two}], "n": 5, "$commitment": 7}
    shown = {"x": [{"a": 1}, {"y": "text"}], "n": 5, "$commitment": 7}
    assert reveal_body(body, tmp_path / "values.db") == shown


def test_the_store_is_closed_when_nobody_reads_on(tmp_path: Path) -> None:
    """At the end, and when a reader stops in the middle."""
    keep(tmp_path / "values.db", b"1")
    before = count_open_files()
    records = reveal([make_record({}), make_record({})], tmp_path / "values.db")
    next(records)
    assert count_open_files() > before
    records.close()  # type: ignore[attr-defined]
    assert count_open_files() == before


def test_a_value_that_is_gone_or_false_is_said_to_be_missing(tmp_path: Path) -> None:
    """A store in which somebody changed a value does not pass for the truth."""
    path = tmp_path / "values.db"
    (one,) = keep(path, b"1")
    assert reveal_body({"x": one}, path) == {"x": 1}
    for forged in ("x'32'", "'1'", "1"):
        store = ValueStore(path)
        store._db.execute(f"UPDATE kept SET value = {forged}")
        store.close()
        assert reveal_body({"x": one}, path) == {"x": {**one, "missing": True}}
    unknown = {"$commitment": "nothing"}
    assert reveal_body({"x": unknown}, path) == {"x": {**unknown, "missing": True}}


def test_a_genuine_value_that_is_no_json_is_not_shown(tmp_path: Path) -> None:
    """Line and store may both be forged; nobody sees a traceback."""
    (one,) = keep(tmp_path / "values.db", b"{not json")
    assert reveal_body({"x": one}, tmp_path / "values.db") == {"x": {**one, "missing": True}}


def test_a_record_that_is_nested_too_deep_is_shown_as_it_is(tmp_path: Path) -> None:
    """No writer nests like that."""
    keep(tmp_path / "values.db", b"1")
    body: Any = 1
    for _ in range(5000):
        body = [body]
    assert reveal_body({"x": body}, tmp_path / "values.db")["x"] is body


def test_without_a_store_nothing_is_made(tmp_path: Path) -> None:
    """A segment alone is shown as it is; of a log whose store is gone, the values are missing."""
    body = {"x": {"$commitment": "abc"}, "y": "inline"}
    assert reveal_body(body, None) == body
    lost = {"x": {"$commitment": "abc", "missing": True}, "y": "inline"}
    assert reveal_body(body, tmp_path / "values.db") == lost
    assert not (tmp_path / "values.db").exists()


def test_a_store_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    """Before the first record."""
    (tmp_path / "values.db").write_bytes(b"this is not a database, for sure" * 100)
    with pytest.raises(AuditError, match="side store"):
        next(reveal([make_record({})], tmp_path / "values.db"))


async def write_committed(folder: Path, *, redact: bool = False) -> tuple[Path, list[Note]]:
    """A trail with two values behind commitments, of which one may be redacted, and its anchors."""
    place = folder / "log"
    settings = AuditSettings(values="committed")
    log = await AuditLog.open(place, settings, anchors=(anchor_to_file(folder / "anchor"),))
    for text in ("first value", "second value"):
        await log.commit(log.append("tool_started", {"tool": "Bash", "input": text}))
    if redact:
        commitment = read_bodies(place, "tool_started")[0]["input"]["$commitment"]
        await log.redact(commitment, by="ann", reason="asked to")
    await log.close()
    return place, read_checkpoints(folder / "anchor")


def change_values(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "values.db", isolation_level=None)) as database:
        database.execute(statement)


@pytest.mark.parametrize("redact", [False, True])
async def test_a_trail_with_all_its_values_is_proven(tmp_path: Path, redact: bool) -> None:
    """Also if one of them was redacted, which a record says."""
    log, anchors = await write_committed(tmp_path, redact=redact)
    assert verify(log, anchors=anchors).verdict == "proven"


CHANGES = {
    "DELETE FROM kept": "is not there",
    "UPDATE kept SET value = CAST('\"other value\"' AS BLOB)": "is another one",
    "UPDATE kept SET salt = x'00'": "is another one",
    "DROP TABLE kept": "is not there",
    "": "is not there",
}


@pytest.mark.parametrize("statement", CHANGES)
async def test_a_value_that_was_deleted_by_hand_is_found(tmp_path: Path, statement: str) -> None:
    """Or replaced, or all of them with their store; the verdict has a word of its own."""
    log, anchors = await write_committed(tmp_path, redact=True)
    if statement:
        change_values(log, statement)
    else:
        (log / "values.db").unlink()
    report = verify(log, anchors=anchors)
    assert (report.verdict, find_exit_code(report)) == ("consistent", 3)
    assert report.finding is not None
    assert report.finding.kind == "missing value"
    assert CHANGES[statement] in report.finding.message
    assert next(describe_report(report)).startswith("INCOMPLETE: values are missing or replaced")
    shown = [
        one["body"]["input"]
        for one in reveal(read_records(open_log(log)), log / "values.db")
        if one["type"] == "tool_started"
    ]
    assert [one.get("redacted", False) for one in shown] == [True, False]
    assert [one.get("missing", False) for one in shown] == [False, True]


async def test_a_redaction_that_is_not_proven_does_not_count(tmp_path: Path) -> None:
    """Anybody who can write the files may have appended its record."""
    log, anchors = await write_committed(tmp_path)
    again = await AuditLog.open(log, AuditSettings(values="committed"))
    commitment = read_bodies(log, "tool_started")[0]["input"]["$commitment"]
    await again.redact(commitment, by="mallory", reason="none")
    await again.close()
    report = verify(log, anchors=anchors)
    assert report.finding is not None
    assert "no proven record says it was redacted" in report.finding.message


async def test_what_an_inline_trail_quotes_is_no_commitment(tmp_path: Path) -> None:
    """An agent that writes such a member spoils nothing."""
    place = {"$commitment": "A" * 43, "media_type": "text/plain", "length": 3}
    log = await AuditLog.open(tmp_path / "log", anchors=(anchor_to_file(tmp_path / "anchor"),))
    await log.commit(log.append("tool_started", {"input": place, "x": [place]}))
    await log.close()
    anchors = read_checkpoints(tmp_path / "anchor")
    assert verify(tmp_path / "log", anchors=anchors).verdict == "proven"
