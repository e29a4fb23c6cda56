"""The session of the demonstration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.commands.demo import session
from amplifier_hooks.cli.commands.demo.session import (
    AFTER,
    BEFORE,
    PRODUCTION,
    Answer,
    FixedApproval,
    choose_approval,
    run_session,
    write_files,
)
from amplifier_hooks.cli.display.line_display import LineDisplay


@pytest.mark.parametrize(
    ("answer", "options", "option"),
    [
        ("yes", ["Deny", "Allow once", "Allow always"], "Allow once"),
        ("no", ["Allow once", "Deny"], "Deny"),
        ("no", ["Yes", "Never"], "Never"),
        ("yes", ["Deny", "Reject"], "Deny"),
        ("no", ["Allow"], "Deny"),
    ],
)
async def test_the_first_option_that_means_it_is_chosen(
    answer: Answer, options: list[str], option: str
) -> None:
    """By what the kernel says it means; where none does, nothing is allowed."""
    system = FixedApproval(answer)
    assert await system.request_approval("?", options, 5, "deny") == option
    decided = await system.decide(ApprovalQuestion("?", tuple(options), 5, "deny", hook="h"))
    assert decided.option == option


async def test_the_flag_stands_for_the_person() -> None:
    """So that the trail does not name somebody who was not there."""
    question = ApprovalQuestion("?", ("Allow", "Deny"), 5, "deny", hook="h")
    assert (await FixedApproval("yes").decide(question)).by == "--yes"


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """The folder that the demonstration works in, with the files of the story."""
    folder = tmp_path / "demo"
    write_files(folder / "project")
    return folder


@pytest.mark.parametrize(("answer", "content"), [("yes", AFTER), ("no", BEFORE), (None, BEFORE)])
async def test_the_answer_decides_about_production(
    folder: Path, answer: Answer | None, content: str
) -> None:
    """Nobody to ask is a no; everything is written to the folder and nowhere else."""
    decider = choose_approval(answer, folder / "project", asks=False)
    session_id = await run_session(folder, 5, decider)
    assert (folder / "project" / PRODUCTION).read_text() == content
    assert (folder / "audit" / session_id).is_dir()
    roles = {message["role"] for message in json.loads(read_transcript(folder))["messages"]}
    assert {"user", "assistant", "tool"} <= roles


def read_transcript(folder: Path) -> str:
    return (folder / "transcript.json").read_text()


async def test_the_display_stops_also_when_the_session_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live line must not stay behind."""
    stopped: list[bool] = []
    monkeypatch.setattr(LineDisplay, "stop", lambda self: stopped.append(True))
    monkeypatch.setattr(session, "PROMPT", None)
    with pytest.raises((TypeError, ValueError, AttributeError)):
        await run_session(folder, 5, choose_approval("no", folder / "project", asks=False))
    assert stopped == [True]
