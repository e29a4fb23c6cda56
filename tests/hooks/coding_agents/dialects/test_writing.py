"""Answering other agents within the powers that they give."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.answer import parse_object
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    Dialect,
    Handler,
    NativeEvent,
    Occasion,
    Power,
    Reply,
    build_reply,
)
from amplifier_hooks.coding_agents.dialects.matcher import matches_regex
from amplifier_hooks.coding_agents.dialects.reading import name_event
from amplifier_hooks.coding_agents.dialects.writing import NO_REASON, fit_verdict, write_reply
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Verdict


def make_row(event: str, *powers: Power, **more: Any) -> NativeEvent:
    """An event at which answers have these powers."""
    return NativeEvent((Occasion(event),), lambda call: {}, powers=frozenset(powers), **more)


def read_plain(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """An agent that denies by `no`, and changes by `input` and `prompt`."""
    if reply.code == 2 and reply.stderr:
        return Verdict("deny", reply.stderr)
    said = parse_object(reply.stdout) or {}
    verdict = Verdict(tool_input=said.get("input"), prompt=said.get("prompt"))
    return replace(verdict, decision="deny", reason=said["no"]) if "no" in said else verdict


def write_plain(incoming: Incoming, verdict: Verdict) -> Reply:
    """The same from the other side."""
    return build_reply(
        {
            "no": verdict.reason if verdict.decision == "deny" else None,
            "input": verdict.tool_input,
            "prompt": verdict.prompt,
            "output": None if verdict.output is UNCHANGED else verdict.output,
        }
    )


PLAIN = Dialect(
    name="plain",
    events={
        "all": make_row(
            *("tool:pre", "deny", "rewrite", "replace", "inject", "ask", "allow", "stop", "tell"),
            matched=TOOL,
            gate=True,
        ),
        "gate": make_row("prompt:submit", "deny", "tell", gate=True),
        "shown": make_row("tool:post", "replace", "tell", matched=TOOL),
        "failed": make_row("tool:error", "inject", "tell", matched=TOOL),
        "start": make_row("session:start", "inject", "tell"),
        "spawn": make_row("agent:spawn", "inject"),
        "end": make_row("orchestrator:complete", "deny", "stop", "tell"),
        "seen": make_row("session:end"),
        "deaf": make_row("tool:pre", "deny", gate=True, refusal='{"no": "unjudged"}'),
    },
    build_common=lambda call: {},
    build_environment=lambda call: {},
    read_reply=read_plain,
    write_reply=write_plain,
    matches=matches_regex,
    timeout=60.0,
    input_keys={"Bash": {"command": "line"}},
)
NOBODY = "sure? (plain cannot ask a person here)"
UNTAKEN = "a hook changed this, and plain takes no changes at "
SHOWN = "A hook changed what this shows, but plain had shown it already."


def tell(native: str) -> Incoming:
    """An occurrence of an event."""
    event = PLAIN.events[native].occasions[0].event
    return Incoming(event, {"tool_name": "Bash"}, native, "s-1")


def fit(native: str, verdict: Verdict) -> Verdict:
    """What is left of a verdict at an event."""
    return fit_verdict(PLAIN, tell(native), verdict)


ASK = Verdict("ask", "sure?")
DENY = Verdict("deny", "no")


@pytest.mark.parametrize(
    ("native", "verdict", "expected"),
    [
        ("all", ASK, ASK),
        ("all", replace(ASK, decision="defer"), ASK),
        ("gate", ASK, Verdict("deny", NOBODY)),
        ("gate", Verdict("defer"), Verdict("deny", f"A hook asks.{NOBODY[5:]}")),
        ("shown", ASK, Verdict(output=NOBODY)),
        ("failed", ASK, Verdict(context=(NOBODY,))),
        ("end", ASK, Verdict(reason="sure?", notes=(NOBODY,))),
        ("seen", ASK, Verdict()),
    ],
)
def test_a_question_that_cannot_be_put_is_a_denial(
    native: str, verdict: Verdict, expected: Verdict
) -> None:
    """But not where a denial would make the agent go on."""
    assert fit(native, verdict) == expected


def test_a_permission_goes_where_it_is_taken() -> None:
    """Elsewhere it is no opinion."""
    assert fit("all", Verdict("allow")).decision == "allow"
    assert fit("gate", Verdict("allow")).decision is None


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("all", Verdict("deny", "enough", stop="enough")),
        ("gate", Verdict("deny", "enough")),
        ("end", Verdict(stop="enough")),
        ("start", Verdict()),
    ],
)
def test_a_stop_denies_what_is_about_to_happen(native: str, expected: Verdict) -> None:
    """And ends the turn where that can be said."""
    assert fit(native, Verdict(stop="enough")) == expected


def test_a_denial_keeps_its_reason_beside_a_stop() -> None:
    """But at the end of a turn a stop wins, as the denial would make the agent go on."""
    verdict = Verdict("deny", "no", stop="enough")
    assert fit("all", verdict) == verdict
    assert fit("end", verdict).decision is None


@pytest.mark.parametrize("changed", [Verdict(tool_input={}), Verdict(prompt="x")])
def test_a_change_that_is_not_taken_is_a_denial(changed: Verdict) -> None:
    """What the hook changed must not happen as it was."""
    assert fit("gate", changed) == Verdict("deny", f"{UNTAKEN}gate")
    assert fit("end", changed) == Verdict(notes=(f"{UNTAKEN}end",))
    assert fit("gate", replace(changed, decision="deny", reason="no")) == DENY


def test_a_changed_input_goes_out_with_their_names() -> None:
    """As it came in with ours."""
    verdict = Verdict(tool_input={"command": "ls", "n": 1})
    assert fit("all", verdict).tool_input == {"line": "ls", "n": 1}


def test_a_change_to_what_was_shown_already_is_told() -> None:
    """The person should know that a hook came too late."""
    assert fit("gate", Verdict(output="x")) == Verdict(notes=(SHOWN,))
    assert fit("shown", Verdict(output="x")) == Verdict(output="x")
    assert fit("seen", Verdict(output="x")) == NOTHING


@pytest.mark.parametrize("reason", [None, "", " \n"])
def test_a_denial_has_a_reason_in_any_case(reason: str | None) -> None:
    """Without one it is void for some agents."""
    assert fit("gate", Verdict("deny", reason)) == Verdict("deny", NO_REASON)


def test_a_denial_changes_nothing() -> None:
    """There is nothing left to change."""
    assert fit("all", replace(DENY, tool_input={}, prompt="x")) == DENY


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("shown", Verdict(output="no")),
        ("failed", Verdict(context=("no",))),
        ("start", Verdict(notes=("no",))),
        ("spawn", Verdict(context=("no",))),
        ("seen", NOTHING),
    ],
)
def test_where_nothing_can_be_denied_the_reason_is_told(native: str, expected: Verdict) -> None:
    """In the place of a result, to the agent, or to the person."""
    assert fit(native, DENY) == expected


def test_words_go_only_where_somebody_reads_them() -> None:
    """Warnings are for the person, as notes are."""
    words = Verdict(context=("c",), notes=("n",), warnings=("w",))
    assert fit("all", words) == Verdict(context=("c",), notes=("n", "w"))
    assert fit("gate", words) == Verdict(notes=("n", "w"))
    assert fit("spawn", words) == Verdict(context=("c",))
    assert fit("seen", words) == NOTHING


# Replies


def write(native: str, verdict: Verdict, dialect: Dialect = PLAIN) -> Reply:
    """The reply to an event."""
    return write_reply(dialect, tell(native), verdict)


def test_an_answer_is_what_the_agents_own_table_writes() -> None:
    """As long as the agent obeys it."""
    assert write("all", DENY) == Reply(stdout='{"no": "no"}')
    assert write("all", Verdict(tool_input={})) == Reply(stdout='{"input": {}}')
    assert write("all", NOTHING) == Reply()


@pytest.mark.parametrize("verdict", [DENY, Verdict(tool_input={}), Verdict(prompt="x")])
def test_what_the_agent_would_not_obey_is_blocked_by_the_exit_code(verdict: Verdict) -> None:
    """A table that forgets to write it must not let it pass."""
    forgetful = replace(PLAIN, write_reply=lambda incoming, verdict: Reply(stdout="{}"))
    reply = write("all", verdict, forgetful)
    assert (reply.code, reply.stdout) == (2, "")
    assert reply.stderr == ("no" if verdict is DENY else NO_REASON)


def test_where_an_exit_code_does_not_block_the_row_says_what_does() -> None:
    """It needs no judge."""
    forgetful = replace(PLAIN, write_reply=lambda incoming, verdict: Reply())
    assert write("deaf", DENY, forgetful) == Reply(stdout='{"no": "unjudged"}')


def test_a_stricter_answer_than_wanted_is_obeyed_too() -> None:
    """An agent's table may deny what the agent cannot change."""
    strict = replace(PLAIN, write_reply=lambda incoming, verdict: Reply(stdout='{"no": "never"}'))
    assert write("all", Verdict(tool_input={}), strict) == Reply(stdout='{"no": "never"}')


