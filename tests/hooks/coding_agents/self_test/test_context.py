"""What the lines of a check have in common."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from amplifier_audit import open_log, read_records
from amplifier_core import events
from amplifier_hooks.agent.session.origin import is_self_test
from amplifier_hooks.coding_agents.client.launch import read_launch
from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coding_agents.self_test.context import (
    CheckContext,
    CheckProblem,
    Finding,
    State,
    prepare_spare,
)
from amplifier_hooks.coding_agents.self_test.hook import REASON, make_ticket
from amplifier_hooks.coding_agents.self_test.host import Answer, Host
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.machine.locations import find_data_home
from amplifier_hooks.trails.bodies import SELF_TEST_HOOK
from tests.hooks.coding_agents.self_test.guarded import make_entry, play
from tests.support.guests import call_client, make_guest_folder, write_played_launch


def test_it_is_started_as_the_real_one_but_elsewhere() -> None:
    """The same program in the same environment, in a private folder that goes away."""
    with make_guest_folder() as folder:
        write_played_launch(folder, GIVEN="yes")
        real = read_launch(bytes(folder))
        with prepare_spare(folder) as spare:
            found = read_launch(bytes(spare.folder))
            assert spare.find_pid() is None
            assert call_client(spare.folder).returncode == 0
            pid = spare.find_pid()
        assert pid is not None
        assert not (folder / "guest.sock").exists()
    assert found.argv == [*real.argv[:-1], str(spare.folder)]
    assert found.env["GIVEN"] == "yes"
    assert not spare.folder.exists()


def test_it_has_a_door_of_its_own() -> None:
    """Two processes cannot listen at one port."""
    with make_guest_folder() as folder:
        http = {"port": 1234, "token": "t"}
        path = folder / "launch.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps({"argv": ["/bin/true", "x"], "env": {}, "http": http}))
        with prepare_spare(folder) as spare:
            found = read_launch(bytes(spare.folder)).http
            mode = stat.S_IMODE((spare.folder / "launch.json").stat().st_mode)
    assert found == {"port": spare.port, "token": "t"}
    assert spare.port not in (0, 1234)
    assert mode == 0o600


def test_without_a_launch_file_there_is_none() -> None:
    """The sentence says what to do."""
    with (
        make_guest_folder() as folder,
        pytest.raises(ValueError, match="install the guard again"),
        prepare_spare(folder),
    ):
        pass


def test_only_the_trail_is_left(project: Path) -> None:
    """Its name says that it is a check; neither ticket nor state is there any more."""
    data = find_data_home() / "amplifier"
    with play("claude", project) as scene:
        answer = scene.host.call(scene.make_call("deny"))
        assert REASON in str(answer.verdict.reason)
        name = f"claude-{scene.ticket.session_id}"
    found = [path for path in data.rglob("*") if scene.ticket.session_id in str(path)]
    assert {path.relative_to(data).parts[:2] for path in found} == {("audit", name)}
    assert not (choose_folder() / "checks").exists()
    trail = data / "audit" / name
    assert is_self_test(trail)
    records = list(read_records(open_log(trail)))
    mark = next(one for one in records if one["type"] == "self_test")
    assert (mark["turn"], mark["body"]) == (0, {"command": "amplifier guard check"})
    # Older trails have no such record; the hook of the check shows what they are.
    assert any(
        one["type"] == "hook_registered" and one["hook"] == SELF_TEST_HOOK for one in records
    )


def test_an_installation_that_is_gone_is_no_error(project: Path) -> None:
    """There is nothing to end, and nothing to remove."""
    with play("claude", project, entries={}) as scene:
        pass
    assert not scene.ticket.is_valid


@pytest.mark.parametrize(
    ("state", "fails"),
    [("ok", False), ("cannot", False), ("yours", False), ("broken", True), ("untried", True)],
)
def test_only_what_should_work_and_does_not_is_a_failure(state: State, fails: bool) -> None:
    """What an agent cannot do, or a person's own hooks do, is none."""
    assert Finding("line", state).fails is fails


DENIED = Verdict(decision="deny", reason="No shells on Tuesdays.")


@pytest.fixture
def context(tmp_path: Path) -> CheckContext:
    """Claude Code with a guard before tools, and nowhere else."""
    ticket = make_ticket(tmp_path, 1)
    entries = {"PreToolUse": make_entry("claude", "PreToolUse")}
    host = Host("claude", entries, ticket.session_id, tmp_path)
    return CheckContext(host, ticket, "Claude Code", tmp_path, 1)


def test_what_is_not_installed_is_not_tried(context: CheckContext) -> None:
    """The event is named."""
    with pytest.raises(CheckProblem, match="nothing of ours is installed at PostToolUse"):
        context.make_result("replace")


def test_what_the_agent_can_do_stands_in_its_table(context: CheckContext) -> None:
    """Powers are those of the row."""
    assert context.can(events.TOOL_PRE, "ask")
    assert not context.can(events.TOOL_POST, "ask")


def test_a_block_of_the_person_s_own_hooks_is_no_fault(context: CheckContext) -> None:
    """The event was heard, and denied with a reason that is neither the check's nor a failure."""
    context.ticket.report("plain")
    found = context.judge("line", "plain", Answer(DENIED, Reply()), works=False, how="")
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
def test_a_failure_of_ours_is_a_fault(context: CheckContext, verdict: Verdict, code: int) -> None:
    """An exit code, a reason of our own, or nothing at all."""
    context.ticket.report("plain")
    answer = Answer(verdict, Reply(code))
    assert context.judge("line", "plain", answer, works=False, how="").state == "broken"


def test_what_nobody_heard_was_not_judged(context: CheckContext) -> None:
    """A block alone proves nothing: nothing may have been judged."""
    found = context.judge("line", "plain", Answer(DENIED, Reply()), works=False, how="")
    assert found.state == "broken"
    assert found.detail.startswith("it was not judged: ")


def test_it_says_whether_the_call_goes_on(context: CheckContext) -> None:
    """That is what a person must know first about a broken guard."""
    context.ticket.report("plain")
    answer = Answer(Verdict(), Reply(1, "", "Traceback"))
    found = context.judge("line", "plain", answer, works=False, how="")
    assert found.detail == "Traceback (THE CALL IS LET THROUGH)"
