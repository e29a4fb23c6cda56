"""The client of a witness believes nothing that is not the answer of one, and keeps its token."""

from __future__ import annotations

import pytest

from amplifier_audit.checkpoint import make_note
from amplifier_audit.errors import AuditError, WitnessRefused, WitnessUnavailable
from amplifier_audit.witness import Witness
from tests.support.witness_server import WitnessServer, run_witness

TOKEN = "t0ken-that-nobody-may-read"


@pytest.mark.parametrize(
    "url",
    [
        "http://audit.example.org",
        "http://10.0.0.1:80",
        "http://localhost.example.org",
        "ftp://127.0.0.1",
        "127.0.0.1:8411",
        "https://me:password@example.org",
        "https://example.org/?token=x",
        "https://example.org/#x",
        "",
    ],
)
def test_an_address_that_would_give_the_token_away_is_refused(url: str) -> None:
    """Another machine only through TLS; no password and no query in the address."""
    with pytest.raises(WitnessUnavailable):
        Witness(url, TOKEN)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1"])
def test_nobody_there_is_said_without_the_token(url: str) -> None:
    """The error names the address, and nothing that is secret."""
    witness = Witness(url, TOKEN, patience=2)
    with pytest.raises(WitnessUnavailable) as caught:
        witness.read_newest("log")
    assert "does not answer" in str(caught.value)
    assert TOKEN not in str(caught.value) + repr(witness)


def test_checkpoints_come_back_as_they_were_given() -> None:
    """By log and by name, with the token of the client."""
    first = make_note("a/b", 3, b"r" * 32, name="session-1")
    other = make_note("other", 2, b"s" * 32, name="session-1")
    with run_witness(WitnessServer(TOKEN)) as server:
        witness = Witness(server.url, TOKEN)
        assert witness.read_newest("a/b") is None
        assert witness.read_all("a/b", "session-1") == []
        witness.put(first, [])
        witness.put(other, [])
        assert witness.read_newest("a/b") == first
        assert witness.read_all("a/b") == [first]
        assert witness.read_all("a/b", "session-1") == [first, other]
        with pytest.raises(WitnessUnavailable, match="401: no token"):
            Witness(server.url).read_newest("a/b")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, b"<html>", WitnessUnavailable),
        (200, b"[]", WitnessUnavailable),
        (200, b"{}", WitnessUnavailable),
        (200, b'{"head": 1}', WitnessUnavailable),
        (200, b'{"head": {"note": "nonsense"}}', AuditError),
        (302, b"{}", WitnessUnavailable),
        (500, b"", WitnessUnavailable),
        (409, b'{"error": {"message": "two histories"}}', WitnessRefused),
        (409, b'{"error": null}', WitnessRefused),
    ],
)
def test_what_is_not_the_answer_of_a_witness_is_an_error(
    status: int, body: bytes, kind: type[Exception]
) -> None:
    """Nothing of it counts as a checkpoint."""
    with run_witness(WitnessServer()) as server:
        server.answer = (status, body)
        with pytest.raises(kind):
            Witness(server.url).read_newest("log")
