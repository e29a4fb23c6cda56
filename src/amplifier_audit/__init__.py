"""The audit trail: written so that whoever reads it can tell whether somebody changed it.

    from amplifier_audit import AuditLog, AuditSettings, create_key, anchor_to_file, verify

Write    AuditLog, AuditSettings; anchor_to_file, anchor_to_stderr; create_key, load_signer, Signer
         AuditServer, RemoteLog: the writer as a process of its own
Verify   verify, load_verifier, read_checkpoints, parse_notes, Note; Report, Verdict, Finding
Read     open_log, LogFiles, read_records, Record
Errors   AuditError: AuditUnavailable, NotALog, MalformedRecord, BadCheckpoint, BadKey,
         WitnessUnavailable, WitnessRefused

This is the one place to import from; the modules inside may move. Reading and verifying need the
standard library only, so an auditor can copy this folder and run `python -m amplifier_audit`.
Signing needs cryptography, the extra `audit`. docs/audit.md describes the format.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from amplifier_audit.files.log_files import LogFiles, open_log
    from amplifier_audit.format.checkpoint import Note, Signer, parse_notes
    from amplifier_audit.format.record import Record
    from amplifier_audit.keys.signing import create_key, load_signer
    from amplifier_audit.keys.verifying import load_verifier
    from amplifier_audit.reader.anchor_files import read_checkpoints
    from amplifier_audit.reader.records import read_records
    from amplifier_audit.reader.report import Finding, Report, Verdict
    from amplifier_audit.reader.verification import verify
    from amplifier_audit.server.remote_log import RemoteLog
    from amplifier_audit.server.service import AuditServer
    from amplifier_audit.writer.anchors import anchor_to_file, anchor_to_stderr
    from amplifier_audit.writer.log import AuditLog
    from amplifier_audit.writer.settings import AuditSettings

_HOMES = {
    "AuditError": "errors",
    "AuditLog": "writer.log",
    "AuditServer": "server.service",
    "AuditSettings": "writer.settings",
    "AuditUnavailable": "errors",
    "BadCheckpoint": "errors",
    "BadKey": "errors",
    "Finding": "reader.report",
    "LogFiles": "files.log_files",
    "MalformedRecord": "errors",
    "NotALog": "errors",
    "Note": "format.checkpoint",
    "Record": "format.record",
    "RemoteLog": "server.remote_log",
    "Report": "reader.report",
    "Signer": "format.checkpoint",
    "Verdict": "reader.report",
    "WitnessRefused": "errors",
    "WitnessUnavailable": "errors",
    "anchor_to_file": "writer.anchors",
    "anchor_to_stderr": "writer.anchors",
    "create_key": "keys.signing",
    "load_signer": "keys.signing",
    "load_verifier": "keys.verifying",
    "open_log": "files.log_files",
    "parse_notes": "format.checkpoint",
    "read_checkpoints": "reader.anchor_files",
    "read_records": "reader.records",
    "verify": "reader.verification",
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
