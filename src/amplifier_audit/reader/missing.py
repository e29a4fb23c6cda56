"""What is not there although nothing in the log contradicts that: segments, and earlier logs."""

from __future__ import annotations

from collections.abc import Collection

from amplifier_audit.format.checkpoint import Note
from amplifier_audit.reader.line_verifier import LineVerifier
from amplifier_audit.reader.report import Finding


def find_unrecorded_removal(verifier: LineVerifier, missing: int) -> Finding | None:
    """The first so many segments are gone, and no record says that they were to be removed."""
    claims, position = verifier.claims, verifier.position
    signed = verifier.key is not None and claims.signs_removals(position)
    if missing <= claims.find_removed_to(position if signed else None) + 1:
        return None
    message = f"no record says that segment {missing - 1:08d} was to be removed"
    return Finding("missing segment", 0, f"no signed{message[2:]}" if signed else message)


def find_unproven_removal(verifier: LineVerifier, missing: int) -> Finding | None:
    """Only records behind the proven position say so; anybody may have appended them."""
    if missing <= verifier.claims.find_removed_to(verifier.position) + 1:
        return None
    message = f"no proven record says that segment {missing - 1:08d} was to be removed"
    return Finding("missing segment", 0, message)


def find_earlier_log(anchors: Collection[Note]) -> Finding | None:
    """These anchors know a log of the same name that is not here."""
    if not anchors:
        return None
    last = max((note.checkpoint for note in anchors), key=lambda one: one.size)
    message = (
        f"the anchors know another log of {last.name!r}, {last.log[:64]!r} with {last.size} "
        "records, which is not here"
    )
    return Finding("missing segment", 0, message)
