"""Messages for a relay as hostile programs would write them, for Hypothesis to draw."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from amplifier_hooks.guards.mcp.protocol import CALL, ELICIT, GET, READ, SAMPLE

Message = dict[str, Any]
Draw = Callable[[Any], Any]
WORDS = ("plain", "deny-me", "rewrite-me", "inject-me", "replace-this", "a\u2028b", "\ud800", "é")
BREAKS = ("\r", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\u2029", "\n", "\x00", "\ufeff")
KEYS = ("method", "id", "params", "result", "name", "arguments", "uri")
RESULT_KEYS = ("result", "content", "text", "structuredContent", "resultType", "inputRequests")
VALUES = ('"tools/call"', '"ping"', "1", '{"name":"echo","arguments":{}}')
RESULT_VALUES = (
    '"secret"',
    '[{"type":"text","text":"secret"}]',
    '{"content":[{"type":"text","text":"secret"}]}',
    '"input_required"',
    '{"a":{"method":"sampling/createMessage","params":{"messages":["secret"]}}}',
)
ODD_VALUES = ("1e999", "NaN", "-Infinity", "1.0", "true", "null", "[]", "{}", '"x"', "1" * 5000)

words = st.sampled_from(WORDS)
values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
"""Any JSON."""


def make_params(method: str, word: str) -> Message:
    """What a request of this kind would be about."""
    if method == CALL:
        return {"name": "echo", "arguments": {"text": word}}
    if method == GET:
        return {"name": word, "arguments": {"a": word}}
    if method == READ:
        return {"uri": f"file:///{word}"}
    return {"messages": [word], "message": word}


@st.composite
def draw_message(
    draw: Callable[[st.SearchStrategy[Any]], Any], methods: tuple[str, ...]
) -> Message:
    """A message as it should be, of any kind."""
    method = draw(st.sampled_from((*methods, "x/unknown", "notifications/cancelled", "ping")))
    message: Message = {"jsonrpc": "2.0", "id": draw(st.integers(0, 5) | st.just("a"))}
    kind = draw(st.sampled_from(("request", "request", "notification", "result", "error")))
    if kind == "result":
        content = [{"type": "text", "text": draw(words)}]
        return {**message, "result": draw(st.just({"content": content}) | values)}
    if kind == "error":
        return {**message, "error": {"code": -1, "message": draw(words)}}
    if kind == "notification":
        del message["id"]
    params = make_params(method, draw(words))
    if method == "notifications/cancelled":
        params = {"requestId": draw(st.integers(0, 5))}
    return {**message, "method": method, "params": params}


# Ways to write it so that readers may disagree


def repeat_key(draw: Draw, text: str) -> str:
    """A key twice, at the beginning or at the end, maybe written otherwise."""
    key, value = draw(
        st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES))
        | st.tuples(st.sampled_from(RESULT_KEYS), st.sampled_from(RESULT_VALUES))
    )
    escaped = f"{key[:-1]}\\u00{ord(key[-1]):02x}"
    spelled = draw(st.sampled_from((key, key.upper(), key.title(), escaped)))
    ends = [at for at, one in enumerate(text) if one in "{}"] or [0]
    at = draw(st.sampled_from(ends))
    at += text[at : at + 1] == "{"
    pair = f'"{spelled}":{value}'
    is_first = text[at - 1 : at] == "{"
    return f"{text[:at]}{pair},{text[at:]}" if is_first else f"{text[:at]},{pair}{text[at:]}"


def respell_key(draw: Draw, text: str) -> str:
    """A key in capitals, with the long s, or with an escape."""
    key = draw(st.sampled_from(KEYS + RESULT_KEYS))
    others = (key.upper(), key.title(), key.replace("s", "ſ"), f"\\u00{ord(key[0]):02x}{key[1:]}")
    other = str(draw(st.sampled_from(others)))
    return text.replace(f'"{key}"', f'"{other}"', 1)


def break_line(draw: Draw, text: str) -> str:
    """What some take for the end of a line, anywhere."""
    at = draw(st.integers(0, len(text)))
    return text[:at] + str(draw(st.sampled_from(BREAKS))) + text[at:]


def hide_message(draw: Draw, text: str) -> str:
    """The message within a text of another one, between what some take for ends of lines."""
    end = draw(st.sampled_from(BREAKS))
    inner = end + text.replace('"', draw(st.sampled_from(('"', '\\"')))) + end
    return f'{{"jsonrpc":"2.0","method":"x/unknown","params":{{"t":"{inner}"}}}}'


def enclose_message(draw: Draw, text: str) -> str:
    """The message as a part of another one, on a line of its own for some."""
    end = draw(st.sampled_from(("\r", "\r\n", " ")))
    return f'{{"jsonrpc":"2.0","method":"x/unknown","params":{end}{text}{end}}}'


def join_message(draw: Draw, text: str) -> str:
    """Two messages in one line."""
    call = '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo"}}'
    between = str(draw(st.sampled_from(("", " ", ",", *BREAKS))))
    return text + between + call if draw(st.booleans()) else call + between + text


def wrap_message(draw: Draw, text: str) -> str:
    """The message within something else."""
    forms = (f"[{text}]", f"[[{text}]]", f'{{"x":{text}}}', f"[{text},{text}]")
    return str(draw(st.sampled_from(forms)))


def swap_value(draw: Draw, text: str) -> str:
    """A value of another kind."""
    old = draw(st.sampled_from(('"2.0"', '"echo"', '"tools/call"', "{}", "1", "2", '{"text"')))
    return text.replace(old, draw(st.sampled_from(ODD_VALUES)), 1)


def nest_value(draw: Draw, text: str) -> str:
    """A value as deep as readers can just go, or deeper."""
    depth = draw(st.sampled_from((100, 300, 600, 950, 5000)))
    old = draw(st.sampled_from(('"echo"', '"plain"', '"text"', "{}", "1", "2")))
    return text.replace(old, "[" * depth + "]" * depth, 1)


def drop_part(draw: Draw, text: str) -> str:
    """Without some of it."""
    start = draw(st.integers(0, len(text)))
    return text[:start] + text[draw(st.integers(start, len(text))) :]


CHANGES = (
    repeat_key,
    respell_key,
    break_line,
    hide_message,
    enclose_message,
    join_message,
    wrap_message,
    swap_value,
    nest_value,
    drop_part,
)


@st.composite
def draw_line(draw: Draw, methods: tuple[str, ...]) -> bytes:
    """A line as it may come: right, changed, or none at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=60)).replace(b"\n", b"") or b"x"
    message = draw(draw_message(methods) | values)
    text = json.dumps(message, ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        text = draw(st.sampled_from(CHANGES))(draw, text)
    line = text.encode(errors="surrogatepass").replace(b"\n", b" ")
    if draw(st.integers(0, 7)) == 0:
        at = draw(st.integers(0, len(line)))
        line = (
            line[:at] + draw(st.sampled_from((b"\xff", b"\xc0\xaf", b"\xed\xa0\x80"))) + line[at:]
        )
    return line or b" "


@st.composite
def draw_result(draw: Draw) -> bytes:
    """The answer to the request with the id 1, or nearly so."""
    result: Message = {"content": [{"type": "text", "text": draw(words)}]}
    if draw(st.booleans()):
        result["structuredContent"] = {"said": draw(words)}
    if draw(st.booleans()):
        asked = {"method": SAMPLE, "params": make_params(SAMPLE, draw(words))}
        result |= {"resultType": "input_required", "inputRequests": {"a": asked}}
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result})
    for _ in range(draw(st.integers(1, 3))):
        text = draw(st.sampled_from((repeat_key, repeat_key, respell_key, *CHANGES)))(draw, text)
    return text.encode(errors="surrogatepass").replace(b"\n", b" ")


from_client = draw_line((CALL, READ, GET, "tools/list"))
from_server = draw_line((SAMPLE, ELICIT))


CALLED = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}'
KNOWN_TRICKS = tuple(
    text.encode()
    for text in (
        CALLED.replace('"id"', '"method":"ping","id"'),
        CALLED.replace("}}", '},"method":"ping"}'),
        CALLED.replace("tools/call", "ping").replace('"id"', '"Method":"tools/call","id"'),
        CALLED.replace("tools/call", "ping").replace("}}", '},"METHOD":"tools/call"}'),
        CALLED.replace('"echo"', '"echo","Name":"other"'),
        CALLED.replace('"echo"', '"echo","argumentſ":{"text":"other"}'),
        CALLED.replace('"echo"', '"echo","name":"other"'),
        CALLED.replace('"id":1,', ""),
        f'{{"jsonrpc":"2.0","method":"x/unknown","params":\r{CALLED}\r}}',
        f'{{"jsonrpc":"2.0","method":"x/unknown","params":{{"a":\r{CALLED}\r}}}}',
        f"{CALLED}{CALLED}",
        f"[{CALLED}]",
        f"\ufeff{CALLED}",
    )
)
"""Lines that are one thing to us and would be another to somebody else, if we passed them on."""
