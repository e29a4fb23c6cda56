"""What witnesses know of a log, as anchors for its verification."""

from __future__ import annotations

from collections.abc import Iterable

from amplifier_audit.errors import WitnessUnavailable
from amplifier_audit.files.log_files import LogFiles
from amplifier_audit.format.checkpoint import Note
from amplifier_audit.reader.anchor_files import find_log_id, select_anchors
from amplifier_audit.witness.client import Witness


def read_witnesses(
    witnesses: Iterable[Witness], log: LogFiles, name: str | None = None
) -> list[Note]:
    """The checkpoints that witnesses have of a log; each must have one, or the end is not proven.

    A log that was replaced by another of the same name is told by those of the one that is gone.
    """
    own = find_log_id(log)
    notes: list[Note] = []
    for witness in witnesses:
        found = witness.read_all(own or "", name or log.name)
        if not found:
            raise WitnessUnavailable(f"{witness.url} has no checkpoint of this log")
        notes += found
    return select_anchors(notes, log, name)
