"""What the lines of a check have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.reply import Reply
from amplifier_hooks.coding_agents.self_test.host import Answer, Host
from amplifier_hooks.coding_agents.self_test.scene import CheckProblem, Scene
from amplifier_hooks.coding_agents.self_test.ticket import make_ticket
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.self_test.guarded import make_entry

DENIED = Verdict(decision="deny", reason="No shells on Tuesdays.")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Claude Code with a guard before tools, and nowhere else."""
    ticket = make_ticket(tmp_path, 1)
    entries = {"PreToolUse": make_entry("claude", "PreToolUse")}
    host = Host("claude", entries, ticket.session_id, tmp_path)
    return Scene(host, ticket, "Claude Code", tmp_path, 1)


def test_what_is_not_installed_is_not_tried(scene: Scene) -> None:
    """The event is named."""
    with pytest.raises(CheckProblem, match="nothing of ours is installed at PostToolUse"):
        scene.make_result("replace")


def test_what_the_agent_can_do_stands_in_its_table(scene: Scene) -> None:
    """Powers are those of the row."""
    assert scene.can(events.TOOL_PRE, "ask")
    assert not scene.can(events.TOOL_POST, "ask")


def test_a_block_of_the_person_s_own_hooks_is_no_fault(scene: Scene) -> None:
    """The event was heard, and denied with a reason that is neither the check's nor a failure."""
    scene.ticket.report("plain")
    found = scene.judge("line", "plain", Answer(DENIED, Reply()), works=False, how="")
    assert (found.state, found.fails) == ("yours", False)
    assert "No shells on Tuesdays." in found.detail


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (DENIED, 2),
        (Verdict(decision="deny", reason="amplifier: the bundle is broken"), 0),
        (Verdict(), 0),
    ],
)
def test_a_failure_of_ours_is_a_fault(scene: Scene, verdict: Verdict, code: int) -> None:
    """An exit code, a reason of our own, or nothing at all."""
    scene.ticket.report("plain")
    answer = Answer(verdict, Reply(code))
    assert scene.judge("line", "plain", answer, works=False, how="").state == "broken"


def test_what_nobody_heard_was_not_judged(scene: Scene) -> None:
    """A block alone proves nothing: nothing may have been judged."""
    found = scene.judge("line", "plain", Answer(DENIED, Reply()), works=False, how="")
    assert found.state == "broken"
    assert found.detail.startswith("it was not judged: ")


def test_it_says_whether_the_call_goes_on(scene: Scene) -> None:
    """That is what a person must know first about a broken guard."""
    scene.ticket.report("plain")
    answer = Answer(Verdict(), Reply(1, "", "Traceback"))
    found = scene.judge("line", "plain", answer, works=False, how="")
    assert found.detail == "Traceback (THE CALL IS LET THROUGH)"
