"""The examples in examples/hooks: each runs by itself, and all of them together in a session."""

from __future__ import annotations

import runpy
import shutil
import tempfile
from pathlib import Path

import pytest

from amplifier_core.testing import RecordingDisplay, ScriptedApproval
from amplifier_hooks import load_bundle, open_session
from amplifier_hooks.insight.cases.files import read_cases
from amplifier_hooks.insight.cases.running import find_subject, run_case

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "hooks"
EXAMPLES = sorted(FOLDER.glob("*.py"))
CASES = sorted(FOLDER.glob("*.cases.yaml"))

PRINTED = {
    "ask_before_deploying": """\
deploy staging: deployed
deploy production: Error: Operation denied by ask_before_deploying: User denied: \
The agent wants to run: deploy production
asked:
  The agent wants to run: deploy staging
  The agent wants to run: deploy production
""",
    "hide_card_numbers": """\
the tool said:  Paid with 4111 1111 1111 1111 on Monday.
the agent sees: Paid with [card number] on Monday.
""",
    "keep_agents_small": """\
Find all uses of parse().

Report within ten steps, even if you are not finished.
split the task: a sub-agent gets one thing to do
""",
    "limit_tool_calls": """\
continue
continue
deny Search was called 2 times in this turn; sum up instead
continue
""",
    "lint_after_edits": """\
inject_context: greeting.py does not parse: line 1: invalid syntax. Correct it before you go on.
continue: None
""",
    "remind_of_the_rules": """\
in the next request: ['House rules: British spelling; no new dependencies; tests before code.']
in the history:      []
""",
    "stop_deletions": """\
ls -l: continue
cd build && /bin/rm -rf .: deny (deleting is for people; move the file to trash/ instead)
echo 'unclosed: deny (hook 'stop_deletions' failed and fails closed: \
ValueError: No closing quotation)
""",
    "write_a_log": """\
prompt:submit ['event', 'prompt', 'timestamp']
tool:pre ['event', 'timestamp', 'tool_input', 'tool_name']
deploy:done ['event', 'place', 'timestamp']
""",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_shows_what_it_does(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """The specification points to complete working implementations."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out == PRINTED[path.stem]


def test_the_page_names_every_example():
    """What nobody can find is no example."""
    page = (FOLDER / "README.md").read_text()
    bundle = (FOLDER / "amplifier.yaml").read_text()
    for path in EXAMPLES:
        assert f"[{path.name}]({path.name})" in page
        assert f"source: ./{path.name}" in bundle


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_an_example_answers_as_its_cases_say(path: Path, tmp_path: Path, monkeypatch):
    """Whoever copies a hook can copy its cases, and nothing of it is left behind."""
    monkeypatch.chdir(tmp_path)
    file = read_cases(path)
    assert file.hook == f"./{path.name.removesuffix('.cases.yaml')}.py"
    subject = find_subject(file.hook, path.parent)
    runs = [run_case(one, subject, file.config, file.timeout) for one in file.cases]
    assert {one.case.name: one.list_reasons() for one in runs if not one.passed} == {}
    assert list(tmp_path.iterdir()) == []


async def test_all_examples_govern_one_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The bundle of the folder runs to its end, and every answer in it is carried out."""
    folder = shutil.copytree(
        FOLDER, tmp_path / "hooks", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    screen, person = RecordingDisplay(), ScriptedApproval("Deny")
    bundle = load_bundle(project_dir=folder)
    session = await open_session(
        bundle, approval_system=person, display_system=screen, working_dir=folder
    )
    try:
        reply = await session.execute("deploy the notes")
        results = [
            str(one["content"])
            for one in (await session.state())["messages"]
            if one["role"] == "tool"
        ]
    finally:
        await session.cleanup()
    assert reply == "Done, as far as I was allowed to."
    assert "deleting is for people" in results[0]
    assert any("notes.py does not parse" in message for message, _, _ in screen.messages)
    assert person.prompts == ["The agent wants to run: deploy staging"]
    assert "User denied" in results[-1]
    assert (folder / "notes.py").read_text() == "def notes(): ...\n"
