"""The report: nothing is claimed that was not checked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from amplifier_audit import AuditLog, anchor_to_file, create_key
from amplifier_hooks import bundle_from_plan
from amplifier_hooks.cli.commands.demo import session as report
from amplifier_hooks.cli.commands.demo.session import (
    AFTER,
    CLEAN,
    NEXT,
    PRODUCTION,
    SECRET,
    WITH_LINT_ERROR,
    Fact,
    Results,
    check_results,
    compare_files,
    find_ruff,
    print_report,
    write_files,
)
from amplifier_hooks.cli.program_name import name_program
from tests.audit.support import FAST
from tests.support.harness import Harness


def test_each_file_stands_beside_what_became_of_it(tmp_path: Path) -> None:
    """Read back from the disk and from the transcript."""
    write_files(tmp_path / "project")
    (tmp_path / "project" / PRODUCTION).write_text(AFTER)
    read = "1 Deploys run at noon.\\n2 The bucket's key is [REDACTED:aws].\\n"
    (tmp_path / "transcript.json").write_text(json.dumps({"messages": [{"content": read}]}))
    before, after, disk, seen = [text for _, text in compare_files(tmp_path)]
    assert (before, after) == ("workers = 2", "workers = 4")
    assert disk == f"The bucket's key is {SECRET}."
    assert seen == "The bucket's key is [REDACTED:aws]."


def test_notes_that_nobody_read_are_said_to_be_unread(tmp_path: Path) -> None:
    """Nothing is claimed that was not seen."""
    write_files(tmp_path / "project")
    (tmp_path / "transcript.json").write_text("{}")
    assert compare_files(tmp_path)[-1] == ("notes.txt, as the agent saw it", "(not read)")


def test_the_files_are_there_before_the_agent_starts(tmp_path: Path) -> None:
    """Notes with a key in them, and a production folder."""
    report.write_files(tmp_path / "project")
    assert (tmp_path / "project" / report.PRODUCTION).read_text() == report.BEFORE
    assert report.SECRET in (tmp_path / "project" / "notes.txt").read_text()


@pytest.mark.parametrize(("text", "code"), [(report.WITH_LINT_ERROR, 1), (report.CLEAN, 0)])
def test_one_helper_has_a_lint_error_and_the_other_none(
    tmp_path: Path, text: str, code: int
) -> None:
    """What the linter says in the story is what it says."""
    (tmp_path / "greeting.py").write_text(text)
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert ("F401" in done.stdout) == bool(code)


def test_with_a_linter_the_model_is_hasty_once() -> None:
    """Without one there is nothing to correct; each reply takes its time."""
    hasty, careful = report.make_script(0.5, lint=True), report.make_script(0.5, lint=False)
    assert len(hasty) == len(careful) + 1
    assert hasty[1]["expect"] == "F401"
    assert all(reply["pause"] == 0.5 for reply in hasty)


async def test_the_key_in_the_notes_is_one_that_redaction_finds() -> None:
    """Else the story would prove nothing."""
    async with Harness().mounted("redaction") as harness:
        result = {"success": True, "output": report.NOTES, "error": None}
        seen = await harness.emit("tool:post", tool_name="Read", tool_result=result, success=True)
    assert report.SECRET not in str(seen.data)
    assert "REDACTED" in str(seen.data)


@pytest.mark.parametrize("key", [None, Path("key")])
def test_the_bundle_is_one_that_a_person_could_write(tmp_path: Path, key: Path | None) -> None:
    """It is checked as any other; it is signed where there is a key."""
    document = report.make_bundle(tmp_path, pause=0, key=key, seconds=7, lint=True)
    bundle = bundle_from_plan(document)
    assert bundle.mount_plan["hooks"][2]["config"]["approval_timeout"] == 7
    assert ("sign" in document["audit"]) == (key is not None)


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    """What a demonstration leaves, when all went well and the write was refused."""
    write_files(tmp_path / "project")
    (tmp_path / "project" / "greeting.py").write_text(CLEAN)
    (tmp_path / "transcript.json").write_text("{}")
    (tmp_path / "outside").mkdir()
    signer = create_key(tmp_path / "outside" / "audit.key")
    anchor = anchor_to_file(tmp_path / "outside" / "checkpoints")
    trail = await AuditLog.open(tmp_path / "audit" / "s1", FAST, signer=signer, anchors=(anchor,))
    for action in ("deny", "continue", "ask_user", "ask_user"):
        answers = [{"hook": "guard", "action": action}]
        trail.append("dispatch", {"action": action, "hooks": answers}, event="tool:pre")
    trail.append("approval_requested", {"prompt": "Sure?"}, event="tool:pre", hook="guard")
    await trail.commit()
    await trail.close()
    return tmp_path


def texts(results: Results) -> list[str]:
    return [fact.text for fact in results.facts]


def test_what_holds_is_said_to_hold(folder: Path) -> None:
    """Four facts, and what each hook answered."""
    results = check_results(folder, "s1")
    assert results.all_hold
    assert results.hooks == {"guard": Counter(ask_user=1, deny=1)}
    lint, secret, production, trail = texts(results)
    assert lint == "greeting.py is clean: the lint error was found and fixed in the same turn"
    assert secret.startswith("the key from notes.txt is in no transcript or trail (")
    assert production == f"{PRODUCTION} is untouched: the write was refused"
    assert trail.startswith("audit trail: 8 records, proven to 7 by a signed checkpoint")


def test_a_write_that_was_allowed_is_as_good(folder: Path) -> None:
    """The person decided."""
    (folder / "project" / PRODUCTION).write_text(AFTER)
    results = check_results(folder, "s1")
    assert results.all_hold
    assert f"{PRODUCTION} was written, as allowed" in texts(results)


@pytest.mark.parametrize(
    ("path", "content", "text"),
    [
        ("project/greeting.py", WITH_LINT_ERROR, "greeting.py has lint errors"),
        ("transcript.json", f'"{SECRET}"', "the key from notes.txt is in transcript.json"),
        (f"project/{PRODUCTION}", "x", f"{PRODUCTION} has an unexpected content"),
    ],
)
def test_what_does_not_hold_is_said_so(folder: Path, path: str, content: str, text: str) -> None:
    """In CI the demonstration is a test."""
    (folder / path).write_text(content)
    results = check_results(folder, "s1")
    assert not results.all_hold
    assert [fact.text for fact in results.facts if not fact.holds] == [text]


def test_a_trail_that_somebody_changed_is_no_proof(folder: Path) -> None:
    """The verdict is what the verifier says."""
    segment = next((folder / "audit" / "s1").glob("*.jsonl"))
    segment.write_bytes(segment.read_bytes().replace(b"ask_user", b"continue"))
    results = check_results(folder, "s1")
    assert not results.all_hold
    assert texts(results)[-1].endswith("tampered")


def test_the_report_says_what_happened_and_what_to_try(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A sign for each fact; the folder only where it is kept."""
    hooks = {"guard": Counter(deny=1), "linter": Counter(inject_context=2, modify=3)}
    facts = (Fact(True, "yes"), Fact(False, "no"))
    results = Results(hooks, facts, tmp_path / "trail", (("notes", "a key"),))
    print_report(results, None)
    assert capsys.readouterr().out.splitlines()[:11] == [
        "",
        "What the hooks did",
        "  guard   denied once",
        "  linter  told the agent twice, changed what went through 3 times",
        "",
        "Before and after",
        "  notes  a key",
        "",
        "Checked afterwards",
        "  ✓ yes",
        "  ✗ no",
    ]
    print_report(results, tmp_path)
    shown = capsys.readouterr().out
    assert f"audit show {tmp_path / 'trail'}\n" in shown
    assert f"Everything is kept in {tmp_path}" in shown


def test_the_next_steps_can_be_pasted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """They start with what runs this program here."""
    print_report(Results({}, (), tmp_path), None)
    lines = capsys.readouterr().out.split("Try next\n")[1].splitlines()
    assert len(lines) == len(NEXT)
    assert all(line.startswith(f"  {name_program()} ") for line in lines)


def test_ruff_is_found_beside_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the environment was not activated."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_ruff() is not None
