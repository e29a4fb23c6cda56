"""amplifier events: what there is to listen to."""

from __future__ import annotations

import json

import pytest

from amplifier_hooks.cli import exit_codes
from amplifier_hooks.cli.commands.events import list_events, write_page
from tests.hooks.cli.program import invoke, run_at_terminal


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
