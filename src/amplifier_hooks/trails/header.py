"""How a trail begins: whose session it is, where it ran, and which hooks it had."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from amplifier_audit.log_directory import open_readable
from amplifier_audit.own_records import LogOpened
from amplifier_audit.reader import read_records
from amplifier_core.records import SessionStarted
from amplifier_hooks.trails.bodies import Body, BundleLoaded
from amplifier_hooks.trails.reading import read_items
from amplifier_hooks.trails.recorded import Note, RecordedEvent, RecordedHook

_LOOK = 2_000
"""So many records are looked at: a trail without turns may be larger than the memory."""


@dataclass(slots=True)
class Header:
    """What is known of a session before its first turn."""

    path: Path
    session: str = ""
    started: str = ""
    folder: str = ""
    bundle: str = ""
    bundle_file: str = ""
    bundle_digest: str = ""
    hooks_digest: str = ""
    """Of the hooks in it; empty in older trails."""
    level: str = "normal"
    values: str = "inline"
    shadow: bool = False
    hooks: dict[int, RecordedHook] = field(default_factory=dict)
    """By registration; those that were registered before the first turn."""


def read_header(path: Path) -> Header:
    """Read a trail up to its first turn; programs that drive hooks themselves may have none."""
    header = Header(path)
    for item in islice(read_items(read_records(open_readable(path))), _LOOK):
        if isinstance(item, RecordedHook):
            header.hooks[item.id] = item
            continue
        if item.turn > 0 and isinstance(item, RecordedEvent):
            break
        header.session = header.session or item.session
        header.started = header.started or item.time
        if isinstance(item, Note):
            _take_note(header, item.body)
    return header


def _take_note(header: Header, body: Body) -> None:
    match body:
        case LogOpened():
            header.level = body.level or header.level
            header.values = body.values or header.values
        case BundleLoaded():
            header.folder = body.folder
            header.bundle = body.bundle
            header.bundle_file = body.file
            header.bundle_digest = body.digest
            header.hooks_digest = body.hooks_digest
        case SessionStarted():
            header.shadow = body.shadow
