"""Talks to a witness over HTTP, with the standard library alone."""

from __future__ import annotations

import base64
import http.client
import ipaddress
import json
import logging
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

from amplifier_audit.anchor_files import find_log_id, select_anchors
from amplifier_audit.checkpoint import Checkpoint, Note, parse_note
from amplifier_audit.errors import AuditError, WitnessRefused, WitnessUnavailable
from amplifier_audit.log_directory import LogFiles, open_log, read_lines
from amplifier_audit.merkle import RangeRoots, Tree, hash_leaf, list_consistency_ranges
from amplifier_audit.reader import find_start

PATH = "/api/v1/witness"
PATIENCE = 10.0
ANSWER_LIMIT = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness at an address; `token` is never shown, also not in an error."""

    url: str
    token: str = field(default="", repr=False)
    patience: float = PATIENCE

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise WitnessUnavailable(
                f"A witness has an address like https://audit.example.org, not {self.url!r}"
            )
        if parts.username or parts.query or parts.fragment:
            raise WitnessUnavailable("The address of a witness has no password and no query")
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise WitnessUnavailable(
                f"{parts.hostname} is another machine; a witness there needs https://"
            )

    def read_newest(self, log: str) -> Note | None:
        """The newest checkpoint that it has of a log; None if it has none."""
        found = self._exchange("GET", f"{PATH}/{quote(log, safe='')}", missing=True)
        return None if found is None else parse_note(_read(found, "head", dict).get("note"))

    def read_all(self, log: str, name: str | None = None) -> list[Note]:
        """All checkpoints that it has of a log, and the newest of others of the same name."""
        found = self._exchange("GET", f"{PATH}/{quote(log, safe='')}", missing=True)
        history = [] if found is None else _read(found, "history", list)
        others: list[Any] = []
        if name is not None:
            named = self._exchange("GET", f"{PATH}?name={quote(name, safe='')}", missing=True)
            others = [] if named is None else _read(named, "heads", list)
        texts = [*history, *(one.get("note") for one in others if one.get("log") != log)]
        return [parse_note(text) for text in texts]

    def put(self, note: Note, proof: Sequence[bytes]) -> None:
        """Hand over a checkpoint, proven to continue the one that it has."""
        told = {"note": note.text, "proof": [base64.b64encode(one).decode() for one in proof]}
        self._exchange("POST", PATH, told)

    def _exchange(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, missing: bool = False
    ) -> dict[str, Any] | None:
        parts = urlsplit(self.url)
        connection = _connect(parts.scheme, str(parts.hostname), parts.port, self.patience)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, parts.path.rstrip("/") + path, sent, headers)
            answer = connection.getresponse()
            status = answer.status
            content = answer.read(ANSWER_LIMIT + 1)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise WitnessUnavailable(
                f"The witness {parts.netloc} does not answer: {error}"
            ) from error
        finally:
            connection.close()
        if status == http.HTTPStatus.NOT_FOUND and missing:
            return None
        return _judge(parts.netloc, status, content)


def _connect(
    scheme: str, host: str, port: int | None, patience: float
) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=patience)
    trust = ssl.create_default_context()
    return http.client.HTTPSConnection(host, port, timeout=patience, context=trust)


def _judge(host: str, status: int, content: bytes) -> dict[str, Any]:
    try:
        told = json.loads(content) if len(content) <= ANSWER_LIMIT else None
    except ValueError:
        told = None
    if status == http.HTTPStatus.CONFLICT:
        raise WitnessRefused(f"The witness {host} refused a checkpoint: {_find_message(told)}")
    if status not in (http.HTTPStatus.OK, http.HTTPStatus.CREATED):
        said = _find_message(told)
        raise WitnessUnavailable(f"The witness {host} answered {int(status)}: {said}")
    if not isinstance(told, dict):
        raise WitnessUnavailable(f"{host} is not a witness: its answer is no JSON object")
    return told


def _find_message(told: Any) -> str:
    error = told.get("error") if isinstance(told, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return str(message or "it does not say why")[:500]


def _read(told: Mapping[str, Any], key: str, kind: type[Any]) -> Any:
    value = told.get(key)
    if not isinstance(value, kind):
        raise WitnessUnavailable(f"Not the answer of a witness: it has no {key}")
    return value


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


logger = logging.getLogger(__name__)
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0


class WitnessSender:
    """An anchor of one log. A witness that does not answer is told of later, from where it was."""

    def __init__(
        self,
        witness: Witness,
        path: Path,
        alarm: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._witness = witness
        self._path = path
        self._alarm = alarm
        self._clock = clock
        self._known = 0
        self._read: _Reading | None = None
        self._pause = 0.0
        self._again = 0.0

    def __call__(self, note: Note) -> None:
        """Send a checkpoint; what went wrong is told once, and tried again with the next."""
        if self._clock() < self._again:
            return
        try:
            self._send(note)
        except WitnessUnavailable as error:
            self._wait(error)
        except WitnessRefused as error:
            self._tell(str(error))
            self._again = float("inf")
        else:
            self._pause = 0.0

    def _wait(self, error: AuditError) -> None:
        if not self._pause:
            logger.warning("%s; its checkpoints follow when it does", error)
        self._pause = min(LONGEST_PAUSE, self._pause * 2 or FIRST_PAUSE)
        self._again = self._clock() + self._pause

    def _tell(self, message: str) -> None:
        logger.error("%s", message)
        if self._alarm is not None:
            self._alarm(message)

    def _send(self, note: Note) -> None:
        log = open_log(self._path)
        if self._read is None or self._read.path not in log.paths:
            self._known, self._read = self._compare(log, note.checkpoint)
        size = note.checkpoint.size
        read = self._read
        if size <= self._known:
            return
        ranges = list_consistency_ranges(self._known, size) if self._known else []
        roots = RangeRoots(ranges, read.tree.size, read.tree.frontier)
        grown = read.grow(log, size, roots.push)
        self._witness.put(note, roots.compute_roots())
        self._known = size
        self._read = grown

    def _compare(self, log: LogFiles, checkpoint: Checkpoint) -> tuple[int, _Reading]:
        """How far the witness has seen the log; that must be the beginning of what is here."""
        start = find_start(log)
        begun = _Reading(Tree(start.size, start.frontier), log.paths[0], 0)
        newest = self._witness.read_newest(checkpoint.log)
        if newest is None:
            return 0, begun
        size = newest.checkpoint.size
        if not start.size <= size <= checkpoint.size:
            raise WitnessRefused(
                f"The witness knows {size} records of this log, which has {start.size} to "
                f"{checkpoint.size}: it has lost records, or has two histories"
            )
        read = begun.grow(log, size)
        if read.tree.compute_root() != newest.checkpoint.root:
            raise WitnessRefused(f"The witness knows another history of the first {size} records")
        return size, read


@dataclass(frozen=True, slots=True)
class _Reading:
    """A tree over the first records of a log, and where in its segments the next one begins."""

    tree: Tree
    path: Path
    offset: int

    def grow(self, log: LogFiles, size: int, take: Callable[[bytes], None] | None = None) -> Self:
        """Read on to that size, and hand out the hashes on the way."""
        tree = Tree(self.tree.size, self.tree.frontier)
        path = self.path
        offset = self.offset
        for at in log.paths[log.paths.index(self.path) :]:
            for position, line in read_lines(at, self.offset if at == self.path else 0):
                if tree.size == size:
                    return replace(self, tree=tree, path=path, offset=offset)
                leaf = hash_leaf(line[:-1])
                tree.push(leaf)
                path = at
                offset = position + len(line)
                if take is not None:
                    take(leaf)
        if tree.size < size:
            raise WitnessUnavailable(f"The log has {tree.size} records, its checkpoint {size}")
        return replace(self, tree=tree, path=path, offset=offset)


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
