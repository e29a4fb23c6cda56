"""How sessions begin, break and end."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.insight.reports.model import AgentText, Call, SessionFigures
from amplifier_hooks.trails import Item, Note, RecordedApproval, RecordedCall
from tests.hooks.insight.reports.stories import (
    answer,
    ask,
    at,
    call,
    decide,
    end,
    event,
    gather,
    note,
    place,
    prompt,
    respond,
    run,
)
from tests.support.bodies import make_body


@pytest.mark.parametrize(
    ("items", "ending"),
    [
        ([end(2)], "complete"),
        ([end(2, "error")], "error"),
        ([note(2, "session_suspended", {})], "suspended"),
        ([end(2), note(3, "session_started", {"resumed": True})], ""),
        ([note(2, "session_ended", {"reason": "complete"}, session="child")], ""),
    ],
)
def test_the_end_is_that_of_the_session_itself(items: list[object], ending: str) -> None:
    """A sub-agent's end is not, and one that was resumed has not ended."""
    assert gather(*items).ending == ending  # type: ignore[arg-type]


def test_what_went_wrong_is_kept() -> None:
    """Errors of the kernel, of the loop and of models."""
    session = gather(
        note(1, "error", {"what": "context", "error": "full"}),
        event(2, "provider:error", {"error": {"message": "overloaded"}}),
        event(3, "module:load_failed", {"error": "no such module"}),
    )
    found = [(one.event, one.reason) for one in session.errors]
    assert found == [
        ("context", "full"),
        ("provider:error", "overloaded"),
        ("module:load_failed", "no such module"),
    ]


def test_the_key_that_the_trail_names_is_kept() -> None:
    """So that a reader knows that there are signatures."""
    assert gather(note(0, "log_opened", {"key": "name+1234"})).key == "name+1234"


def test_a_session_that_was_resumed_says_how_often() -> None:
    """Only the session itself counts."""
    started = [note(n, "session_started", {"resumed": True, "parent": None}) for n in (1, 2)]
    child = note(3, "session_started", {"resumed": True, "parent": "p"})
    assert gather(*started, child).resumed == 2


def list_calls(session: SessionFigures) -> list[Call]:
    return [step for turn in session.turns for step in turn.steps if isinstance(step, Call)]


def finish(second: float, **more: object) -> RecordedCall:
    """The end of a call."""
    fields = {"tool": "Bash", "call_id": "c1", "outcome": "returned", "success": True, **more}
    return RecordedCall(**place(second, "tool:pre"), stage="finished", **fields)  # type: ignore[arg-type]


def test_a_call_has_its_input_its_result_and_its_time() -> None:
    """From four records."""
    session = gather(prompt(1, "go"), run(2, "Bash", {"command": "make"}, "built"))
    (one,) = list_calls(session)
    assert (one.tool, one.about, one.outcome, one.ms) == ("Bash", "make", "done", 200.0)
    assert (one.input.text, one.result.text) == ("command: make", "built")
    assert [command.about for command in session.commands] == ["make"]
    assert session.calls["done"] == session.call_count == 1
    assert len(session.running) == 1


def hand_over(second: float, state: str = "", **more: Any) -> RecordedApproval:
    """A question that another program asks, or what it showed of it."""
    fields = {"hook": "guard", "id": 1, "digest": "d", "call_id": "c1", "to": "claude", **more}
    stage: Any = "outcome" if state else "handed_over"
    return RecordedApproval(**place(second, "tool:pre"), stage=stage, state=state, **fields)


def test_a_call_that_another_program_asks_about_is_known_by_what_it_shows() -> None:
    """Not started before it ran; and when it did, it was approved."""
    asked: list[Item] = [prompt(1, "go"), call(2, "Bash", {"command": "make"}), hand_over(3)]
    for later, outcome, commands in (
        ([], "unknown", 0),
        ([hand_over(4, "not_run")], "not run", 0),
        ([hand_over(4, "allowed"), finish(5, ms=500.0)], "done", 1),
        ([hand_over(4, "not_run"), hand_over(5, "allowed"), finish(6)], "done", 1),
        ([hand_over(4, "allowed"), finish(5, outcome="raised", success=None)], "failed", 1),
    ):
        session = gather(*asked, *later)
        (one,) = list_calls(session)
        assert (one.outcome, one.gated) == (outcome, bool(commands))
        assert session.commands.count == commands
        assert session.calls[outcome] == session.call_count == 1