NAN = float("nan")


def test_what_json_cannot_say_is_blocked() -> None:
    """Half an answer would be none."""
    reply = write("all", Verdict(tool_input={"limit": NAN}))
    assert reply.code == 2
    assert reply.stderr.startswith("a hook's change cannot be written as JSON (")


def test_a_result_that_json_cannot_say_is_withheld() -> None:
    """The old one might be what had to be hidden."""
    printed = json.loads(write("shown", Verdict(output={"limit": NAN})).stdout)
    assert printed["output"].startswith("Withheld: a hook's change cannot be written as JSON (")


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, RecursionError])
def test_a_table_that_fails_lets_nothing_pass(error: type[Exception]) -> None:
    """And where nothing can be denied, it says nothing."""

    def fail(incoming: Incoming, verdict: Verdict) -> Reply:
        raise error("broken")

    broken = replace(PLAIN, write_reply=fail)
    assert write("gate", DENY, broken) == Reply(code=2, stderr="no")
    assert write("gate", NOTHING, broken).code == 2
    assert write("seen", NOTHING, broken) == Reply()


def test_a_reason_on_standard_error_is_whole() -> None:
    """It has to be written as bytes."""
    forgetful = replace(PLAIN, write_reply=lambda incoming, verdict: Reply())
    assert write("gate", Verdict("deny", "half \ud800"), forgetful).stderr == "half ?"


