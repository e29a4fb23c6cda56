"""Who would be asked, as the bundle says it."""

from __future__ import annotations

import pytest

from amplifier_hooks.mcp.server.policy.people import describe_people


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({}, "the person at the terminal of the session"),
        ({"mode": "deny", "via": "store"}, "nobody is asked"),
        ({"mode": "edits"}, "edits of files in this folder are allowed without asking"),
        ({"via": ["terminal", "store"]}, "terminal of the session and people who answer with"),
        ({"via": "server"}, "people at the server that the bundle names"),
    ],
)
def test_each_way_to_people_is_told_in_words(section: dict[str, object], told: str) -> None:
    """As the section `approval` has it."""
    assert told in describe_people(section).asked


def test_how_many_must_allow_is_told_and_no_address_or_token() -> None:
    """What opens the way to people is none of the agent's business."""
    section = {
        "via": "server",
        "server": "https://approvals.example.com",
        "token": "t0ps3cret",
        "persons": 2,
        "requester_may_approve": False,
        "scope": "release",
    }
    people = describe_people(section)
    assert (people.persons, people.requester_may_approve, people.scope) == (2, False, "release")
    assert "t0ps3cret" not in people.model_dump_json()
    assert "example.com" not in people.model_dump_json()
