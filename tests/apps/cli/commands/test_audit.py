"""`amplifier audit`, run as people run it."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from amplifier_apps.cli.commands.audit import audit
from amplifier_audit import AuditLog, AuditSettings, anchor_to_file, load_signer
from amplifier_audit.format.checkpoint import parse_note
from amplifier_audit.format.proof import compute_inclusion_root
from amplifier_audit.format.record import parse_record
from amplifier_audit.format.tree import hash_leaf
from amplifier_audit.reader.queries import parse_time
from tests.audit.support import FAST, OTHER, SIGNER


def run(*arguments: object) -> Result:
    """The command, in this process."""
    return CliRunner().invoke(audit, [str(one) for one in arguments])


@pytest.fixture
async def log(tmp_path: Path) -> Path:
    """A signed log with two sessions, three hooks and anchors elsewhere."""
    path = tmp_path / "log"
    trail = await AuditLog.open(
        path, FAST, signer=SIGNER, anchors=(anchor_to_file(tmp_path / "anchors"),)
    )
    for number in range(10):
        hooks = [
            {
                "hook": "guard",
                "id": 1,
                "action": "deny" if number == 7 else "continue",
                "ms": number,
            },
            {"hook": "linter", "id": 2, "action": "inject_context", "ms": 0.5},
            {"hook": "asker", "id": 3, "action": "ask_user", "ms": 1, "error": "ValueError: x"},
        ]
        body = {
            "action": "deny" if number == 7 else "continue",
            "hooks": hooks,
            "reason": "why\x1b[2J",
        }
        trail.append("dispatch", body, session="s1", event="tool:pre")
    trail.append("action_resolved", {"action": "deny", "ms": 2}, session="s2", hook="guard")
    trail.append("user_message", {"text": "\u202e[red]forged\x1b]0;x\x07"}, session="s2")
    await trail.commit()
    await trail.close()
    return path


def test_verify_says_proven_only_with_an_anchor(log: Path, tmp_path: Path) -> None:
    """Four verdicts, four exit codes: 0 proven to an anchor."""
    result = run("verify", log, "--key", SIGNER.public, "--anchor", tmp_path / "anchors")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("PROVEN: the first 14 records are proven by an anchor")
    told = json.loads(run("verify", log, "--anchor", tmp_path / "anchors", "--json").output)
    assert (told["verdict"], told["proven_to"], told["finding"]) == ("proven", 14, None)


def test_verify_without_an_anchor_never_says_ok(log: Path) -> None:
    """3 consistent but end not proven. It never prints a bare "OK"."""
    result = run("verify", log)
    assert result.exit_code == 3
    assert "END NOT PROVEN" in result.output
    assert "OK" not in result.output


def test_verify_tells_a_crash(log: Path) -> None:
    """4 recovered."""
    with (log / "00000000.jsonl").open("ab") as file:
        file.write(b'{"v":1,"torn')
    result = run("verify", log)
    assert result.exit_code == 4
    assert "torn tail at record 15 (00000000.jsonl, byte" in result.output


def test_verify_names_the_first_bad_record_and_byte(log: Path) -> None:
    """5 tampered; first bad record and byte named."""
    lines = (log / "00000000.jsonl").read_bytes().splitlines(keepends=True)
    lines[5] = lines[5].replace(b"guard", b"GUARD")
    (log / "00000000.jsonl").write_bytes(b"".join(lines))
    result = run("verify", log)
    assert result.exit_code == 5
    byte = sum(map(len, lines[:5]))
    assert f"edit at record 5 (00000000.jsonl, byte {byte})" in result.output


def test_verify_goes_on_from_a_saved_position(log: Path, tmp_path: Path) -> None:
    """Incremental from a saved checkpoint."""
    saved = tmp_path / "saved.json"
    assert run("verify", log, "--save", saved).exit_code == 3
    AuditLog(log, FAST, signer=SIGNER).close_now()
    told = json.loads(run("verify", log, "--since", saved, "--json").output)
    assert (told["verdict"], told["first"], told["size"]) == ("consistent", 15, 17)
    os.truncate(log / "00000000.jsonl", 1000)
    result = run("verify", log, "--since", saved)
    assert result.exit_code == 5
    assert "cut below" in result.output
    (log / "00000000.jsonl").rename(log / "00000005.jsonl")
    assert run("verify", log, "--since", saved).exit_code == 2


def test_verify_refuses_another_key_and_another_log(log: Path, tmp_path: Path) -> None:
    """T23: wrong key, replacement."""
    assert run("verify", log, "--key", OTHER.public).exit_code == 5
    (tmp_path / "other").write_text("amplifier.audit/ab\n3\n" + "A" * 43 + "=\n")
    result = run("verify", log, "--anchor", tmp_path / "other")
    assert result.exit_code == 5
    assert "wrong log" in result.output


def test_without_a_name_the_newest_trail_is_meant(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session's trail is found by the start of its id, the newest one without any name."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    home = tmp_path / "data" / "amplifier" / "audit"
    nothing = run("stats")
    assert nothing.exit_code == 2
    assert "no trail" in nothing.output
    home.mkdir(parents=True)
    log.rename(home / "abc-123")
    assert run("verify").exit_code == 3
    assert run("verify", "abc").exit_code == 3
    assert run("verify", "nope").exit_code == 2


def make(path: Path, content: bytes | None) -> Path:
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (None, "holds no audit log"),
        (b"hello world\n", "is no audit log"),
        (b"\x7fELF\x00\x01\x02", "is no audit log"),
        (b"x" * 3_000_000, "is no audit log"),
        (b"", "no records"),
    ],
)
def test_what_is_no_log_is_one_sentence_and_exit_code_2(
    tmp_path: Path, content: bytes | None, word: str
) -> None:
    """A file that is not a log, empty, binary: one clear sentence and the right exit code."""
    result = run("verify", make(tmp_path / "thing", content))
    assert result.exit_code == 2
    assert word in result.output
    assert result.output.count("\n") == 1


def test_gigabytes_on_one_line_need_no_memory(tmp_path: Path) -> None:
    """Gigabytes on one line: one clear sentence and the right exit code."""
    path = tmp_path / "huge.jsonl"
    path.write_bytes(b'{"v":1,"log":"')
    os.truncate(path, 3_000_000_000)
    start = time.monotonic()
    result = run("verify", path)
    assert result.exit_code == 5
    assert "more than 65536 bytes" in result.output
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "NOWHERE"),
        ("show", "NOWHERE"),
        ("tail", "NOWHERE"),
        ("stats", "NOWHERE"),
        ("prove", "NOWHERE", "1"),
        ("checkpoint", "NOWHERE"),
        ("redact", "NOWHERE", "x", "--by", "a", "--reason", "b"),
        ("verify", "LOG", "--key", "NOWHERE"),
        ("verify", "LOG", "--anchor", "NOWHERE"),
        ("verify", "LOG", "--anchor", "BINARY"),
        ("verify", "LOG", "--anchor", "EMPTY"),
        ("verify", "LOG", "--since", "NOWHERE"),
        ("verify", "LOG", "--since", "EMPTY"),
        ("prove", "LOG", "9999"),
        ("prove", "LOG", "-1"),
        ("redact", "LOG", "x", "--by", "a", "--reason", "b"),
        ("redact", "LOG", "x"),
        ("create-key", "LOG"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    log: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Wrong key, missing file: one clear sentence and the right exit code each."""
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    names = {
        "LOG": log,
        "NOWHERE": tmp_path / "no" / "where",
        "EMPTY": tmp_path / "empty",
        "BINARY": tmp_path / "binary",
    }
    result = run(*(names.get(one, one) for one in arguments))
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert "Error" in result.output


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_missing_permission_is_one_sentence(log: Path) -> None:
    """Missing permissions: one clear sentence and the right exit code."""
    (log / "00000000.jsonl").chmod(0)
    assert run("verify", log).exit_code == 2


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ((), 15),
        (("--session", "s2"), 2),
        (("--hook", "guard"), 11),
        (("--hook", "linter"), 10),
        (("--event", "tool:pre"), 10),
        (("--action", "deny"), 2),
        (("--action", "ask_user"), 10),
        (("--type", "checkpoint"), 2),
        (("--after", "2999"), 0),
        (("--before", "2999"), 15),
        (("--session", "s1", "--limit", "3"), 3),
    ],
)
def test_show_filters(log: Path, options: tuple[str, ...], count: int) -> None:
    """Filters by session, hook, event, action, time; human table or JSON."""
    lines = run("show", log, "--json", *options).output.splitlines()
    assert len(lines) == count
    assert len(run("show", log, *options).output.splitlines()) == count + 1


