"""What people elsewhere are shown of a question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.coordinator import SessionCoordinator
from amplifier_hooks.approvals.models import ApprovalRequest, Option
from amplifier_hooks.approvals.request import MASKED, make_key, read_options, write_request
from tests.hooks.approvals.questions import ask
from tests.support.links import make_asker


def write(question: ApprovalQuestion, folder: Path, scrub: Any = None) -> ApprovalRequest:
    return write_request(
        question, make_asker(folder), scrub or (lambda value: value), call="c", seconds=9
    )


def test_a_request_has_the_whole_question_and_what_an_edit_would_change(tmp_path: Path) -> None:
    """Hook, reason, final input, difference, who asks and from where."""
    (tmp_path / "a.txt").write_text("old\n")
    question = replace(
        ask("Write", file_path="a.txt", content="new\n"), reason="why", session_id="s"
    )
    found = write(question, tmp_path)
    assert (found.prompt, found.hook, found.reason, found.timeout) == (
        "Go on?",
        "my-hook",
        "why",
        9,
    )
    assert found.tool_input == {"file_path": "a.txt", "content": "new\n"}
    assert "-old\n+new\n" in found.preview
    assert (found.machine, found.requester, found.working_dir) == ("laptop", "me", str(tmp_path))
    assert (found.tool_call_id, found.editable, found.default) == ("c", True, "deny")


def test_the_meaning_of_each_option_is_fixed_when_it_is_asked() -> None:
    """Not by whoever reads its label later."""
    assert read_options(ask()) == [
        Option(id=0, label="Allow once", allows=True),
        Option(id=1, label="Allow always", allows=True, remembered=True),
        Option(id=2, label="Deny", allows=False),
    ]


def test_secrets_are_masked_for_people_elsewhere_and_then_nothing_can_be_edited(
    tmp_path: Path,
) -> None:
    """An edit of a masked input would run without its secret; the digest is of the real one."""

    host = SessionCoordinator()
    host.register_scrubber(lambda text: text.replace("hunter2", "***"))
    question = replace(ask(command="login hunter2"), prompt="Run login hunter2?", reason="hunter2")
    found = write(question, tmp_path, host.scrub)
    assert "hunter2" not in repr(found)
    assert found.notes == (MASKED,)
    assert not found.editable
    assert found.digest == question.digest


def test_an_input_that_is_no_json_cannot_be_edited(tmp_path: Path) -> None:
    """Nor a question about a result."""
    assert not write(ask(command=float("nan")), tmp_path).editable
    assert not write(replace(ask(), event="tool:post"), tmp_path).editable


def test_the_key_finds_the_same_question_of_a_call_and_no_other() -> None:
    """Session, call, hook, prompt, input, event and attempt; without a call each time is new."""
    question = replace(ask(), session_id="s")
    key = make_key(question, "c", 1)
    assert key == make_key(question, "c", 1)
    changes: list[dict[str, Any]] = [
        {"session_id": "t"},
        {"hook": "h"},
        {"prompt": "p"},
        {"digest": "d"},
        {"event": "e"},
    ]
    others = {make_key(replace(question, **one), "c", 1) for one in changes}
    others |= {make_key(question, "c", 2), make_key(question, "d", 1)}
    others |= {make_key(question, "", 1), make_key(question, "", 1)}
    assert len(others | {key}) == len(changes) + 5
