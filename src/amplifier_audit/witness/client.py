"""Talks to a witness over HTTP, with the standard library alone."""

from __future__ import annotations

import base64
import http.client
import ipaddress
import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from amplifier_audit.errors import WitnessRefused, WitnessUnavailable
from amplifier_audit.format.checkpoint import Note, parse_note

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
            status, content = answer.status, answer.read(ANSWER_LIMIT + 1)
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
