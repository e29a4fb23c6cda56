"""The page on events."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.cli.commands.events import list_events, write_page

PAGE = Path(__file__).parents[5] / "docs" / "events.md"


def test_the_page_in_the_documentation_is_the_one_that_the_command_writes() -> None:
    """To renew it: amplifier events --markdown > docs/events.md."""
    assert PAGE.read_text(encoding="utf-8") == write_page()


def test_every_event_is_on_the_page() -> None:
    """Those that can be stopped with a section, the others with a row."""
    page = write_page()
    for event in list_events():
        assert f"### {event}\n" in page or f"| `{event}` " in page
