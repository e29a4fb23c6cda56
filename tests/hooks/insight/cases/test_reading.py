"""Reading files with cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.insight.cases.case import Case, Expectation, Step
from amplifier_hooks.insight.cases.files import CasesError, find_cases_beside, read_cases

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
