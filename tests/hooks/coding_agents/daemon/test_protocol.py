"""Requests, responses, judges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.client import client
from amplifier_hooks.coding_agents.daemon import protocol
from amplifier_hooks.coding_agents.daemon.protocol import Judge, Response
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge
from tests.support.guest_resident import PlayedJudge


@pytest.mark.parametrize("kind", [AgentJudge, PlayedJudge])
def test_judges_can_all_be_asked_the_same(kind: type[Judge]) -> None:
    """The real one and the one of the tests have what the server calls."""
    names = [name for name in vars(Judge) if not name.startswith("_")]
    assert [name for name in names if not callable(getattr(kind, name, None))] == []


HEAD = b"amplifier-guest 1\t1.0\tclaude\tStop\t2.5\tA,B\t/w\t\n"


def test_a_question_is_read() -> None:
    """Version, words of the command, marks and payload."""
    version, request = protocol.read_question(HEAD + b"a\nb\t")
    assert version == "1.0"
    assert (request.agent, request.event, request.seconds) == ("claude", "Stop", 2.5)
    assert request.marks == {"A", "B"}
    assert (request.cwd, request.bundle, request.payload) == ("/w", "", b"a\nb\t")


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_any_field_survives_the_way(event: bytes, bundle: bytes) -> None:
    """Whatever the client escapes, the resident process reads as it was."""
    fields = (b"1", b"claude", event, b"5", b"", b"", bundle)
    head = b"amplifier-guest 1\t" + b"\t".join(map(client._escape, fields)) + b"\n"
    request = protocol.read_question(head + b"{}").request
    assert request.event.encode("utf-8", "surrogateescape") == event
    assert request.bundle.encode("utf-8", "surrogateescape") == bundle


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        HEAD.rstrip(),
        HEAD.replace(b"guest 1", b"guest 2"),
        HEAD.replace(b"\tA,B", b""),
        b"GET / HTTP/1.1\r\n\r\n",
        HEAD.replace(b"2.5", b"0"),
        HEAD.replace(b"2.5", b"inf"),
        HEAD.replace(b"2.5", b"nan"),
        HEAD.replace(b"2.5", b"soon"),
    ],
)
def test_anything_else_is_no_question(sent: bytes) -> None:
    """A ValueError, whatever came."""
    with pytest.raises(ValueError):
        protocol.read_question(sent)


@given(st.integers(0, 255), st.binary(max_size=60), st.binary(max_size=60), st.integers(0, 9))
def test_any_answer_survives_the_way(code: int, out: bytes, err: bytes, beats: int) -> None:
    """The client reads what was written, however many signs of life came before."""
    sent = protocol.BEAT * beats + protocol.write_answer(Response(code, out, err))
    assert client.read_answer(sent) == (code, out, err)
    for other in (-1, 256):
        with pytest.raises(ValueError, match="from 0 to 255"):
            protocol.write_answer(Response(other))


@given(st.binary(max_size=30), st.data())
def test_a_part_of_an_answer_is_none(out: bytes, data: st.DataObject) -> None:
    """Cut off anywhere, it is not taken for an answer."""
    whole = protocol.write_answer(Response(0, out, b"e"))
    part = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises((ValueError, ConnectionError)):
        client.read_answer(part)


def test_the_patience_is_known_with_the_first_line() -> None:
    """Before that, and where it makes no sense, it is not."""
    assert protocol.read_patience(HEAD) == 2.5
    for part in (HEAD[:-1], b"x\n", HEAD.replace(b"2.5", b"-1")):
        assert protocol.read_patience(part) is None
