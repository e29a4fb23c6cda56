"""amplifier events: what there is to listen to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pytest

from amplifier_core.events import ALL_EVENTS, EventData, canonical
from amplifier_core.models import HookResult
from amplifier_core.payloads import ErrorDetails
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval, TestCoordinator
from amplifier_core.validation.hook import sample_payload
from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.events import (
    COMMON_FIELDS,
    OF_MODULES,
    Field,
    describe_effects,
    describe_event,
    list_events,
    write_page,
    write_type,
)
from tests.hooks.cli.program import invoke, run_at_terminal

PAGE = Path(__file__).parents[5] / "docs" / "events.md"


def test_the_page_in_the_documentation_is_the_one_that_the_command_writes() -> None:
    """To renew it: amplifier events --markdown > docs/events.md."""
    assert PAGE.read_text(encoding="utf-8") == write_page()


def test_every_event_is_on_the_page() -> None:
    """Those that can be stopped with a section, the others with a row."""
    page = write_page()
    for event in list_events():
        assert f"### {event}\n" in page or f"| `{event}` " in page


def test_every_event_is_described_once() -> None:
    """With a sentence, whatever its spelling."""
    known = {canonical(event) for event in ALL_EVENTS}
    assert set(list_events()) == known | set(OF_MODULES)
    assert len(list_events()) == len(known) + len(OF_MODULES)
    sentences = [describe_event(event).when for event in list_events()]
    assert all(one[0].isupper() and one.endswith(".") for one in sentences)
    assert len(set(sentences)) == len(sentences)


def test_a_field_has_its_type_its_meaning_and_may_be_absent() -> None:
    """As the type of the payload and its source say."""
    fields = {one.name: one for one in describe_event("session:start").fields}
    assert fields["source"] == Field("source", "'startup' | 'resume' | 'compact'", True)
    meaning = "What the plan says under session.metadata."
    assert fields["metadata"] == Field("metadata", "dict[str, Any]", False, meaning)


def test_what_every_event_carries_is_said_once() -> None:
    """Not among the fields of each."""
    assert COMMON_FIELDS.keys() == EventData.__annotations__.keys()
    assert not any(
        one.name in COMMON_FIELDS for event in list_events() for one in describe_event(event).fields
    )


def test_an_event_of_a_module_is_described_like_those_of_the_kernel() -> None:
    """With its fields, and that it can be stopped; the module gets the answer to one of its own."""
    event = describe_event("mcp:list")
    assert event.can_stop
    assert [one.name for one in event.fields] == ["server", "method", "items", "instructions"]
    assert "tool-mcp" in event.when
    assert describe_effects("my:event")["deny"] == "whatever the module that emits it makes of that"


def test_another_spelling_is_named() -> None:
    """And leads to the same description and the same effects: one occurrence is one event."""
    assert describe_event("tool:error").also == "error:tool"
    assert describe_event("error:tool") == describe_event("tool:error")
    assert describe_effects("context:pre-compact") == describe_effects("context:pre_compact")
    assert describe_effects("error:tool") == describe_effects("tool:error")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (str, "str"),
        (type(None), "None"),
        (str | None, "str | None"),
        (list[dict[str, Any]], "list[dict[str, Any]]"),
        (Literal["a", "b"], "'a' | 'b'"),
        (
            ErrorDetails,
            "{type: str, message: str, retryable?: bool, status_code?: int | None}",
        ),
    ],
)
def test_a_type_is_written_as_in_python(kind: Any, text: str) -> None:
    """A nested payload with its fields."""
    assert write_type(kind) == text


NOTHING = "has no effect, which is said and recorded"
ANSWERS = {
    "deny": HookResult(action="deny", reason="no"),
    "ask_user": HookResult(action="ask_user", approval_prompt="Really?"),
    "modify": HookResult(action="modify", data={"changed": True}),
}


async def has_effect(event: str, action: str) -> bool:
    """Whether the operation goes another way because of one answer, or hooks see something else."""
    person, trail = ScriptedApproval("Deny"), MemoryAudit()
    coordinator = TestCoordinator(approval_system=person, audit=trail)
    kept: list[str] = []
    coordinator.register_capability("session.keep_working", lambda why, event: kept.append(why))
    coordinator.hooks.register(event, EventRecorder(ANSWERS[action]), name="speaker")
    later = EventRecorder(HookResult())
    coordinator.hooks.register(event, later, 1, "later")
    outcome = await coordinator.execute_with_hooks(event, sample_payload(event))
    changed = any(
        "changed" in one for one in (outcome.data or {}, *(data for _, data in later.events))
    )
    found = outcome.action == "deny" or changed or bool(person.questions) or bool(kept)
    assert found is not bool(trail.of_type("answer_ignored")), "said to be ignored, or dropped"
    return found


@pytest.mark.parametrize("action", ANSWERS)
async def test_an_answer_has_an_effect_where_one_is_described(action: str) -> None:
    """Each action, tried at each event."""
    for event in list_events():
        described = not describe_effects(event)[action].startswith(NOTHING)
        assert await has_effect(event, action) is described, event


def test_the_list_has_every_event_and_says_which_can_be_stopped() -> None:
    """One line each."""
    lines = invoke("events").stdout.splitlines()
    for event in list_events():
        assert any(f" {event} " in line for line in lines)
    assert any(line.startswith("!  tool:pre ") for line in lines)
    assert any(line.startswith("   tool:error ") for line in lines)


def test_one_event_is_shown_with_its_fields_and_answers() -> None:
    """And with the function that is told of it."""
    shown = invoke("events", "tool:pre").stdout
    assert "  tool_input    dict[str, Any]" in shown
    assert "  tool_call_id  str  may be absent" in shown
    assert "  deny            the tool does not run; the agent is told why" in shown
    assert "async def on_tool_pre(event, data): ..." in shown
    assert "also error:tool" in invoke("events", "error:tool").stdout


def test_an_event_of_a_module_is_shown_with_the_mark_that_a_hook_file_needs() -> None:
    """A function's name alone would not be found."""
    shown = invoke("events", "mcp:list").stdout
    assert "  @hook('mcp:list')\n  async def on_mcp_list(event, data): ..." in shown
    assert "the changed items and instructions take its place" in shown


