"""What the lines of a check have in common."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import get_args

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


DENIED = Verdict(decision="deny", reason="No shells on Tuesdays.")
BROKEN = Verdict(decision="deny", reason="amplifier: the bundle is broken")


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


@pytest.mark.parametrize(
    ("heard", "answer", "state", "said"),
    [
        pytest.param(
            True,
            Answer(DENIED, Reply()),
            "yours",
            "No shells on Tuesdays.",
            id="a reason that is neither the check's nor a failure is the person's own",
        ),
        pytest.param(True, Answer(DENIED, Reply(2)), "broken", "", id="an exit code"),
        pytest.param(True, Answer(BROKEN, Reply()), "broken", "", id="a reason of our own"),
        pytest.param(True, Answer(Verdict(), Reply()), "broken", "", id="nothing at all"),
        pytest.param(
            False,
            Answer(DENIED, Reply()),
            "broken",
            "it was not judged: ",
            id="a block that nobody heard proves nothing",
        ),
        pytest.param(
            True,
            Answer(Verdict(), Reply(1, "", "Traceback")),
            "broken",
            "Traceback (THE CALL IS LET THROUGH)",
            id="what a person must know first",
        ),
    ],
)
def test_what_does_not_work_is_a_fault_unless_the_person_wants_it(
    context: CheckContext, heard: bool, answer: Answer, state: State, said: str
) -> None:
    """The finding says what happened, and whether the call goes on."""
    if heard:
        context.ticket.report("plain")
    found = context.judge("line", "plain", answer, works=False, how="")
    assert found.state == state
    assert said in found.detail
    fails = {one: Finding("line", one).fails for one in get_args(State)}
    assert {one for one, failed in fails.items() if failed} == {"broken", "untried"}
