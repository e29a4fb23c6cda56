"""Scopes of rules: said in words before they are granted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.models import Approval, Option, StandingRule
from amplifier_hooks.approvals.stores.scopes import covers, describe_scopes, name_question
from tests.support.stores import make_request, require


def offer(**changes: Any) -> dict[str, str]:
    approval = Approval(
        id="id",
        nonce="n",
        status="pending",
        request=make_request(**changes),
        created=0.0,
        deadline=60.0,
        updated=0.0,
        seconds_left=60.0,
    )
    return {scope.id: scope.words for scope in describe_scopes(approval)}


def make_rule(scope: str, **changes: Any) -> StandingRule:
    facts: dict[str, Any] = {
        "id": "r",
        "author": "ann",
        "created": 0.0,
        "expires": 1.0,
        "hook": "h",
        "event": "e",
        "tool_name": "Write",
        "prompt": "Write to production?",
        "digest": "digest-1",
        "working_dir": "/",
        "machine": "m",
        "approval_id": "a",
        "scope": scope,
    }
    return StandingRule(**{**facts, **changes})


def test_an_edit_can_be_granted_exactly_for_its_folder_or_for_the_project() -> None:
    """Each in words that say what, when, where and on which machine."""
    words = offer()
    assert list(words) == ["exact", "below:/home/ann/project/notes", "below:/home/ann/project"]
    assert words["below:/home/ann/project/notes"] == (
        "Allow Write to change any file below /home/ann/project/notes, when hook production-guard "
        "asks “Write to production?” for agent-1, in sessions that work in /home/ann/project on "
        "laptop"
    )
    assert words["exact"].startswith("Allow Write with exactly this input, when hook")


def test_a_question_is_said_whole_as_long_as_it_is_not_long() -> None:
    """One letter more, and the rest is left out, which shows."""
    assert f"asks “{'x' * 200}” for" in offer(prompt="x" * 200)["exact"]
    assert f"asks “{'x' * 200}…” for" in offer(prompt="x" * 201)["exact"]


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        ({"tool_name": "Bash", "tool_input": {"command": "ls"}}, ["exact"]),
        ({"tool_name": ""}, ["exact"]),
        ({"working_dir": ""}, ["exact"]),
        ({"tool_input": {"file_path": "/x"}}, ["exact"]),
        ({"tool_input": {"file_path": "/srv/app/x"}}, ["exact", "below:/srv/app"]),
        ({"tool_input": {"file_path": "x"}}, ["exact", "below:/home/ann/project"]),
        ({"tool_input": {"file_path": "../../x"}}, ["exact", "below:/home"]),
        ({"default": "allow"}, []),
        ({"requirement": require(persons=2)}, []),
        ({"options": (Option(id=0, label="No", allows=False),)}, []),
    ],
)
def test_only_what_a_rule_can_hold_to_is_offered(changes: dict[str, Any], ids: list[str]) -> None:
    """Never the root of the disk, never what would weaken a gate."""
    assert list(offer(**changes)) == ids


def test_a_rule_covers_by_digest_or_by_real_path(tmp_path: Path) -> None:
    """A scope that nobody knows covers nothing."""
    base = tmp_path.resolve()
    inside = make_request(working_dir=str(base), tool_input={"file_path": "a/b"}, digest="other")
    assert covers(make_rule("exact"), make_request())
    assert not covers(make_rule("exact"), inside)
    assert covers(make_rule(f"below:{base}"), inside)
    assert covers(make_rule(f"below:{base}/a"), inside)
    for scope in (f"below:{base}/b", "below:a", "below:", f"below:{base}/a/../a", "all", ""):
        assert not covers(make_rule(scope), inside), scope


@pytest.mark.parametrize(
    "changes",
    [
        {"tool_name": "Bash"},
        {"working_dir": ""},
        {"tool_input": {}},
        {"tool_input": {"file_path": "a\0b"}},
    ],
)
def test_a_folder_covers_only_edits_of_files_that_have_a_path(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    """What cannot be compared is not covered."""
    base = tmp_path.resolve()
    facts = {"working_dir": str(base), "tool_input": {"file_path": f"{base}/a"}, **changes}
    assert not covers(make_rule(f"below:{base}"), make_request(**facts))


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("Fix typos?", "Fix typos?"),
        ("Write to notes/a.txt?", "Write to ‹file›?"),
        ("Write to /home/ann/project/notes/a.txt (given as 'notes/a.txt')?", None),
        ("Write to notes/a.txt.bak?", "Write to notes/a.txt.bak?"),
        ("notes/a.txt", "notes/a.txt"),
    ],
)
def test_a_question_is_the_prompt_without_the_file_of_an_edit(
    prompt: str, question: str | None
) -> None:
    """However it is spelled there; a prompt that is nothing but the path stays as it is."""
    given = {"file_path": "notes/a.txt", "content": "Fix typos?"}
    named = name_question(make_request(prompt=prompt, tool_input=given))
    assert named == (question or "Write to ‹file› (given as '‹file›')?")


def test_a_command_cannot_write_its_own_question() -> None:
    """Nothing of the input but the path of an edit is left out."""
    given = {"command": "Fix typos?"}
    asked = make_request(tool_name="Bash", prompt="Fix typos?", tool_input=given)
    assert name_question(asked) == "Fix typos?"
