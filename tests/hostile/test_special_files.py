"""No command waits for, or reads without end, what is not a file: pipes, devices, sockets."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from amplifier_audit.regular import NotAFile, read_regular
from amplifier_hooks.cli.program import refuse_special_files
from tests.hooks.cli.command_tree import walk
from tests.hooks.cli.program import invoke
from tests.hostile.test_untrusted_folder import run_all
from tests.support.isolation import require_isolation

X = "special"

NAMED: dict[str, list[list[str]]] = {
    "run": [["--bundle", X, "hello"]],
    "chat": [["--bundle", X]],
    "trust": [["--bundle", X]],
    "hooks backtest": [
        [X],
        ["--bundle", X],
        ["--hook", X],
        ["--rules", X],
        ["--baseline", X],
        ["--state", X],
    ],
    "hooks list": [["--bundle", X]],
    "hooks stats": [[X]],
    "hooks test": [[X], ["hook.py", X], ["--bundle", X]],
    "hooks trace": [["--bundle", X, "hello"]],
    "rules check": [[X], ["--bundle", X], ["--trail", X]],
    "rules suggest": [[X]],
    "modules validate": [[X]],
    "audit checkpoint": [[X]],
    "audit create-key": [[X]],
    "audit prove": [[X, "0"], ["log", "0", "--checkpoint", X]],
    "audit redact": [[X, "c", "--by", "b", "--reason", "r"]],
    "audit serve": [[X, "--socket", "s", "--user", "root"]],
    "audit show": [[X], ["--bundle", X]],
    "audit stats": [[X]],
    "audit tail": [[X]],
    "audit verify": [[X], ["log", "--key", X], ["log", "--anchor", X], ["log", "--since", X]],
    "report": [[X], ["log", "--key", X], ["log", "--anchor", X]],
    "replay": [[X], ["log", "--bundle", X]],
    "backups list": [["--dir", X]],
    "backups restore": [["id", "--dir", X], ["id", "--to", X]],
    "approvals allow": [
        ["id", "--store", X],
        ["id", "--server", "http://[::1]:1", "--token-file", X],
    ],
    "approvals deny": [["id", "--store", X]],
    "approvals list": [["--store", X]],
    "approvals revoke": [["id", "--store", X]],
    "approvals rules": [["--store", X]],
    "approvals show": [["id", "--store", X]],
    "approvals watch": [["--store", X]],
    "guard claude": [["--bundle", X]],
    "guard codex": [["--bundle", X]],
    "guard copilot": [["--bundle", X]],
    "guard cursor": [["--bundle", X]],
    "guard gemini": [["--bundle", X]],
    "guard mcp": [["--bundle", X]],
    "guard opencode": [["--bundle", X]],
    "mcp gateway": [["--bundle", X, "--", "true"], ["--folder", X, "--", "true"]],
    "mcp server": [["--bundle", X], ["--folder", X], ["--store", X]],
    "judge": [["--bundle", X]],
    "serve": [["--store", X], ["--tls-cert", X], ["--tls-key", X], ["--bundle", X]],
    "tokens add": [["me", "--scope", "read", "--store", X]],
    "tokens list": [["--store", X]],
    "tokens logout": [["me", "--store", X]],
    "tokens revoke": [["id", "--store", X]],
    "login-code": [["--store", X]],
    "init": [[X]],
}
"""Every command that takes a file or a folder, with each place where one can be named."""

WITHOUT = {
    *("demo", "sessions delete", "sessions list", "sessions resume", "sessions show"),
    *("trust list", "events", "modules list", "audit list", "guard", "guard check"),
    *("mcp tools", "mcp tools allow", "mcp tools forget", "mcp tools list", "mcp tools show"),
    *("schema", "doctor", "completion"),
}
"""Commands that read no file that is named to them."""


def bind_socket(path: Path) -> None:
    """A socket that nobody listens to."""
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to(os.ttyname(os.openpty()[1])),
    "socket": bind_socket,
}
CASES = [[*name.split(), *one] for name in NAMED for one in NAMED[name]]


def test_every_command_is_known_to_take_a_file_or_not() -> None:
    """A new one is put into one of the two tables."""
    paths = {
        context.command_path.removeprefix("amplifier ")
        for context in walk()
        if getattr(context.command, "invoke_without_command", True)
    }
    assert paths - {"amplifier"} == NAMED.keys() | WITHOUT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is where the commands work; its path is short enough for a socket."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_no_command_opens_what_is_not_a_file(kind: str, folder: Path) -> None:
    """Each is refused in one sentence, before anything is read."""
    KINDS[kind](Path(X))
    for case in CASES:
        done = invoke(*case)
        assert done.code == 2, (case, done.output)
        assert "special is a pipe, a device or a socket" in done.stderr, case


def test_a_value_behind_an_equals_sign_counts(folder: Path) -> None:
    """As the value of an option."""
    os.mkfifo(X)
    assert "is a pipe" in invoke("audit", "verify", f"--anchor={X}").stderr


def test_what_is_written_to_may_be_anything(folder: Path) -> None:
    """And so may the words of another program."""
    for words in (
        ["report", "-o", "/dev/stdout"],
        ["report", "--output=/dev/null"],
        ["mcp", "gateway", "--", "server", "/dev/null"],
        ["rules", "suggest", "--write", "/dev/null"],
    ):
        refuse_special_files(words)


@pytest.mark.timeout(280)
def test_folders_and_huge_files_end_in_a_sentence(tmp_path: Path) -> None:
    """In isolation, and in time: a folder, and a file of eight gigabytes."""
    require_isolation()
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "home").mkdir()
    (folder / "folder").mkdir()
    with (folder / "huge").open("wb") as file:
        file.truncate(8 * 1024**3)
    (folder / "hook.py").write_text("")
    readers = [
        ["rules", "check"],
        ["audit", "verify", "log", "--anchor"],
        ["audit", "verify", "log", "--key"],
        ["audit", "verify", "log", "--since"],
        ["audit", "verify"],
        ["hooks", "list", "--bundle"],
        ["hooks", "backtest", "--rules"],
        ["hooks", "test", "hook.py"],
        ["approvals", "list", "--server", "http://127.0.0.1:1", "--token-file"],
        ["approvals", "list", "--store"],
        ["modules", "validate"],
    ]
    (folder / "log").mkdir()
    done = run_all(tmp_path, [[*words, name] for words in readers for name in ("folder", "huge")])
    for one in done:
        assert one["code"] not in (None, 0), one
        assert "bug" not in one["output"], one
        assert "MemoryError" not in one["output"], one


@pytest.mark.parametrize("kind", KINDS)
def test_the_reader_of_the_trail_refuses_all_of_them(kind: str, folder: Path) -> None:
    """`python -m amplifier_audit` has no other guard."""
    KINDS[kind](Path(X))
    with pytest.raises(OSError, match=r"ordinary|No such device|Permission|configured"):
        read_regular(Path(X), 100)


def test_the_reader_of_the_trail_has_a_limit(folder: Path) -> None:
    """It is looked at before anything is read."""
    Path("file").write_bytes(b"x" * 101)
    assert read_regular(Path("file"), 101) == b"x" * 101
    with pytest.raises(NotAFile, match="101 bytes, and may have 100"):
        read_regular(Path("file"), 100)
    with pytest.raises(IsADirectoryError):
        read_regular(Path(), 100)
