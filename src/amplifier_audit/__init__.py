"""The audit trail: the record, the chain, checkpoints, verification and the sink protocol.

`amplifier_audit.writer.log` writes it to files; `amplifier audit` reads it.
"""

from amplifier_audit.format.chain import Chain, Head
from amplifier_audit.format.checkpoint import (
    BadCheckpoint,
    Checkpoint,
    Note,
    SignatureVerifier,
    Signer,
    make_note,
    parse_note,
    parse_notes,
)
from amplifier_audit.format.encoding import RECORD_LIMIT, Limits, encode, encode_body
from amplifier_audit.format.proof import (
    RangeRoots,
    consistency_ranges,
    inclusion_ranges,
    is_consistent,
    root_of_inclusion,
)
from amplifier_audit.format.record import (
    GENESIS,
    MalformedRecord,
    Record,
    claimed_hash,
    covered_bytes,
    encode_source,
    parse,
    record_hash,
)
from amplifier_audit.format.record_types import OWN_TYPES, RECORD_TYPES, RecordType
from amplifier_audit.format.tree import Tree, leaf_hash, node_hash
from amplifier_audit.memory import AuditSink, Level, MemoryAudit, OnFailure, foreign, new_log_id
from amplifier_audit.reader.verification import Departure, Finding, Report, Verdict, Verifier

__all__ = [
    "GENESIS",
    "OWN_TYPES",
    "RECORD_LIMIT",
    "RECORD_TYPES",
    "AuditSink",
    "BadCheckpoint",
    "Chain",
    "Checkpoint",
    "Departure",
    "Finding",
    "Head",
    "Level",
    "Limits",
    "MalformedRecord",
    "MemoryAudit",
    "Note",
    "OnFailure",
    "RangeRoots",
    "Record",
    "RecordType",
    "Report",
    "SignatureVerifier",
    "Signer",
    "Tree",
    "Verdict",
    "Verifier",
    "claimed_hash",
    "consistency_ranges",
    "covered_bytes",
    "encode",
    "encode_body",
    "encode_source",
    "foreign",
    "inclusion_ranges",
    "is_consistent",
    "leaf_hash",
    "make_note",
    "new_log_id",
    "node_hash",
    "parse",
    "parse_note",
    "parse_notes",
    "record_hash",
    "root_of_inclusion",
]
