"""A run in plain lines: the answer on one stream, everything about it on another."""

from __future__ import annotations

import io
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import events
from amplifier_hooks.cli.display.line_display import LineDisplay
from tests.hooks.cli.pty_program import ROOT, python


def make_display(**options: bool) -> tuple[LineDisplay, io.StringIO, io.StringIO]:
    answers, notes = io.StringIO(), io.StringIO()
    return LineDisplay(answers, notes, **options), answers, notes


def test_a_pipe_gets_the_answer_alone_and_the_rest_on_standard_error() -> None:
    """What a script reads is the answer, without colours."""
    done = subprocess.run(
        python("tests.hooks.cli.display.scripted_run"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=50,
        start_new_session=True,
        check=True,
    )
    answer = [line.strip() for line in done.stdout.splitlines()]
    assert answer == [
        "First I look around.",
        "Then I work on it,",
        "All done: the tests are green\\u{202E} and nothing else changed.",
    ]
    assert "✗ refused · the question could not be asked" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


@given(st.sampled_from(events.ALL_EVENTS), st.dictionaries(st.text(max_size=8), st.none()))
def test_an_event_without_its_fields_breaks_nothing(event: str, data: dict) -> None:
    """Every line is ended, whatever a module emits."""
    display, answers, notes = make_display()
    display.show_event(event, data)
    display.stop()
    assert all(text == "" or text.endswith("\n") for text in (answers.getvalue(), notes.getvalue()))


def test_a_reply_is_shown_at_the_end_if_no_words_of_it_came_before() -> None:
    """Once in any case, and in each turn anew."""
    display, answers, _ = make_display()
    for words in ("Hello.", None):
        display.start()
        if words:
            display.show_event(events.CONTENT_BLOCK_DELTA, {"session_id": "a", "delta": words})
        display.show_reply("Hello.")
        display.stop()
    assert answers.getvalue() == "Hello.\n" * 2


def test_words_of_sub_agents_are_not_mixed_into_the_answer() -> None:
    """A child's text stays with the child; its calls are shown."""
    display, answers, notes = make_display()
    display.show_event(events.SESSION_START, {"session_id": "parent"})
    display.show_event(events.CONTENT_BLOCK_DELTA, {"session_id": "child", "delta": "inner"})
    call = {"session_id": "child", "tool_name": "Read", "success": True}
    display.show_event(events.TOOL_POST, call)
    display.show_event(events.CONTENT_BLOCK_DELTA, {"session_id": "parent", "delta": "outer"})
    display.stop()
    assert answers.getvalue() == "outer\n"
    assert "● Read" in notes.getvalue()


@pytest.mark.parametrize(
    "step",
    [
        {"tool_calls": [{"id": "1", "name": "Read"}]},
        {"content": [{"type": "text", "text": "whole reply"}, {"type": "tool_call", "id": "1"}]},
    ],
)
def test_a_reply_that_calls_tools_is_shown_once(step: dict[str, Any]) -> None:
    """A loop that sends no deltas has what it says between calls shown all the same."""
    display, answers, _ = make_display()
    response = {"content": [{"type": "text", "text": "whole reply"}], **step}
    for deltas in ([], ["streamed"]):
        display.show_event(events.PROVIDER_REQUEST, {})
        for delta in deltas:
            display.show_event(events.CONTENT_BLOCK_DELTA, {"delta": delta})
        display.show_event(events.PROVIDER_RESPONSE, {"response": response})
        display.stop()
    assert answers.getvalue() == "whole reply\nstreamed\n"


def test_an_answer_is_shown_when_it_is_handed_over_and_not_before() -> None:
    """Hooks may withhold it after the model has replied.

    What was streamed cannot be taken back; what counts stands below it.
    """
    display, answers, _ = make_display()
    block = {"type": "text", "text": "a secret"}
    display.show_event(events.PROVIDER_RESPONSE, {"response": {"content": [block]}})
    assert answers.getvalue() == ""
    display.show_reply("withheld")
    display.stop()
    assert answers.getvalue() == "withheld\n"
    display, answers, _ = make_display()
    display.show_event(events.CONTENT_BLOCK_DELTA, {"delta": "as it came"})
    display.show_reply("as a hook left it")
    display.stop()
    assert answers.getvalue() == "as it came\nas a hook left it\n"


def test_messages_wait_while_a_person_types() -> None:
    """They come afterwards, in their order, and none is lost."""
    display, _, notes = make_display()
    with display.hold():
        display.show_message("one", "info", "hook:h")
        display.show_message("two", "error", "hook:h")
        assert notes.getvalue() == ""
    display.show_message("three", "info", "hook:h")
    assert notes.getvalue() == "· h: one\n✗ h: two\n· h: three\n"


def test_a_note_or_a_question_starts_on_a_fresh_line() -> None:
    """The answer so far gets its newline, once."""
    display, answers, notes = make_display()
    display.show_event(events.CONTENT_BLOCK_DELTA, {"delta": "half"})
    display.show_message("note", "info")
    assert answers.getvalue() == "half\n"
    display.show_event(events.CONTENT_BLOCK_DELTA, {"delta": "more"})
    with display.pause():
        assert answers.getvalue() == "half\nmore\n"
    display.stop()
    assert answers.getvalue() == "half\nmore\n"
    assert notes.getvalue() == "· hook: note\n"


def test_the_figures_of_a_turn_are_a_note() -> None:
    """A new turn counts anew."""
    display, answers, notes = make_display()
    display.start()
    display.show_event(events.PROVIDER_RESPONSE, {"usage": {"total_tokens": 7}})
    display.stop()
    display.show_result(response="not for this stream")
    assert notes.getvalue().endswith(" s · 7 tokens\n")
    assert answers.getvalue() == ""
    display.start()
    assert display.state.tokens == 0


def test_results_are_shown_to_those_who_want_them() -> None:
    """With `verbose` what a tool returned, too."""
    call = {"tool_name": "Read", "tool_result": {"output": "x"}, "success": True}
    for verbose in (True, False):
        display, _, notes = make_display(verbose=verbose)
        display.show_event(events.TOOL_POST, call)
        assert ("│ x" in notes.getvalue()) == verbose