def test_a_call_that_only_ended_ran_as_long_as_it_says() -> None:
    """Another program told how it ended, and how long it took."""
    session = gather(prompt(1, "go"), call(2, "Bash", {"command": "make"}), finish(9, ms=2000.0))
    ((began, ended),) = session.running
    assert ended - began == pytest.approx(2.0)


def test_a_denied_call_that_ran_is_one_call_and_leads_the_report() -> None:
    """What came of it is told, and that it was denied."""
    denied = call(1, "Bash", {"command": "rm x"}, answer("guard", "deny", reason="no"))
    body = {"tool": "Bash", "id": "c1", "agent": "claude", "shown": "result", "success": True}
    note = Note(**place(2, "tool:post"), hook="guard", body=make_body("denial_contradicted", body))
    session = gather(denied, note, finish(3))
    (one,) = list_calls(session)
    assert (one.outcome, one.contradicted, one.by, one.reason) == ("done", True, "guard", "no")
    (found,) = session.contradictions
    assert (found.about, found.hook, found.agent, found.success) == (
        "rm x",
        "guard",
        "claude",
        True,
    )
    assert (session.denied, session.call_count) == (1, 1)


def test_a_denied_call_says_by_whom_and_why() -> None:
    """It is no command that ran."""
    session = gather(call(1, "Bash", {"command": "rm"}, answer("guard", "deny", reason="no")))
    (one,) = list_calls(session)
    assert (one.outcome, one.by, one.reason) == ("denied", "guard", "no")
    assert session.commands.count == 0


def test_a_refused_call_says_by_whom() -> None:
    """The answer finds its call, also when another one waits."""
    session = gather(
        call(1, "Write", {"file_path": "a"}, id="c1"),
        call(2, "Write", {"file_path": "b"}, id="c2"),
        ask(3, call_id="c1", digest="d1"),
        ask(3, call_id="c2", digest="d2"),
        decide(4, False, digest="d1", comment="not today"),
        decide(5, True, digest="d2"),
    )
    first, second = list_calls(session)
    assert (first.outcome, first.by, first.reason) == ("refused", "ann", "not today")
    assert second.outcome == "not started"


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({"success": False}, "failed"),
        ({"outcome": "raised", "success": None}, "failed"),
        ({"outcome": "cancelled"}, "stopped"),
        ({"outcome": "unknown"}, "unknown"),
    ],
)
def test_a_call_can_end_badly(more: dict[str, object], outcome: str) -> None:
    """Each way has a word of its own."""
    (one,) = list_calls(gather(call(1, "Bash", {}), finish(2, **more)))
    assert one.outcome == outcome


def test_a_call_without_an_end_has_an_unknown_outcome() -> None:
    """The process may have been killed in the middle of it."""
    session = gather(run(1, "Bash", {"command": "make"})[:2])
    assert session.calls["unknown"] == session.call_count == 1


def test_an_edited_call_shows_what_ran() -> None:
    """It is judged again with the input that the person left."""
    session = gather(
        call(1, "Bash", {"command": "rm -r /"}),
        call(2, "Bash", {"command": "rm -r build"}, again=True),
    )
    (one,) = list_calls(session)
    assert one.about == "rm -r build"


def test_a_tool_that_raised_has_failed() -> None:
    """With what it raised."""
    data = {"tool_name": "Bash", "tool_call_id": "c1", "error": {"message": "gone"}}
    (one,) = list_calls(gather(call(1, "Bash", {}), event(2, "tool:error", data)))
    assert (one.outcome, one.result.text) == ("failed", "gone")


