"""The report: nothing is claimed that was not checked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from amplifier_audit import AuditLog, anchor_to_file, create_key
from amplifier_hooks.cli.commands.demo.report import (
    AFTER,
    CLEAN,
    NEXT,
    PRODUCTION,
    SECRET,
    WITH_LINT_ERROR,
    Fact,
    Results,
    check_results,
    find_ruff,
    print_report,
    write_files,
)
from amplifier_hooks.cli.program_name import name_program
from tests.audit.support import FAST


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
