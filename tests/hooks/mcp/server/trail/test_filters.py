"""Which records are wanted."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.mcp.server.bounds import FULL
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.policy.masking import build_presenter
from amplifier_hooks.mcp.server.trail.filters import FilterArguments, RecordFilter, name_tool
from tests.hooks.mcp.server.world import SECRET

PRESENTER = build_presenter(None)


def make_record(body: dict[str, Any], **members: Any) -> dict[str, Any]:
    plain = {"session": "s", "event": "tool:pre", "type": "dispatch", "hook": None}
    return {"time": "2026-11-15T09:30:00", **plain, **members, "body": body}


def matches(record: dict[str, Any], *, tool: str | None = None, text: str | None = None) -> bool:
    wanted = FilterArguments().build_filter()
    mask = lambda body: PRESENTER.shorten(body, FULL)  # noqa: E731
    return RecordFilter(wanted, tool, text, mask).matches(record)


def test_a_text_is_found_in_what_the_caller_may_see() -> None:
    """Whatever its case, and with the quotes and line breaks that it has."""
    record = make_record({"data": {"command": 'say "Hello"\nto them'}})
    assert matches(record, text='SAY "hello"\nTo')
    assert not matches(record, text="goodbye")


def test_no_search_finds_a_secret_letter_by_letter() -> None:
    """What is masked is not searched."""
    record = make_record({"data": {"command": f"curl {SECRET}"}})
    assert matches(record, text="curl")
    for length in range(4, len(SECRET) + 1):
        assert not matches(record, text=SECRET[:length])


@pytest.mark.parametrize(
    ("body", "tool"),
    [
        ({"data": {"tool_name": "Bash"}}, "Bash"),
        ({"tool": "Write"}, "Write"),
        ({"tool_name": "Read"}, "Read"),
        ({"data": "text"}, None),
        ({"tool": ["Bash"]}, None),
    ],
)
def test_the_tool_of_a_record_is_found_where_each_type_has_it(
    body: dict[str, Any], tool: str | None
) -> None:
    """A forged record has none."""
    assert name_tool(make_record(body)) == tool
    assert matches(make_record(body), tool="Bash") is (tool == "Bash")


def test_times_are_read_as_the_command_line_does() -> None:
    """From one on, before another; what is no time is refused by its name."""
    wanted = FilterArguments(since="2026-11-15T09", until="2026-11-15T09:30").build_filter()
    assert (wanted.after, wanted.before) == ("2026-11-15T09:00:00", "2026-11-15T09:30:00")
    with pytest.raises(Refused, match=r"^until: 'noon' is not a time"):
        FilterArguments(until="noon").build_filter()