def test_with_decisions_alone_calls_are_known_by_their_tool() -> None:
    """There are no events then."""
    (one,) = list_calls(gather(run(1, "Bash", {})[1:3]))
    assert (one.tool, one.outcome, one.input.text) == ("Bash", "done", "")


def test_files_are_told_once_and_by_their_place_in_the_folder() -> None:
    """From events, or from the names of tools where there are none."""
    written = event(2, "artifact:write", {"path": "/home/ann/src/a.py"})
    records = run(1, "Write", {"file_path": "src/a.py"})
    told = gather(records[0], records[1], written, records[2:], folder="/home/ann")
    guessed = gather(run(1, "Edit", {"file_path": "src/a.py"}), run(2, "Read", {"path": "b"}))
    assert told.written == guessed.written == {"src/a.py": 1}
    assert guessed.read == {"b": 1}
    read = gather(event(2, "artifact:read", {"path": "/etc/hosts"}), folder="/home/ann")
    assert read.read == {"/etc/hosts": 1}


def test_a_turn_has_its_prompt_its_answer_and_what_it_took() -> None:
    """What the agent said on the way is a step."""
    session = gather(
        prompt(1, "fix it"),
        event(2, "provider:request", {}),
        respond(5, "claude-sonnet-4", "I look.", input_tokens=1_000, output_tokens=100),
        event(6, "prompt:answer", {"response": "Fixed."}),
    )
    (turn,) = session.turns
    assert (turn.prompt.text, turn.answer.text, turn.tokens) == ("fix it", "Fixed.", 1_100)
    assert [one.text.text for one in turn.steps if isinstance(one, AgentText)] == ["I look."]
    assert turn.money is not None
    ((start, stop),) = session.thinking
    assert stop - start == 3


def test_an_older_trail_has_the_answer_in_another_record() -> None:
    """What the loop ended with."""
    message = {"role": "assistant", "content": "Fixed."}
    data = {"final_message": message, "status": "max_iterations"}
    session = gather(prompt(1, "fix it"), event(2, "orchestrator:complete", data))
    (turn,) = session.turns
    assert (turn.answer.text, turn.status) == ("Fixed.", "max_iterations")


def test_the_answer_is_the_one_that_was_handed_over() -> None:
    """A hook may have changed it."""
    changed = event(3, "prompt:answer", {"response": "a key"}, left={"response": "[REDACTED]"})
    (turn,) = gather(prompt(1, "fix it"), changed).turns
    assert turn.answer.text == "[REDACTED]"


def test_a_reply_that_is_judged_again_counts_once() -> None:
    """Tokens are spent once."""
    reply = {"model": "local", "usage": {"input_tokens": 7}}
    session = gather(
        prompt(1, "go"),
        event(2, "provider:response", reply),
        event(3, "provider:response", reply, again=True),
    )
    assert session.spending.total.tokens == 7


def test_sub_agents_have_turns_of_their_own() -> None:
    """By the name that they were started with."""
    session = gather(
        prompt(1, "go"),
        event(2, "session:fork", {"child_id": "child", "agent_name": "reviewer"}),
        prompt(3, "review", session="child"),
        prompt(4, "more", session="stranger"),
    )
    assert [turn.agent for turn in session.turns] == ["", "reviewer", "sub-agent"]
    assert session.agents == {"reviewer": 1, "sub-agent": 1}
    assert [*session.working] == [*gather(prompt(1, "go")).working]


def test_what_happens_outside_of_a_turn_is_told() -> None:
    """A record of a later turn without its prompt begins one."""
    session = gather(respond(1, "local", "hello"), respond(2, "local", "again"))
    (turn,) = session.turns
    assert (turn.prompt.text, turn.started, turn.steps.count) == ("", at(1), 2)


def test_a_denied_prompt_and_a_withheld_answer_are_marked() -> None:
    """They ended because a hook said so."""
    denied = prompt(1, "go", action="deny")
    withheld = event(3, "prompt:answer", {"response": "x"}, action="deny")
    assert [turn.status for turn in gather(denied).turns] == ["denied"]
    assert [turn.status for turn in gather(prompt(1, "go"), withheld).turns] == ["withheld"]
