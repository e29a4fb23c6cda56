"""Cases that were tried."""

from __future__ import annotations

import json
from pathlib import Path

from amplifier_hooks.cli.commands.hooks.tried_text import list_changes, tried_to_dict, try_cases
from amplifier_hooks.insight.cases.case import Case
from amplifier_hooks.insight.cases.subject import find_subject
from tests.hooks.insight.cases.hook_files import GUARD, send, write_hook


def test_a_tried_case_says_everything_to_machines(tmp_path: Path) -> None:
    """What was sent, answered, changed and printed, and what was not as expected."""
    text = GUARD.replace("    command =", "    print('looking')\n    command =")
    subject = find_subject(str(write_hook(tmp_path, text)), tmp_path)
    cases = [
        Case("changes", (send("ls", "deny"),), line=4),
        Case("fails", (send("fail"),)),
        Case("hangs", (send("rm x", "deny"),)),
    ]
    changed, failed, denied = try_cases(cases, subject, {}, 20.0)
    assert (changed.name, changed.passed, denied.passed) == ("changes", False, True)
    told = json.loads(json.dumps(tried_to_dict(changed)))
    (event,) = told.pop("events")
    assert told == {
        "name": "changes",
        "line": 4,
        "passed": False,
        "problem": None,
        "differences": [{"field": "action", "expected": "deny", "got": "modify"}],
        "printed": "looking\n",
    }
    assert event["sent"]["tool_input"] == {"command": "ls"}
    assert (event["action"], event["hook"], event["failures"]) == ("modify", "guard.guard", [])
    change = {"field": "tool_input.command", "before": '"ls"', "after": '"ls -l"'}
    assert event["changes"] == [change]
    assert [one.field for one in list_changes(changed.run.outcomes[0])] == ["tool_input.command"]
    (failure,) = tried_to_dict(failed)["events"][0]["failures"]
    assert failure == {
        "hook": "guard.guard",
        "error": "LookupError: what a pity",
        "place": "guard.py:17",
    }
    assert tried_to_dict(denied)["events"][0]["reason"] == "deleting is for people"
