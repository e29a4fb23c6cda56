"""Trails as sessions write them, as other programs spell them, and as somebody has spoiled them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from amplifier_audit.encoding import encode_body, encode_source
from amplifier_audit.record import TAIL, Chain, hash_record, make_log_id
from tests.audit.tampering import WAYS, insert_forged, replace_by_forged

LONG_AGO = 1_750_000_000_000_000_000
"""When a trail begins, in nanoseconds; its records are a second apart."""

EVENTS = (
    "content_block:delta",
    "content_block:end",
    "tool:pre",
    "tool:post",
    "tool:error",
    "error:tool",
    "prompt:submit",
    "prompt:complete",
    "provider:request",
    "provider:response",
    "orchestrator:complete",
    "policy:violation",
    "provenance:judged",
    "session:fork",
    "error:orchestration",
    "artifact:read",
    "user:notification",
    "context:post_compact",
    "agent:spawn",
    "",
)
HOOKS = ("guard", "display", "a b", 'q"u', "ü", "x]", '{"hook":"y', "back\\slash", "")
ACTIONS = ("continue", "continue", "continue", "deny", "ask_user", "modify", "inject_context")
TIMES = (0, 0.003, 0.12, 1.5, 12, 1e-7, 123456.789, 1234567890123, None)
TEXTS = (
    "hello",
    "hello again",
    "",
    "[REDACTED:token]",
    "a [secret] b",
    "[1]",
    "$cut",
    '"action":"deny"',
    "naïve \x7f",
    "[withheld: a scrubber failed]",
)

_texts = st.sampled_from(TEXTS)
_values = st.recursive(
    _texts | st.integers(-3, 3) | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts, inner, max_size=2),
    max_leaves=3,
)
_marked = st.sampled_from(
    [{"$commitment": "c" * 43}, {"$cut": "text", "length": 9, "head": "begin"}, {"$c": 1}]
)
_data = st.fixed_dictionaries(
    {},
    optional={
        "delta": _texts,
        "prompt": _texts | _marked,
        "tool_name": st.sampled_from(["Bash", "Write"]),
        "tool_input": st.dictionaries(st.sampled_from(["command", "file_path"]), _texts),
        "tool_call_id": st.sampled_from(["c1", "c2"]),
        "tool_result": _values | _marked,
        "agent_id": st.sampled_from(["", "agent"]),
        "child_id": st.just("s2"),
        "agent_name": st.just("helper"),
        "success": st.booleans(),
        "status": st.sampled_from(["success", "error"]),
        "final_message": st.fixed_dictionaries({"content": _texts}),
        "error": _texts,
        "reason": _texts,
        "hook": st.just("guard"),
        "event": st.just("tool:pre"),
        "$commitment": st.just("c" * 43),
        "other": _values,
    },
)


@st.composite
def draw_answers(draw: st.DrawFn) -> dict[str, Any]:
    """What one hook said: nearly always that it may go on."""
    quiet = draw(st.integers(0, 9)) > 0
    answer: dict[str, Any] = {
        "hook": draw(st.sampled_from(HOOKS[:2] if quiet else HOOKS)),
        "id": draw(st.integers(0, 12)),
        "action": "continue" if quiet else draw(st.sampled_from(ACTIONS)),
        "ms": draw(st.sampled_from(TIMES[:5] if quiet else TIMES)),
    }
    if not quiet:
        more = {"reason": "no", "error": "OSError: no", "unheeded": True, "shadowed": "deny"}
        for name in draw(st.sets(st.sampled_from(sorted(more)))):
            answer[name] = more[name]
    return answer


@dataclass(frozen=True)
class Happening:
    """One record to be; `spelling` says how its line is written."""

    type: str
    body: dict[str, Any]
    session: str | None = "s1"
    turn: int | None = 1
    event: str | None = None
    hook: str | None = None
    registration: int | None = None
    spelling: str = ""


@st.composite
def draw_events(draw: st.DrawFn) -> Happening:
    """An event, and what hooks said."""
    answers = draw(st.lists(draw_answers(), max_size=3))
    said = [one["action"] for one in answers]
    body: dict[str, Any] = {
        "action": next((one for one in said if one != "continue"), "continue"),
        "hooks": answers,
        "data": draw(st.one_of(_data, _data, _data, st.none())),
    }
    if draw(st.integers(0, 9)) == 0:
        body |= draw(st.sampled_from([{"before": {"prompt": "x"}}, {"judged_again": True}]))
    return Happening(
        "dispatch",
        body,
        draw(st.sampled_from(["s1", "s1", "s1", "s2", "ü", None])),
        draw(st.sampled_from([0, 1, 1, 1, 2, None])),
        draw(st.sampled_from(EVENTS)),
        spelling=draw(st.sampled_from(["", "", "", "", *_SPELLINGS])),
    )


_CALL = {"tool": "Bash", "id": "c1", "digest": "d1"}
_OTHERS: Sequence[Happening] = (
    Happening("tool_started", {**_CALL, "gated": True}, event="tool:pre"),
    Happening("tool_finished", {**_CALL, "outcome": "returned", "ms": 3}, event="tool:pre"),
    Happening(
        "approval_requested",
        {**_CALL, "prompt": "May I?", "options": ["Allow", "Deny"], "timeout": "60", "input": {}},
        event="tool:pre",
        hook="guard",
        registration=1,
    ),
    Happening(
        "approval_handed_over",
        {**_CALL, "to": "claude", "goes_on": True},
        event="tool:pre",
        hook="guard",
        registration=1,
    ),
    Happening(
        "approval_outcome",
        {**_CALL, "state": "not_run", "evidence": "next prompt", "settles": "", "to": "claude"},
        event="tool:pre",
        hook="guard",
    ),
    Happening(
        "approval_decided",
        {"allowed": False, "how": "person", "by": "ann", "digest": "d1", "id": "c1"},
        event="tool:pre",
        hook="guard",
        registration=1,
    ),
    Happening("hook_failed", {"error": "OSError", "at": "", "denied": False}, hook="guard"),
    Happening("hook_registered", {"priority": 0, "on_error": "deny"}, hook="guard", registration=1),
    Happening("action_resolved", {"hook": "guard", "id": 1, "action": "deny", "ms": 1}),
    Happening("shadowed", {"action": "deny", "would": "no"}, hook="guard"),
    Happening("bundle_loaded", {"folder": "/shop", "bundle": "shop", "file": "/shop/a.yaml"}),
    Happening("session_started", {"resumed": False, "parent": None, "shadow": False}),
    Happening("session_started", {"resumed": False, "parent": "s1"}, session="s2"),
    Happening("session_ended", {"reason": "done", "stats": {"hooks": {"guard": {"calls": 3}}}}),
    Happening("log_opened", {"level": "decisions", "values": "inline"}, None, None),
    Happening("log_opened", {"level": "normal", "values": "inline"}, None, None),
    Happening("user_message", {"text": "hello", "level": "info"}, hook="guard"),
    Happening("made_up", {"action": "deny"}),
)


def draw_trails() -> st.SearchStrategy[list[bytes]]:
    """The lines of a trail."""
    happening = st.one_of(draw_events(), draw_events(), draw_events(), st.sampled_from(_OTHERS))
    return st.lists(happening, min_size=1, max_size=25).map(make_lines)


def make_lines(happenings: Sequence[Happening]) -> list[bytes]:
    """The lines that a writer makes of them."""
    chain = Chain(make_log_id())
    lines = []
    for number, one in enumerate(happenings):
        source = encode_source(
            one.type, one.session, one.turn, one.event, one.hook, one.registration
        )
        moment = LONG_AGO + number * 1_000_000_000
        ticks = (number + 1) * 1_000_000_000
        (line,) = chain.extend_all([(source, encode_body(one.body), moment, ticks)])
        lines.append(respell(line, _SPELLINGS[one.spelling]) if one.spelling else line)
    return lines


def respell(line: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The same record with a right hash, as another program might have written it."""
    covered = change(line[:-TAIL])
    return b'%b,"hash":"%b"}\n' % (covered, hash_record(covered).encode())


_SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "blanks": lambda line: line.replace(b'":', b'": ', 9),
    "late blanks": lambda line: line[:200] + line[200:].replace(b'":', b'" :'),
    "escapes": lambda line: line.replace(b"continue", b"\\u0063ontinue"),
    "escaped event": lambda line: line.replace(b'"event":"', b'"event":"\\u0074', 1),
    "escaped data": lambda line: line.replace(b'"data"', b'"d\\u0061ta"', 1),
    "escaped mark": lambda line: line.replace(b"$c", b"\\u0024c").replace(b"[R", b"\\u005bR"),
    "exponents": lambda line: line.replace(b'"ms":0.12', b'"ms":12e-2'),
    "zeros": lambda line: line.replace(b'"ms":1.5', b'"ms":1.50'),
    "one more member": lambda line: line.replace(b'"data":', b'"more":1,"data":', 1),
    "other order": lambda line: line.replace(b'"action":"continue","hooks":[]', b'"hooks":[]', 1),
}


# Forging needs whole lines before it; lines that somebody else wrote are spelled oddly above.
_DAMAGES = [one for one in WAYS if one not in (insert_forged, replace_by_forged)]


def spoil(lines: list[bytes], seed: int) -> list[bytes]:
    """The lines, with some damage."""
    chance = random.Random(seed)
    for _ in range(chance.randrange(1, 4)):
        if len(lines) > 2:
            lines, _ = chance.choice(_DAMAGES)(lines, chance)
    return lines


def write_trail(folder: Path, lines: Sequence[bytes]) -> Path:
    """A log of two segments with these lines."""
    folder.mkdir()
    half = len(lines) // 2
    for number, some in enumerate((lines[:half], lines[half:])):
        (folder / f"{number:08d}.jsonl").write_bytes(b"".join(some))
    return folder
