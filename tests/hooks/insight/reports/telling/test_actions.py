"""What the agent did."""

from __future__ import annotations

from amplifier_hooks.insight.reports.telling.actions import tell_actions
from amplifier_hooks.insight.reports.telling.document import Folded, Listing
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import (
    answer,
    call,
    event,
    gather,
    prompt,
    respond,
    run,
)


def test_a_turn_is_told_from_prompt_to_answer() -> None:
    """What was said last is the answer, and is told once."""
    session = gather(
        prompt(1, "fix it"),
        respond(2, "local", "I look."),
        run(3, "Bash", {"command": "make"}, "built"),
        respond(4, "local", "Fixed."),
        event(5, "prompt:answer", {"response": "Fixed."}),
    )
    blocks = [*tell_actions(session)]
    words = read_words(blocks)
    order = [words.index(one) for one in ("fix it", "I look.", "Bash", "built", "Fixed.")]
    assert order == sorted(order)
    assert words.count("Fixed.") == 1
    assert next(one.label for one in blocks if isinstance(one, Listing)) == "Prompt"


def test_a_call_can_be_opened_and_shows_why_it_was_denied() -> None:
    """Input and reason are inside."""
    session = gather(call(1, "Bash", {"command": "rm"}, answer("guard", "deny", reason="no")))
    (folded,) = (one for one in tell_actions(session) if isinstance(one, Folded))
    assert "denied" in read_words([folded])
    assert "Denied by guard: no" in read_words(folded.body)


def test_files_and_commands_are_listed() -> None:
    """With how often, and how they ended."""
    session = gather(
        run(1, "Write", {"file_path": "a.py"}),
        run(2, "Write", {"file_path": "a.py"}),
        run(3, "Bash", {"command": "make"}),
    )
    words = read_words(tell_actions(session))
    assert "Files written\nFile\nHow often\na.py\ntwice" in words
    assert "Commands run" in words


def test_what_was_left_out_is_said() -> None:
    """Between the first turns and the last."""
    session = gather(*(prompt(n / 10, f"prompt {n}", turn=n) for n in range(1, 101)))
    words = read_words(tell_actions(session))
    assert "60 turns are left out here." in words
    assert words.index("prompt 20") < words.index("left out") < words.index("prompt 81")


def test_a_trail_without_turns_says_so() -> None:
    """Nothing is not the same as nothing known."""
    assert "no turn" in read_words(tell_actions(gather()))
