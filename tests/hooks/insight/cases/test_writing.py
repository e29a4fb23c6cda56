"""Writing cases."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.insight.cases.case import Case
from amplifier_hooks.insight.cases.case_run import run_case
from amplifier_hooks.insight.cases.reading import read_cases
from amplifier_hooks.insight.cases.samples import make_samples
from amplifier_hooks.insight.cases.subject import find_subject
from amplifier_hooks.insight.cases.writing import choose_runs, find_changed, write_cases
from tests.hooks.insight.cases.hook_files import GUARD, send, write_hook


def test_what_is_written_passes_when_it_is_read(tmp_path: Path) -> None:
    """Every answer, with what it says and changes."""
    text = GUARD.replace('["command"]', '.get("command", "")')
    subject = find_subject(str(write_hook(tmp_path, text)), tmp_path)
    steps = [send(one) for one in ("rm x", "deploy y", "ls", "pwd", "id", "fail")]
    cases = [Case(str(one.data), (one,)) for one in steps] + make_samples(["prompt:submit"])
    path = tmp_path / "guard.cases.yaml"
    kept = choose_runs(run_case(one, subject) for one in cases)
    path.write_text(write_cases("hook", "./guard.py", {}, kept))
    found = read_cases(path)
    assert found.hook == "./guard.py"
    actions = [one.steps[0].expect.action for one in found.cases]
    assert actions == ["deny", "ask_user", "modify", "continue", *["inject_context"] * 3]
    assert found.cases[2].steps[0].expect.data == {"tool_input.command": "ls -l"}
    assert [run_case(one, subject).list_reasons() for one in found.cases] == [[]] * 7


def test_options_are_part_of_the_file() -> None:
    """Without them the hooks would answer otherwise."""
    assert write_cases("bundle", "./a.yaml", {"most": 2}, []) == (
        "bundle: ./a.yaml\nconfig:\n  most: 2\ncases: []\n"
    )


def test_changes_are_found_as_deep_as_they_are() -> None:
    """Without what the registry adds itself."""
    sent = {"a": {"b": 1, "c": 2}, "d": [1]}
    left = {"a": {"b": 1, "c": 3}, "d": [2], "new": {}, "timestamp": "now"}
    assert dict(find_changed(sent, left)) == {"a.c": 3, "d": [2], "new": {}}