def test_nothing_in_a_log_steers_the_terminal(log: Path) -> None:
    """T17: escape visibly; mark-up off."""
    for command in ("show", "stats", "verify"):
        output = run(command, log).output
        assert all(0x20 <= ord(ch) < 0x7F or ch == "\n" for ch in output)
    assert "\\u202e[red]forged\\u001b" in run("show", log).output


def test_a_denial_names_the_hook_and_the_reason(log: Path) -> None:
    """A denial names the hook and the reason."""
    (_, line, _) = run("show", log, "--action", "deny").output.splitlines()
    assert "action=deny reason=why\\u001b[2J guard:deny linter:inject_context" in line


def test_stats_count_per_hook(log: Path) -> None:
    """Per hook: calls, denials, asks, injections, errors, p50/p99 duration."""
    rows = {row["hook"]: row for row in json.loads(run("stats", log, "--json").output)}
    assert rows["guard"] == {
        "hook": "guard",
        "calls": 11,
        "denials": 2,
        "asks": 0,
        "injections": 0,
        "errors": 0,
        "p50_ms": 4.0,
        "p99_ms": 9.0,
    }
    assert (rows["asker"]["asks"], rows["asker"]["errors"], rows["linter"]["injections"]) == (
        10,
        10,
        10,
    )
    assert "guard" in run("stats", log).output


