"""One message on the wire."""

from __future__ import annotations

import json

import pytest

from amplifier_hooks.guards.mcp.frames import (
    DEEPEST,
    LARGEST,
    FrameError,
    answer,
    check_spelling,
    make_key,
    read_frames,
    refuse,
    write_frame,
)
from amplifier_hooks.guards.mcp.protocol import METHODS


def test_a_message_is_kept_as_it_was_sent() -> None:
    """What it says is known besides."""
    raw = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    (frame,) = read_frames(raw)
    assert frame.raw is raw
    assert (frame.method, frame.key, frame.params) == ("ping", "1", {})
    assert frame.is_request
    assert not frame.is_response


def test_the_messages_of_a_batch_come_one_by_one() -> None:
    """Each is judged by itself."""
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "a"}, {"jsonrpc": "2.0", "method": "b"}]
    frames = read_frames(json.dumps(batch).encode())
    assert [one.method for one in frames] == ["a", "b"]
    assert [json.loads(one.raw) for one in frames] == batch


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "[1]",
        "1",
        "null",
        "{",
        "",
        '{"jsonrpc":"2.0"}',
        '{"jsonrpc":"2.0","id":1}',
        '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
        '{"jsonrpc":"2.0","id":1,"method":"a","result":{}}',
        '{"jsonrpc":"2.0","id":1,"method":5}',
        '{"jsonrpc":"2.0","id":null,"method":"a"}',
        '{"jsonrpc":"2.0","id":1.5,"method":"a"}',
        '{"jsonrpc":"2.0","id":[],"method":"a"}',
        '{"jsonrpc":"2.0","id":1,"method":"a","params":"b"}',
        '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":NaN}}',
        '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":-1e9999}}',
        '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":{"y":1,"y":2}}}',
        '{"jsonrpc":"2.0","id":1,"METHOD":"a","result":{}}',
        '{"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"b"}',
    ],
)
def test_what_readers_could_understand_differently_is_no_message(line: str) -> None:
    """Each says why."""
    with pytest.raises(FrameError, match=r"a (message|batch|response)|the (id|method|params)"):
        read_frames(line.encode())


def test_bytes_that_are_no_text_and_messages_without_end_are_refused() -> None:
    """As any reader would in the end."""
    with pytest.raises(FrameError, match="UTF-8"):
        read_frames(b'{"a":"\xff"}')
    with pytest.raises(FrameError, match="the most"):
        read_frames(b" " * (LARGEST + 1))


@pytest.mark.parametrize("end", ["\r", "\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_nothing_in_a_message_looks_like_the_end_of_a_line(end: str) -> None:
    """A reader that splits there would find another message in this one."""
    hidden = '{"jsonrpc":"2.0","id":2,"method":"tools/call"}'
    space = end if end in "\r\n" else ""
    text = f'{{"jsonrpc":"2.0","id":1,{space}"method":"a","params":{{"x":{space}{hidden}{space}}}}}'
    if not space:
        text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"x": "@"}})
        text = text.replace("@", f"{end}{json.dumps(hidden)[1:-1]}{end}")
    if end in "\v\f\x1c":
        with pytest.raises(FrameError):
            read_frames(text.encode())
        return
    (frame,) = read_frames(text.encode())
    assert frame.raw.decode().splitlines() == [frame.raw.decode()]
    assert json.loads(frame.raw) == frame.message


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
def test_what_is_nested_too_deep_is_refused(start: str, end: str) -> None:
    """Before anybody walks through it; as deep as is allowed, it can be read."""
    for depth, fits in ((DEEPEST - 2, True), (DEEPEST + 1, False), (900, False)):
        text = '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":@}}'
        line = text.replace("@", start * depth + "1" + end * depth).encode()
        if fits:
            assert read_frames(line)[0].raw is line
        else:
            with pytest.raises(FrameError, match="deep"):
                read_frames(line)


def test_an_error_may_be_about_nobody_knows_what() -> None:
    """Its id is null then."""
    raw = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}'
    assert read_frames(raw)[0].is_response


def test_our_own_messages_are_ascii_on_one_line() -> None:
    """Whatever is in them."""
    frame = answer("\u2028", {"text": "a\nü"})
    assert frame.raw.isascii()
    assert b"\n" not in frame.raw
    assert read_frames(frame.raw)[0].message == frame.message
    assert refuse(1, -5, "no").message["error"] == {"code": -5, "message": "no"}
    with pytest.raises(ValueError, match="JSON compliant"):
        write_frame({"x": float("inf")})


def test_ids_of_different_types_are_different_keys() -> None:
    """Python takes some of them for equal."""
    assert len({make_key(one) for one in (1, "1", True, 1.0)}) == 4


def test_a_known_key_in_another_case_is_named() -> None:
    """With what it was."""
    check_spelling({"name": 1, "other": 2}, ["name"])
    with pytest.raises(FrameError, match="'NAME'"):
        check_spelling({"NAME": 1}, ["name"])


def test_an_id_is_no_place_to_keep_things() -> None:
    """It is remembered longer than the message."""
    line = b'{"jsonrpc":"2.0","id":"%b","method":"ping"}'
    assert read_frames(line % (b"a" * 1024))
    with pytest.raises(FrameError, match="1,025 characters"):
        read_frames(line % (b"a" * 1025))


def test_many_keys_take_no_longer_than_they_are_many() -> None:
    """To look for the one that is there twice must not hold everything up."""
    keys = ",".join(f'"{number}":0' for number in range(200_000))
    with pytest.raises(FrameError, match="the key '199999' twice"):
        read_frames(b'{"method":"a","params":{%b,"199999":0}}' % keys.encode())


@pytest.mark.parametrize(
    "method",
    [
        "TOOLS/CALL",
        "Tools/Call",
        " tools/call",
        "tools/call ",
        "tools/call\n",
        "tools//call",
        "/tools/call",
        "tools/call/",
        "tools.call",
        "tools\u200b/call",
        "tools\uff0fcall",
        "\uff54ools/call",
        "t\u043eols/call",
        "RESOURCES/READ",
        "prompts/GET",
        "notifications/CANCELLED",
        "sampling/createmessage",
        "Initialize",
        "",
    ],
)
def test_a_method_that_could_be_taken_for_another_is_refused(method: str) -> None:
    """A server may not mind case, blanks, or signs that nobody sees."""
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": {}})
    with pytest.raises(FrameError, match="the method") as raised:
        read_frames(line.encode())
    assert raised.value.id == 7


@pytest.mark.parametrize(
    "method", [*sorted(METHODS), "x/own", "$/progress", "custom_method", "a.b/c-d"]
)
def test_methods_of_the_protocol_and_of_servers_pass(method: str) -> None:
    """As they are written."""
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": {}}).encode()
    (frame,) = read_frames(line)
    assert frame.method == method
