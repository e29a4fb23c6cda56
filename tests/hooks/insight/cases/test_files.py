"""Reading files with cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_core import HookRegistry
from amplifier_core.events import ALL_EVENTS, canonical
from amplifier_hooks.insight.cases.case import Case, Expectation, Step
from amplifier_hooks.insight.cases.files import (
    CasesError,
    choose_runs,
    find_cases_beside,
    find_changed,
    make_samples,
    read_cases,
    write_cases,
)
from amplifier_hooks.insight.cases.running import find_subject, list_heard, run_case
from tests.hooks.insight.cases.hook_files import GUARD, send, write_hook

FILE = """
hook: ./guard.py
config: {most: 3}
timeout: 2
cases:
  - name: denies rm
    event: tool:pre
    data: {tool_input: {command: "rm ${HOME}"}}
    expect: deny
  - config: {most: 4}
    files: {a.txt: text}
    steps:
      - event: prompt:submit
      - event: tool:pre
        times: 3
        complete: false
        expect: {hook: h, error: e, reason: why, ephemeral: true, data: {tool_name: Bash}}
"""


def write(folder: Path, text: str, name: str = "guard.cases.yaml") -> Path:
    """A file with cases."""
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    """Short forms are written out; variables of the environment are none here."""
    found = read_cases(write(tmp_path, FILE))
    assert (found.hook, found.bundle, found.config, found.timeout) == (
        "./guard.py",
        None,
        {"most": 3},
        2.0,
    )
    data = {"tool_input": {"command": "rm ${HOME}"}}
    expected = Expectation(
        None, "h", "e", {"tool_name": "Bash"}, {"reason": "why", "ephemeral": True}
    )
    steps = (Step("prompt:submit"), Step("tool:pre", {}, expected, 3, complete=False))
    assert found.cases == (
        Case("denies rm", (Step("tool:pre", data, Expectation("deny")),), line=6),
        Case("case 2: prompt:submit", steps, {"most": 4}, {"a.txt": "text"}, 10),
    )


def test_a_list_alone_and_json_are_files_with_cases(tmp_path: Path) -> None:
    """Such a file does not say what it is about."""
    text = '[{"event": "tool:pre", "expect": "deny"}]'
    found = read_cases(write(tmp_path, text, "guard.cases.json"))
    assert found.hook is None
    assert found.cases[0].steps == (Step("tool:pre", {}, Expectation("deny")),)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cases: ]", ":1: not valid YAML: "),
        ("hook: x\ncases:\n- event: tool:per\n  expect: deny\n", ":3: case 1.event: no event"),
        ("- event: tool:pre\n", ":1: case 1.expect: is missing"),
    ],
)
def test_a_mistake_is_told_with_file_and_line(tmp_path: Path, text: str, told: str) -> None:
    """In the text, in a key, and among several keys."""
    path = write(tmp_path, text)
    with pytest.raises(CasesError) as caught:
        read_cases(path)
    assert str(caught.value).startswith(f"{path}{told}")


def test_cases_lie_beside_the_file_the_folder_or_the_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under its name without the ending; also for the folder that one is in."""
    inner = tmp_path / "my.hooks"
    inner.mkdir()
    assert find_cases_beside(tmp_path / "guard.py") is None
    beside = write(tmp_path, "", "guard.cases.yml")
    assert find_cases_beside(tmp_path / "guard.py") == beside
    package = write(tmp_path, "", "my.hooks.cases.yaml")
    assert find_cases_beside(inner) == package
    monkeypatch.chdir(inner)
    assert find_cases_beside(Path()) == package
    monkeypatch.chdir(tmp_path)
    assert find_cases_beside(Path("guard.py")) == Path("guard.cases.yml")


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
