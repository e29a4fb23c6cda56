"""Checks a log line by line, in constant memory, and says exactly what that proves.

The chain proves that what is there holds together. Only an anchor, a checkpoint that was kept
elsewhere, proves that it is the same log and that nothing is missing before that checkpoint.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from amplifier_audit.checkpoint import ORIGIN, Note, SignatureVerifier, parse_note
from amplifier_audit.errors import BadCheckpoint, MalformedRecord
from amplifier_audit.merkle import Tree, hash_leaf
from amplifier_audit.own_records import (
    OWN_TYPES,
    CheckpointMade,
    LogBroken,
    LogOpened,
    LogRecovered,
    OwnBody,
    SegmentRemoved,
    parse_own,
)
from amplifier_audit.record import (
    TAIL,
    Head,
    Record,
    hash_record,
    is_log_name,
    make_line_start,
    parse_inner,
    parse_record,
    read_claimed_hash,
)
from amplifier_audit.report import Finding, Kind, Mismatch, Report, Verdict
from amplifier_audit.strict_json import RECORD_LIMIT


def describe_misplacement(record: Record, log: str | None, head: Head) -> tuple[Kind, str]:
    """A whole record, but not the next one after `head` of this log."""
    found = record["seq"]
    expected = head.size
    if log is not None and record["log"] != log:
        return "wrong log", f"a record of log {record['log'][:64]!r}"
    if found == expected:
        return "link", f"does not follow record {expected - 1}: one of the two was replaced"
    if found == expected - 1 and record["hash"] == head.hash:
        return "duplicate", f"record {found} a second time"
    if found < expected:
        return "order", f"record {found} where {expected} belongs"
    return "gap", f"record {expected} is missing, the next one is {found}"


def describe_damage(line: bytes) -> str:
    """A line whose own hash is wrong."""
    if len(line) > RECORD_LIMIT:
        return f"a line of more than {RECORD_LIMIT} bytes"
    whole = read_claimed_hash(line) is not None
    return "the line is not what its hash says" if whole else "the line is not a record"


ANCHORED = -1
"""In the place of a sequence: an anchor says so, not a record."""


@dataclass(slots=True)
class Claims:
    """Gathered while the lines are read; `before` is the proven position, None for everything."""

    recoveries: list[int] = field(default_factory=list)
    first_session: tuple[int, str] | None = None
    _names: dict[str, int] = field(default_factory=dict)
    _removals: list[tuple[int, int]] = field(default_factory=list)
    _signs_removals: int | None = None

    def add_opening(self, sequence: int, opened: LogOpened) -> None:
        """A writer began: for whom, and whether it signs before it removes."""
        # Writers that know names also sign each removal before they carry it out.
        if opened.signs_removals and self._signs_removals is None:
            self._signs_removals = sequence
        self.add_name(sequence, opened.name)

    def add_name(self, sequence: int, name: Any) -> None:
        """A record or an anchor says whose log it is."""
        if is_log_name(name):
            self._names[name] = min(sequence, self._names.get(name, sequence))

    def add_session(self, sequence: int, session: Any) -> None:
        """The first session that a record is about; later ones may be its sub-agents."""
        if self.first_session is None and isinstance(session, str):
            self.first_session = (sequence, session)

    def add_removal(self, sequence: int, segment: Any) -> None:
        """A segment was to be removed."""
        if isinstance(segment, int):
            self._removals.append((sequence, segment))

    def add_later(self, later: Claims) -> None:
        """What the records behind these say."""
        self.recoveries += later.recoveries
        self.first_session = self.first_session or later.first_session
        for name, sequence in later._names.items():
            self.add_name(sequence, name)
        self._removals += later._removals
        if self._signs_removals is None:
            self._signs_removals = later._signs_removals

    def find_name(self, before: int | None) -> str | None:
        """Whose log it is, as far as that is proven."""
        return next((name for name, at in self._names.items() if _lies_before(at, before)), None)

    def find_session(self, before: int | None) -> str | None:
        """The first session, as far as that is proven."""
        if self.first_session is None or not _lies_before(self.first_session[0], before):
            return None
        return self.first_session[1]

    def find_removed_to(self, before: int | None) -> int:
        """The last segment whose removal is on record; those before it went with it."""
        return max((n for at, n in self._removals if _lies_before(at, before)), default=-1)

    def signs_removals(self, before: int | None) -> bool:
        """Whether a proven record says that the writer signs each removal before it happens."""
        return self._signs_removals is not None and _lies_before(self._signs_removals, before)

    def describe_conflict(self) -> Finding | None:
        """Two names in one log."""
        if len(self._names) < 2:
            return None
        one, other, *_ = self._names.items()
        message = f"the log says that it is the one of {one[0]!r} and that of {other[0]!r}"
        return Finding("wrong log", max(0, other[1]), message)


def _lies_before(sequence: int, position: int | None) -> bool:
    return position is None or sequence < position


DEFAULT_INTERVAL = 1000


@dataclass(slots=True)
class Unsigned:
    """So many records may come without a signature, and so many have come.

    The log's own records count apart: a crash or a removal may add some at any time.
    """

    interval: int = DEFAULT_INTERVAL
    promised: int = DEFAULT_INTERVAL
    records: int = 0
    own: int = 0

    @property
    def left(self) -> int:
        """How many records may still come."""
        return self.interval - self.records

    @property
    def too_many(self) -> bool:
        """Whether the promise is broken."""
        return self.records > self.interval or self.own > DEFAULT_INTERVAL

    def count(self, type: str) -> None:
        """One more record."""
        if type in OWN_TYPES:
            self.own += 1
        else:
            self.records += 1

    def restart(self) -> None:
        """A signature came."""
        self.records = self.own = 0
        self.interval = self.promised

    def promise(self, interval: Any, *, first: bool) -> None:
        """A writer says how often it signs; what is no such number changes nothing."""
        if isinstance(interval, int) and interval > 0:
            self.promised = min(interval, DEFAULT_INTERVAL)
            # What a writer with a longer interval left unsigned stands before the next signature.
            self.interval = self.promised if first else max(self.interval, self.promised)


@dataclass(slots=True)
class LineVerifier:
    """Fed with the lines of a log from its start, or from a head that is already verified."""

    anchors: Iterable[Note] = ()
    key: SignatureVerifier | None = None
    log: str | None = None
    start: Head = field(default_factory=Head)
    checkpoints: int = 0
    signed: int = 0
    unchecked: int = 0
    last_checkpoint: int | None = None
    proven_to: int | None = None
    signed_to: int | None = None
    claims: Claims = field(default_factory=Claims)
    broken: Finding | None = None
    notes: list[str] = field(default_factory=list)
    tree: Tree = field(init=False)
    hash: str = field(init=False)
    unsigned: Unsigned = field(default_factory=Unsigned)
    line_start: bytes = b""
    _waiting: list[Note] = field(init=False)
    _covered: int = 0

    def __post_init__(self) -> None:
        if self.log is not None:
            self.line_start = make_line_start(self.log)
        self.tree = Tree(self.start.size, self.start.frontier)
        self.hash = self.start.hash
        self._waiting = sorted(self.anchors, key=lambda note: -note.checkpoint.size)
        for note in self._waiting:
            self._check_anchor(note)
        self._skip_anchors_before_start()
        self._check_due_anchors()

    @property
    def size(self) -> int:
        """How many records are behind; the next one must have this sequence."""
        return self.tree.size

    @property
    def position(self) -> int | None:
        """So many records are proven by an anchor or signed with the key; None if none can be."""
        known = [size for size in (self.proven_to, self.signed_to) if size is not None]
        return max(known, default=None)

    @property
    def unproven(self) -> int:
        """How many of the records that were read lie behind that position."""
        return self.size - max(self.position or 0, self._covered, self.start.size)

    @property
    def head(self) -> Head:
        """From where a later verification can go on."""
        return Head(self.tree.size, self.hash, self.tree.frontier)

    def feed(self, line: bytes) -> Record:
        """Check the next line (with its LF); raise Mismatch if another one belongs there.

        Of what is returned, `time` to `body` can be relied on to be there.
        """
        own = hash_record(line[:-TAIL])
        # What must stand before `time` and after `body` is known to the byte: comparing bytes is as
        # strict as reading them, and quicker.
        start = b"%b%d," % (self.line_start, self.tree.size)
        end = b',"prev":"%b","hash":"%b"}\n' % (self.hash.encode("ascii"), own.encode("ascii"))
        known = self.log is not None and line.startswith(start) and line.endswith(end)
        if known and len(line) <= RECORD_LIMIT:
            record = self._parse(parse_inner, line[len(start) : -len(end)])
        else:
            record = self._examine(line, own)
        self._accept(record, line, own)
        return record

    def _examine(self, line: bytes, own: str) -> Record:
        """A line that is not quite as expected: the first, one spelled otherwise, a wrong one."""
        if line[-TAIL:] != b',"hash":"%b"}\n' % own.encode("ascii"):
            self._refuse("edit", describe_damage(line))
        record = self._parse(parse_record, line)
        if record["seq"] != self.tree.size or record["prev"] != self.hash:
            self._refuse(*describe_misplacement(record, self.log, self.head))
        if record["log"] != self.log:
            self._learn_log(record["log"])
        return record

    def _accept(self, record: Record, line: bytes, own: str) -> None:
        if self.claims.first_session is None:
            self.claims.add_session(self.tree.size, record["session"])
        if record["type"] in OWN_TYPES:
            self._learn(parse_own(record["type"], record["body"]))
        self.tree.push(hash_leaf(line[:-1]))
        self.hash = own
        if self._waiting and self._waiting[-1].checkpoint.size == self.tree.size:
            self._check_due_anchors()
        if self.key:
            self.unsigned.count(record["type"])
            if self.unsigned.too_many:
                most = self.unsigned.interval
                self._refuse("unsigned", f"more than {most} records without a signature")

    def count_ordinary(self) -> int:
        """How many ordinary records may follow before more than their lines is to be checked."""
        most = self.unsigned.left if self.key else sys.maxsize
        if self._waiting:
            most = min(most, self._waiting[-1].checkpoint.size - self.tree.size - 1)
        return most

    def advance(self, leaves: Sequence[bytes], own: str) -> None:
        """So many ordinary records were checked; `own` is the hash of the last one."""
        self.tree.extend(leaves)
        self.hash = own
        if self.key:
            self.unsigned.records += len(leaves)

    def join(self, later: LineVerifier) -> None:
        """Be where another verifier is, that began where this one is and found all right."""
        self.log = later.log
        self.line_start = later.line_start
        self.tree = later.tree
        self.hash = later.hash
        self.unsigned = later.unsigned
        self.checkpoints += later.checkpoints
        self.signed += later.signed
        self.unchecked += later.unchecked
        for name in ("last_checkpoint", "proven_to", "signed_to"):
            if (found := getattr(later, name)) is not None:
                setattr(self, name, found)
        self._covered = max(self._covered, later._covered)
        self.broken = self.broken or later.broken
        self.claims.add_later(later.claims)
        while self._waiting and self._waiting[-1].checkpoint.size <= self.size:
            self._waiting.pop()

    def finish(self, *, torn: Finding | None = None, failed: bool = False) -> Report:
        """The verdict, when there are no more lines; `failed`: the writer gave up at their end."""
        finding = self.broken or self._describe_missing_signature() or self._describe_cut()
        finding = finding or self.claims.describe_conflict()
        if finding:
            return self.report("tampered", finding)
        recoveries = self.claims.recoveries
        if torn or failed or any(sequence >= (self.proven_to or 0) for sequence in recoveries):
            return self.report("recovered", torn)
        return self.report("consistent" if self.proven_to is None else "proven")

    def report(self, verdict: Verdict, finding: Finding | None = None) -> Report:
        """The report as of now."""
        return Report(
            verdict=verdict,
            log=self.log,
            first=self.start.size,
            size=self.size,
            proven_to=self.proven_to,
            finding=finding,
            recoveries=tuple(self.claims.recoveries),
            checkpoints=self.checkpoints,
            signed=self.signed,
            last_checkpoint=self.last_checkpoint,
            notes=tuple(self.notes),
            head=self.head,
            signed_to=self.signed_to,
            unproven=self.unproven,
            name=self.claims.find_name(self.position),
            unchecked=self.unchecked,
        )

    def check_note(self, note: Note, what: str) -> None:
        """A checkpoint that must be the one of this log at this size."""
        checkpoint = note.checkpoint
        if checkpoint.origin != f"{ORIGIN}{self.log}":
            self._refuse("wrong log", f"{what} belongs to log {checkpoint.log[:64]!r}")
        if checkpoint.size != self.size or checkpoint.root != self.tree.compute_root():
            self._refuse("checkpoint", f"{what} does not fit the {self.size} records before it")
        self.checkpoints += 1
        self.last_checkpoint = checkpoint.size
        self.claims.add_name(self.size, checkpoint.name)
        if self.key is None:
            self.unchecked += bool(note.signatures)
        else:
            self._check_signature(note, what, self.key)
            self.unsigned.restart()
            self.signed += 1
            self.signed_to = checkpoint.size

    def _refuse(self, kind: Kind, message: str) -> NoReturn:
        raise Mismatch(kind, self.tree.size, message)

    def _parse(self, parser: Callable[[bytes], Record], content: bytes) -> Record:
        try:
            return parser(content)
        except MalformedRecord as error:
            message = f"no writer wrote this: {error}"
            raise Mismatch("malformed", self.tree.size, message) from error

    def _learn_log(self, log: str) -> None:
        if self.log is not None:
            self._refuse("wrong log", f"a record of log {log[:64]!r} in log {self.log!r}")
        self.log = log
        self.line_start = make_line_start(log)
        for note in self._waiting:
            self._check_anchor(note)

    def _learn(self, said: OwnBody) -> None:
        """What the log says of itself."""
        match said:
            case LogOpened():
                self._begin_segment(said)
            case CheckpointMade():
                self._check_checkpoint(said)
            case LogRecovered():
                self.claims.recoveries.append(self.size)
            case SegmentRemoved():
                self.claims.add_removal(self.size, said.segment)
            case LogBroken():
                message = f"the writer found the log damaged: {said.why}"
                self.broken = self.broken or Finding("broken", self.size, message)

    def _begin_segment(self, opened: LogOpened) -> None:
        if self.size and not self._continues(opened.previous or {}):
            self._refuse("checkpoint", "the segment does not go on where the last one ended")
        self.unsigned.promise(opened.checkpoint_every, first=not self.size)
        self.claims.add_opening(self.size, opened)

    def _continues(self, previous: Mapping[str, Any]) -> bool:
        return bool(previous.get("frontier") == [node.hex() for node in self.tree.frontier])

    def _check_checkpoint(self, made: CheckpointMade) -> None:
        try:
            note = parse_note(made.note)
        except BadCheckpoint as error:
            raise Mismatch("checkpoint", self.size, str(error)) from error
        self.check_note(note, "the checkpoint")
        # A record that holds nothing but a proven note is as good as the note.
        if self.position == self.size and made.is_alone:
            self._covered = self.size + 1

    def _check_anchor(self, note: Note) -> None:
        if self.log is not None and note.checkpoint.origin != f"{ORIGIN}{self.log}":
            self._refuse("wrong log", f"the anchor is one of log {note.checkpoint.log[:64]!r}")
        if self.key is not None:
            self._check_signature(note, f"the anchor at {note.checkpoint.size}", self.key)
        self.claims.add_name(ANCHORED, note.checkpoint.name)

    def _check_signature(self, note: Note, what: str, key: SignatureVerifier) -> None:
        if not note.signatures:
            self._refuse("unsigned", f"{what} is not signed")
        if not note.is_signed_by(key):
            self._refuse("signature", f"{what} is not signed by the key {key.name!r}")

    def _skip_anchors_before_start(self) -> None:
        while self._waiting and self._waiting[-1].checkpoint.size < self.start.size:
            size = self._waiting.pop().checkpoint.size
            self.notes.append(f"anchor at {size} not checked: the reading began later")

    def _check_due_anchors(self) -> None:
        while self._waiting and self._waiting[-1].checkpoint.size == self.tree.size:
            if self._waiting.pop().checkpoint.root != self.tree.compute_root():
                self._refuse("fork", f"the anchor at {self.size} is one of another history")
            self.proven_to = self.tree.size

    def _describe_missing_signature(self) -> Finding | None:
        if self.key is None or self.signed or self.size - self.start.size < 2:
            return None
        return Finding("unsigned", self.start.size, "no checkpoint of the log is signed")

    def _describe_cut(self) -> Finding | None:
        if not self._waiting:
            return None
        wanted = self._waiting[0].checkpoint.size
        message = f"the log ends after {self.size} records, the anchor knows {wanted}"
        return Finding("cut below anchor", self.size, message)
