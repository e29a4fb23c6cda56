"""Turns, put together from their records."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.step import Said
from tests.hooks.insight.reports.stories import at, event, gather, prompt, respond


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
    assert [one.text.text for one in turn.steps if isinstance(one, Said)] == ["I look."]
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