def test_prove_prints_a_proof_that_holds(log: Path, tmp_path: Path) -> None:
    """Inclusion proof for one record."""
    proof = json.loads(run("prove", log, "7").output)
    import base64

    note = parse_note(proof["checkpoint"])
    hashes = [base64.b64decode(one) for one in proof["hashes"]]
    leaf = hash_leaf(proof["record"].encode())
    root = compute_inclusion_root(7, note.checkpoint.size, leaf, hashes)
    assert root == note.checkpoint.root
    assert parse_record(proof["record"].encode() + b"\n")["seq"] == 7
    (tmp_path / "note").write_text(run("checkpoint", log).output)
    assert run("prove", log, "7", "--checkpoint", tmp_path / "note").exit_code == 0
    forged = note.text.replace(note.text.split("\n")[2], "A" * 43 + "=")
    (tmp_path / "note").write_text(forged)
    result = run("prove", log, "7", "--checkpoint", tmp_path / "note")
    assert result.exit_code == 2
    assert "not those of the checkpoint" in result.output


def test_checkpoint_prints_the_newest(log: Path) -> None:
    """Print the newest, for keeping elsewhere."""
    note = parse_note(run("checkpoint", log).output)
    assert note.checkpoint.size == 14


async def test_redact_deletes_and_records(tmp_path: Path) -> None:
    """`redact`."""
    settings = AuditSettings(values="committed")
    key = tmp_path / "key"
    assert run("create-key", key).output.startswith("amplifier-audit+")
    log = tmp_path / "log"
    trail = await AuditLog.open(log, settings, signer=load_signer(key))
    await trail.commit(trail.append("user_message", {"text": "very secret"}))
    await trail.close()
    shown = json.loads(run("show", log, "--type", "user_message", "--json", "--reveal").output)
    assert shown["body"]["text"] == "very secret"
    hidden = json.loads(run("show", log, "--type", "user_message", "--json").output)
    commitment = hidden["body"]["text"]["$commitment"]
    words = ("redact", log, commitment, "--by", "ann", "--reason", "r")
    refused = await asyncio.to_thread(run, *words)
    assert refused.exit_code == 2
    assert "is signed with" in refused.output
    result = await asyncio.to_thread(run, *words, "--key-file", key)
    assert result.exit_code == 0, result.output
    after = json.loads(run("show", log, "--type", "user_message", "--json", "--reveal").output)
    assert after["body"]["text"]["redacted"] is True
    assert run("verify", log, "--key", key).exit_code == 3


