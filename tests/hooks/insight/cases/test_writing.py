"""Writing cases."""

from __future__ import annotations

from pathlib import Path

from amplifier_core import HookRegistry
from amplifier_core.events import ALL_EVENTS, canonical
from amplifier_hooks.insight.cases.case import Case
from amplifier_hooks.insight.cases.files import (
    choose_runs,
    find_changed,
    make_samples,
    read_cases,
    write_cases,
)
from amplifier_hooks.insight.cases.running import find_subject, list_heard, run_case
from tests.hooks.insight.cases.hook_files import GUARD, send, write_hook


async def _ignore(event, data): ...


def test_the_events_that_hooks_listen_to_come_in_the_order_of_a_session() -> None:
    """Each by one name, then those of modules; a pattern stands for all that it matches."""
    hooks = HookRegistry()
    for event in ("deploy:done", "tool:post", "error:tool", "prompt:*"):
        hooks.register(event, _ignore)
    prompts = ["prompt:submit", "prompt:answer", "prompt:complete"]
    expected = [prompts[0], "tool:post", "tool:error", *prompts[1:], "deploy:done"]
    assert list_heard(hooks) == expected
    hooks.register("*", _ignore)
    assert len(list_heard(hooks)) == len({canonical(one) for one in ALL_EVENTS}) + 1


def test_events_that_hooks_decide_on_are_varied() -> None:
    """The others come once; no two samples of an event have the same name."""
    samples = make_samples(["tool:pre", "tool:post", "tool:error", "prompt:submit", "session:end"])
    names = [(one.steps[0].event, one.name) for one in samples]
    assert len(names) == len(set(names))
    counts = {event: sum(one == event for one, _ in names) for event, _ in names}
    assert counts["tool:pre"] > 10
    assert counts["tool:post"] > 4
    assert counts["prompt:submit"] > 2
    assert counts["session:end"] == 1
    assert all(one.steps[0].expect is None for one in samples)
    assert make_samples(["deploy:done"]) == []


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
