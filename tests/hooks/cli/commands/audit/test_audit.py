"""amplifier audit: what all its commands have in common."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks import SessionInfo, SessionStore
from tests.hooks.cli.program import Outcome, invoke


def audit(*arguments: object) -> Outcome:
    return invoke("audit", *arguments)


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
        ("verify", "LOG", "--save", "NOWHERE"),
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
    """A wrong key, a missing file, a record that is not there: said plainly, without a trace."""
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    names = {
        "LOG": log,
        "NOWHERE": tmp_path / "no" / "where",
        "EMPTY": tmp_path / "empty",
        "BINARY": tmp_path / "binary",
    }
    done = audit(*(names.get(one, one) for one in arguments))
    assert done.code == 2, done.output
    assert "Traceback" not in done.output
    assert [line for line in done.stderr.splitlines() if line.startswith("Error: ")]


@pytest.mark.parametrize("command", ["show", "stats"])
@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x00\xff\x01" * 99])
def test_what_is_no_log_is_refused_by_readers_too(
    tmp_path: Path, command: str, content: bytes
) -> None:
    """An empty, a foreign or a binary file: its name, and nothing on standard output."""
    path = tmp_path / "file"
    path.write_bytes(content)
    done = audit(command, path)
    assert done.code == 2
    assert str(path) in done.stderr
    assert done.stdout == ""


def test_nothing_in_a_log_steers_the_terminal(log: Path) -> None:
    """Printable characters only, whatever a hook or a model wrote."""
    for command in (("show",), ("show", "--all"), ("show", "--json"), ("stats",), ("verify",)):
        output = audit(*command, log).stdout
        assert output
        assert all(ch.isprintable() or ch == "\n" for ch in output)
    assert "\\u{202E}[red]forged\\u{1B}" in audit("show", log).stdout


def test_the_command_imports_nothing_heavy_before_it_is_needed() -> None:
    """Its help is there at once."""
    code = (
        "import sys, amplifier_hooks.cli.commands.audit;"
        "heavy = ('rich', 'cryptography', 'sqlite3', 'pydantic', 'asyncio');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_help_lists_every_command() -> None:
    """Each with a line of its own."""
    shown = audit("--help").stdout
    for name in (
        "checkpoint",
        "create-key",
        "prove",
        "redact",
        "show",
        "stats",
        "tail",
        "verify",
    ):
        assert f"  {name} " in shown


WITHOUT_A_READER = """
import json, os, sys
from amplifier_hooks.cli.main import main

codes = {}
for line in sys.argv[1:]:
    reading, writing = os.pipe()
    os.close(reading)
    os.dup2(writing, 1)
    os.close(writing)
    try:
        main(line.split())
    except SystemExit as left:
        codes[line] = left.code
print(json.dumps(codes), file=sys.stderr)
"""


def test_commands_end_quietly_when_their_reader_has_gone(home: Path, log: Path) -> None:
    """`| head` is no error, for any of them; the verdict of `verify` stays in its exit code."""
    SessionStore().save(SessionInfo("abcdef"), {"messages": []})
    reading = ["list", "list --json", f"prove {log} 1", f"checkpoint {log}"]
    reading += [f"{name} {log} {more}" for name in ("show", "stats") for more in ("", "--json")]
    lines = [f"audit {one}" for one in (*reading, f"show {log} --all", "--help")]
    lines += ["sessions list", "sessions list --json", "sessions show abcdef", "sessions --help"]
    lines += [f"audit create-key {home / 'key'}", "sessions delete abcdef --yes"]
    verify = [f"audit verify {log}", f"audit verify {log} --json"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_READER, *lines, *verify],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stderr) == {**dict.fromkeys(lines, 0), **dict.fromkeys(verify, 3)}