async def test_redacting_a_log_that_is_being_written_is_refused(tmp_path: Path) -> None:
    """One writer per log."""
    trail = await AuditLog.open(tmp_path / "log", AuditSettings(values="committed"))
    words = ("redact", tmp_path / "log", "x", "--by", "a", "--reason", "b")
    result = await asyncio.to_thread(run, *words)
    assert result.exit_code == 2
    assert "Another writer" in result.output
    await trail.close()


def start(*arguments: object, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "amplifier_apps.cli.commands.audit", *map(str, arguments)],
        text=True,
        **options,
    )


async def test_tail_follows_a_log_that_is_being_written(tmp_path: Path) -> None:
    """`tail` (follows)."""
    trail = await AuditLog.open(tmp_path / "log", FAST)
    follower = start("tail", tmp_path / "log", "--type", "mine", stdout=subprocess.PIPE)
    assert follower.stdout is not None
    line = asyncio.create_task(asyncio.to_thread(follower.stdout.readline))
    while not line.done():
        await trail.commit(trail.append("mine", {"action": "deny", "reason": "because"}))
        await asyncio.sleep(0.05)
    follower.kill()
    follower.wait()
    follower.stdout.close()
    assert "mine" in await line
    assert "action=deny reason=because" in await line
    await trail.close()


def test_a_bar_on_a_terminal_and_silence_elsewhere(log: Path) -> None:
    """Progress bars on long logs, silent when not a terminal."""
    quiet = start("verify", log, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, errors = quiet.communicate()
    assert (quiet.returncode, errors) == (3, "")
    master, slave = pty.openpty()
    shown = start("verify", log, stdout=subprocess.PIPE, stderr=slave)
    shown.communicate()
    os.close(slave)
    assert shown.returncode == 3
    assert b"Verifying" in os.read(master, 10_000)
    os.close(master)


def test_the_command_imports_nothing_heavy_before_it_is_needed() -> None:
    """Lazy heavy imports."""
    code = (
        "import sys, amplifier_apps.cli.commands.audit;"
        "print([n for n in ('rich', 'cryptography', 'sqlite3', 'pydantic') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("command", ["show", "stats"])
@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x00\xff\x01" * 99])
def test_what_is_no_log_is_refused_by_readers_too(
    tmp_path: Path, command: str, content: bytes
) -> None:
    """A file that is not a log, empty, binary: one clear sentence and the right exit code each."""
    path = tmp_path / "file"
    path.write_bytes(content)
    result = run(command, path)
    assert result.exit_code == 2
    assert str(path) in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("given", ["yesterday", "15.11.2026", "2026-11-15T09:00+99:00", ""])
def test_a_time_that_is_none_is_refused(log: Path, given: str) -> None:
    """Bad input: one clear sentence and the right exit code each."""
    result = run("show", log, "--after", given)
    assert result.exit_code == 2
    assert f"{given!r} is no time" in result.stderr


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2026-11-15", "2026-11-15"),
        ("2026-11-15 09:00", "2026-11-15T09:00"),
        ("2026-11-15T09:00Z", "2026-11-15T09:00"),
        ("2026-11-15T09:00+02:00", "2026-11-15T07:00:00"),
        ("2026-11-15T09:00:01.25Z", "2026-11-15T09:00:01.25"),
    ],
)
def test_times_are_compared_in_utc(given: str, meant: str) -> None:
    """`show`: filters by time."""
    assert parse_time(given) == meant


def test_a_log_whose_segments_are_gone_is_not_called_empty(log: Path) -> None:
    """Truncation and deletion are named as what they are."""
    for segment in log.glob("*.jsonl"):
        segment.unlink()
    result = run("verify", log)
    assert result.exit_code == 2
    assert "All segments of" in result.stderr
    assert "acknowledged" in result.stderr


def test_a_cut_is_named_with_its_byte(log: Path) -> None:
    """First bad record and byte named."""
    segment = log / "00000000.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:4]))
    result = run("verify", log)
    assert result.exit_code == 5
    assert f"at record 4 (00000000.jsonl, byte {segment.stat().st_size})" in result.stdout
    assert "None" not in result.stdout
