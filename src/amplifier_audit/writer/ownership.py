"""A log has one key and one name, or none, for its whole life; the verifier relies on it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.files.directory import AuditDirectory
from amplifier_audit.files.lines import parse_or_none, read_first_record, read_lines
from amplifier_audit.format.checkpoint import Signer
from amplifier_audit.format.log_name import is_log_name, name_log
from amplifier_audit.format.own_records import LogOpened
from amplifier_audit.format.record import Record

# So many lines are looked at for the session of a log that was written before logs had names.
LOOK = 100


def refuse_foreign_log(directory: AuditDirectory, signer: Signer | None, name: str | None) -> None:
    """Refuse to go on with a log that is signed with another key or belongs to somebody else."""
    segments = directory.list_segments()
    if not segments:
        return
    path = directory.segment_path(segments[0])
    first = read_first_record(path)
    if first is None or first["type"] != "log_opened":
        return
    _refuse_another_key(directory, first, signer)
    _refuse_another_name(directory, _find_name(path, first), name)


def choose_name(directory: AuditDirectory) -> str | None:
    """The name of a log that was given none: its folder's, or what a log that is there has."""
    segments = directory.list_segments()
    first = read_first_record(directory.segment_path(segments[0])) if segments else None
    if first is None:
        return name_log(directory.path.resolve().name)
    name = LogOpened.parse(first["body"]).name if first["type"] == LogOpened.type else None
    return name if is_log_name(name) else None


def _refuse_another_key(directory: AuditDirectory, first: Record, signer: Signer | None) -> None:
    known, given = LogOpened.parse(first["body"]).key, signer and signer.public
    if known != given:
        raise AuditUnavailable(
            f"The log {directory.path} is signed with {known or 'no key'}, "
            f"not with {given or 'no key'}; another key needs another directory"
        )


def _refuse_another_name(directory: AuditDirectory, known: str | None, name: str | None) -> None:
    if name is not None and known is not None and known != name:
        raise AuditUnavailable(
            f"The log {directory.path} is the trail of {known!r}, not of {name!r}: "
            "somebody put it there; move it away and look into it"
        )


def _find_name(path: Path, first: Record) -> str | None:
    """The name; of a log that was begun without one, what its first session would have had."""
    name = LogOpened.parse(first["body"]).name
    if is_log_name(name):
        return name
    # In a later segment the first record may be one of a sub-agent.
    lines = islice(read_lines(path), LOOK) if first["seq"] == 0 else ()
    records = (parse_or_none(line) for _, line in lines)
    sessions = (record["session"] for record in records if record)
    return next((name_log(session) for session in sessions if isinstance(session, str)), None)
