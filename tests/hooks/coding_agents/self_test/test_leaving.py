"""The end of a check."""

from __future__ import annotations

from pathlib import Path

from amplifier_audit import open_log, read_records
from amplifier_hooks.agent.session.self_test import HOOK, is_self_test
from amplifier_hooks.coding_agents.daemon.folder import choose_folder
from amplifier_hooks.coding_agents.self_test.hook import REASON
from amplifier_hooks.machine.locations import find_data_home
from tests.hooks.coding_agents.self_test.guarded import play


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
    assert any(one["type"] == "hook_registered" and one["hook"] == HOOK for one in records)


def test_an_installation_that_is_gone_is_no_error(project: Path) -> None:
    """There is nothing to end, and nothing to remove."""
    with play("claude", project, entries={}) as scene:
        pass
    assert not scene.ticket.is_valid
