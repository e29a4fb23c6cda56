"""The audit trail: written so that whoever reads it can tell whether somebody changed it.

    from amplifier_audit import AuditLog, AuditSettings, create_key, anchor_to_file, verify

Write    AuditLog, AuditSettings; anchor_to_file, anchor_to_stderr; create_key, load_signer, Signer
         AuditServer, RemoteLog: the writer as a process of its own
Verify   verify, load_verifier, read_checkpoints, parse_notes, Note; Report, Verdict, Finding
Read     open_log, LogFiles, read_records, Record
Errors   AuditError: AuditUnavailable, NotALog, MalformedRecord, BadCheckpoint, BadKey,
         WitnessUnavailable, WitnessRefused

This is the one place to import from; the modules inside may move, and only amplifier-hooks, which
is built together with this package, uses those in `PUBLIC_MODULES`. Reading and verifying need the
standard library only, so an auditor can copy this folder and run `python -m amplifier_audit`.
Signing needs cryptography, the extra `audit`. docs/audit.md describes the format.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_audit.anchor_files import read_checkpoints
    from amplifier_audit.anchors import anchor_to_file, anchor_to_stderr
    from amplifier_audit.checkpoint import Note, Signer, parse_notes
    from amplifier_audit.errors import (
        AuditError,
        AuditUnavailable,
        BadCheckpoint,
        BadKey,
        MalformedRecord,
        NotALog,
        WitnessRefused,
        WitnessUnavailable,
    )
    from amplifier_audit.keys import create_key, load_signer, load_verifier
    from amplifier_audit.log import AuditLog
    from amplifier_audit.log_directory import LogFiles, open_log
    from amplifier_audit.reader import read_records
    from amplifier_audit.record import Record
    from amplifier_audit.remote_log import RemoteLog
    from amplifier_audit.report import Finding, Report, Verdict
    from amplifier_audit.server import AuditServer
    from amplifier_audit.settings import AuditSettings
    from amplifier_audit.verification import verify

_HOMES = {
    "AuditError": "errors",
    "AuditLog": "log",
    "AuditServer": "server",
    "AuditSettings": "settings",
    "AuditUnavailable": "errors",
    "BadCheckpoint": "errors",
    "BadKey": "errors",
    "Finding": "report",
    "LogFiles": "log_directory",
    "MalformedRecord": "errors",
    "NotALog": "errors",
    "Note": "checkpoint",
    "Record": "record",
    "RemoteLog": "remote_log",
    "Report": "report",
    "Signer": "checkpoint",
    "Verdict": "report",
    "WitnessRefused": "errors",
    "WitnessUnavailable": "errors",
    "anchor_to_file": "anchors",
    "anchor_to_stderr": "anchors",
    "create_key": "keys",
    "load_signer": "keys",
    "load_verifier": "keys",
    "open_log": "log_directory",
    "parse_notes": "checkpoint",
    "read_checkpoints": "anchor_files",
    "read_records": "reader",
    "verify": "verification",
}

__all__ = [
    "AuditError",
    "AuditLog",
    "AuditServer",
    "AuditSettings",
    "AuditUnavailable",
    "BadCheckpoint",
    "BadKey",
    "Finding",
    "LogFiles",
    "MalformedRecord",
    "NotALog",
    "Note",
    "Record",
    "RemoteLog",
    "Report",
    "Signer",
    "Verdict",
    "WitnessRefused",
    "WitnessUnavailable",
    "anchor_to_file",
    "anchor_to_stderr",
    "create_key",
    "load_signer",
    "load_verifier",
    "open_log",
    "parse_notes",
    "read_checkpoints",
    "read_records",
    "verify",
]


if not TYPE_CHECKING:  # else checkers take every misspelled name for one that exists

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


PUBLIC_MODULES = (
    "anchor_files",
    "anchors",
    "checkpoint",
    "encoding",
    "errors",
    "log_directory",
    "merkle",
    "messages",
    "own_records",
    "parallel",
    "quick_lines",
    "reader",
    "record",
    "report",
    "state",
    "streams",
    "value_store",
    "verification",
    "witness",
)