def test_an_agent_that_cannot_be_answered_says_so() -> None:
    """A mistake of ours, not of the agent."""
    with pytest.raises(ValueError, match="plain cannot be answered"):
        write("all", DENY, replace(PLAIN, write_reply=None))


# What holds for every agent

ROWS = [(agent, native) for agent, dialect in DIALECTS.items() for native in dialect.events]
CLOSED = [where for where in ROWS if "deny" in DIALECTS[where[0]].events[where[1]].powers]
texts = st.text(max_size=20) | st.sampled_from(["\ud800", "{", "\x00", "\u2028"])
inputs = st.dictionaries(texts, texts | st.integers() | st.floats() | st.none(), max_size=3)
verdicts = st.builds(
    Verdict,
    decision=st.sampled_from([None, "allow", "ask", "defer", "deny"]),
    reason=st.none() | texts,
    tool_input=st.none() | inputs,
    prompt=st.none() | texts,
    output=st.just(UNCHANGED) | texts | inputs | st.none(),
    context=st.lists(texts, max_size=2).map(tuple),
    notes=st.lists(texts, max_size=2).map(tuple),
    warnings=st.lists(texts, max_size=2).map(tuple),
    stop=st.none() | texts,
)


def make_event(agent: str, native: str) -> Incoming:
    """A call of a shell, at whichever event."""
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    told = {**call, "tool_response": {"stdout": "made"}}
    event = name_event(native, DIALECTS[agent].events[native])
    return Incoming(event, dict(call), native, "s-1", payload=told)


def read_back(agent: str, incoming: Incoming, reply: Reply) -> Verdict:
    """What the agent makes of a reply."""
    handler = Handler(agent, incoming.native, "guest")
    call = Call(incoming.event, incoming.native, incoming.data, "s-1", "/project")
    return DIALECTS[agent].read_reply(handler, call, reply)


@given(st.sampled_from(CLOSED), st.none() | texts, verdicts)
def test_no_agent_takes_a_denial_for_anything_else(
    where: tuple[str, str], reason: str | None, other: Verdict
) -> None:
    """Whatever else the hooks said."""
    incoming = make_event(*where)
    verdict = replace(other, decision="deny", reason=reason, stop=None)
    reply = write_reply(DIALECTS[where[0]], incoming, verdict)
    assert read_back(where[0], incoming, reply).decision == "deny"


@given(st.sampled_from(ROWS), verdicts)
def test_every_reply_is_one_object_or_nothing(where: tuple[str, str], verdict: Verdict) -> None:
    """As bytes, for parsers that take no constants and no half characters."""
    incoming = make_event(*where)
    reply = write_reply(DIALECTS[where[0]], incoming, verdict)
    assert reply.failure is None
    assert not reply.stdout.encode() or isinstance(json.loads(reply.stdout), dict)
    assert (reply.code == 2) == bool(reply.stderr.encode())
    assert not read_back(where[0], incoming, reply).warnings
    if reply.code == 0 and verdict.decision not in ("ask", "defer"):
        decision = read_back(where[0], incoming, reply).decision
        assert decision in ("deny", None, verdict.decision) or verdict.tool_input is not None