def test_a_pattern_lists_what_it_stands_for() -> None:
    """As where a hook is registered."""
    shown = invoke("events", "tool:*").stdout
    assert "tool:pre" in shown
    assert "session:start" not in shown


@pytest.mark.parametrize(
    ("name", "hint"),
    [("tool:pree", "Did you mean 'tool:pre'?"), ("zzz", "amplifier events lists them.")],
)
def test_a_name_that_is_none_is_wrong_usage(name: str, hint: str) -> None:
    """With the nearest, if one is near."""
    done = invoke("events", name)
    assert done.code == exit_codes.USAGE
    assert done.stderr == f"Error: Unknown event '{name}'. {hint} See: amplifier events --help\n"


def test_machines_and_the_documentation_get_the_same_facts() -> None:
    """As JSON, and as a page."""
    (told,) = json.loads(invoke("events", "tool:pre", "--json").stdout)
    assert (told["name"], told["can_stop"]) == ("tool:pre", True)
    assert told["answers"]["modify"] == "the changed input is used"
    assert invoke("events", "--markdown").stdout == write_page()


def test_nothing_is_wider_than_a_narrow_terminal() -> None:
    """At 40 columns."""
    for arguments in ([], ["provider:retry"]):
        environment = {"NO_COLOR": "1"}
        with run_at_terminal("events", *arguments, columns=40, env=environment) as program:
            assert program.wait_end() == 0
            lines = program.raw.decode().splitlines()
            assert [line for line in lines if len(line) > 40] == []
