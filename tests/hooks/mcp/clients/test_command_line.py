"""The command that starts the gateway, and reading it back."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_hooks.mcp.clients.command_line import (
    Gateway,
    Line,
    find_python,
    is_our_python,
    is_our_script,
    make_gateway,
    read_line,
    read_own_line,
)

GATEWAY = Gateway(Path("/opt/python"), Path("/b c.yaml"), "ask")
SCRIPT, PYTHON = str(Path(sys.executable).with_name("amplifier")), sys.executable
MODULE = "amplifier_hooks.cli.main"
MEMO = {"stdio": "", "args": "", "passed": "3"}


def test_a_command_is_read_back() -> None:
    """What was in the entry, the bundle, and the server with its own dashes."""
    command, *args = GATEWAY.build("my server", MEMO, ["--", "npx", "-y", "--", "--name", ""])
    line = read_line(command, args)
    assert line is not None
    assert (line.program, line.bundle, line.memo) == (str(GATEWAY.python), GATEWAY.bundle, MEMO)
    assert line.server == ("npx", "-y", "--", "--name", "")
    assert args[args.index("--name") + 1].startswith("my-server-")


def test_an_address_is_read_back() -> None:
    """With the variables of its headers, and the word before one."""
    words = ["--http", "https://x/mcp", "--header-env", "A=B", "--header-env", "C=D"]
    command, *args = GATEWAY.build("x", {"http": ""}, [*words, "--header-env", "E=Bearer T"])
    line = read_line(command, args)
    assert line is not None
    assert (line.url, line.variable) == ("https://x/mcp", "")
    assert line.headers == (("A", "B"), ("C", "D"), ("E", "Bearer T"))


@pytest.mark.parametrize(
    "change",
    [
        lambda args: [],
        lambda args: args[1:],
        lambda args: [*args[:2], "other=1", *args[3:]],
        lambda args: [*args[:2], "amplifier-mcp=a b", *args[3:]],
        lambda args: [*args[:4], "json", *args[5:]],
        lambda args: [*args[:7], "--verbose", *args[7:]],
        lambda args: [*args[:7], "--name", "x"],
        lambda args: [*args[:7], "--listen", "1", "--", "x"],
        lambda args: [*args[:7], "--http", "u", "--", "x"],
        lambda args: [*args[:7], "--http", "u", "--http-env", "V"],
        lambda args: [*args[:7], "--name=x", "--name=y", "--", "x"],
        lambda args: [*args, 1],
    ],
)
def test_what_somebody_has_changed_is_not_ours(change) -> None:  # type: ignore[no-untyped-def]
    """Nothing is made of it, so that nothing is lost."""
    command, *args = GATEWAY.build("x", MEMO, ["--", "npx"])
    assert read_line(command, change(args)) is None
    assert read_line(None, args) is None
    assert read_line(command, "args") is None


def test_a_gateway_that_a_person_has_written_is_read() -> None:
    """As the program itself reads it: a value may be joined to its option, the last one counts."""
    words = ["--bundle", "a.yaml", "--name=x", "--bundle=b.yaml", "--folder", "/p"]
    line = _read(SCRIPT, "mcp", "gateway", *words, "--", "npx", "--bundle", "c.yaml")
    assert line is not None
    assert (line.bundle, line.folder, line.unknown) == (Path("b.yaml"), Path("/p"), "")
    assert line.server == ("npx", "--bundle", "c.yaml")
    line = _read(SCRIPT, "mcp", "gateway", "--http-env", "V", "--header-env", "A=B")
    assert line is not None
    assert (line.variable, line.headers) == ("V", (("A", "B"),))


@pytest.mark.parametrize("word", ["npx", "--listen", "${X}", "--bundl=x", "--bundle", "", "-h"])
def test_a_word_that_is_new_to_us_is_named(word: str) -> None:
    """Whatever stands behind it may be an option that we would not see."""
    line = _read(SCRIPT, "mcp", "gateway", word)
    assert line is not None
    assert line.unknown == (word or "''")


@pytest.mark.parametrize(
    "words",
    [
        [SCRIPT, "mcp", "server"],
        [SCRIPT, "--version", "mcp", "gateway", "--", "x"],
        ["./amplifier", "mcp", "gateway", "--", "x"],
        ["/bin/sh", "mcp", "gateway", "--", "x"],
        ["/bin/sh", "-I", "-m", MODULE, "mcp", "gateway", "--", "x"],
        ["/usr/bin/env", SCRIPT, "mcp", "gateway", "--", "x"],
        ["/bin/sh", "-c", f"{SCRIPT} mcp gateway -- x"],
        [PYTHON, "-m", MODULE, "mcp", "gateway", "--", "x"],
        [PYTHON, "-I", "-m", "other", "mcp", "gateway", "--", "x"],
        [PYTHON, "-I", "-m", "other", "-m", MODULE, "mcp", "gateway", "--", "x"],
        [PYTHON, "-m", MODULE, "-I", "-m", MODULE, "mcp", "gateway", "--", "x"],
        [PYTHON, "-I", "x.py", "-m", MODULE, "mcp", "gateway", "--", "x"],
        [PYTHON, "-I", "-c", "1", "-m", MODULE, "mcp", "gateway", "--", "x"],
        [PYTHON, "-I", "-cpass", "-m", MODULE, "mcp", "gateway", "--", "x"],
        [PYTHON, "-I", "-X", "pycache_prefix=/tmp/x", "-m", MODULE, "mcp", "gateway", "--", "x"],
        [PYTHON, "-I", "-W", "ignore::a.B", "-m", MODULE, "mcp", "gateway", "--", "x"],
        [PYTHON, "-I", "-m"],
        [PYTHON, "-I", "-X"],
        [PYTHON],
    ],
)
def test_what_may_run_other_code_is_no_gateway(words: list[str]) -> None:
    """Another program, other options of the interpreter, a wrapper, or no isolation."""
    assert _read(*words) is None


def test_an_isolated_interpreter_of_ours_is_one() -> None:
    """With options that lead to no other code, and as we write it."""
    assert _read(PYTHON, "-B", "-I", "-u", "-m", MODULE, "mcp", "gateway", "--", "x") is not None
    assert _read(*make_gateway(None).build("x", MEMO, ["--", "npx"])) is not None
    assert _read(*GATEWAY.build("x", MEMO, ["--", "npx"])) is None
    assert read_own_line(SCRIPT, "mcp gateway") is None
    assert read_own_line(None, ["mcp", "gateway"]) is None


def test_the_command_starts_this_installation_from_anywhere(tmp_path: Path) -> None:
    """Not what a folder or a variable puts in its place."""
    (tmp_path / "amplifier_hooks.py").write_text("raise SystemExit('from the folder')")
    command, *args = make_gateway(None).build("x", MEMO, [])
    assert Path(command).parent == Path(sys.executable).parent
    done = subprocess.run(
        [command, *args[: args.index("--name")], "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Stand between an MCP client and a server" in done.stdout


def _read(*words: str) -> Line | None:
    return read_own_line(words[0], list(words[1:]))


FOLDER = Path(sys.executable).parent
PROGRAM_SCRIPT = FOLDER / "amplifier"


def test_our_programs_are_known_by_their_whole_path() -> None:
    """Under any name that an interpreter has there."""
    assert is_our_script(str(PROGRAM_SCRIPT))
    assert is_our_script(str(FOLDER / "amplifier-hooks"))
    assert is_our_python(str(find_python()))
    assert is_our_python(sys.executable)
    assert not is_our_python(str(PROGRAM_SCRIPT))
    assert not is_our_script(sys.executable)


def test_a_link_to_our_script_is_our_script(tmp_path: Path) -> None:
    """So installers put it on the PATH. A link to the interpreter would find other packages."""
    (tmp_path / "amp").symlink_to(PROGRAM_SCRIPT)
    (tmp_path / "python3").symlink_to(sys.executable)
    (tmp_path / "environment").symlink_to(FOLDER)
    assert is_our_script(str(tmp_path / "amp"))
    assert not is_our_python(str(tmp_path / "python3"))
    assert is_our_python(str(tmp_path / "environment" / Path(sys.executable).name))


def test_another_program_of_the_same_name_is_not_ours(tmp_path: Path) -> None:
    """Not even a copy: it may be changed at any time."""
    shutil.copy(PROGRAM_SCRIPT, tmp_path / "amplifier")
    for command in (tmp_path / "amplifier", "/bin/sh", "/nowhere/amplifier", FOLDER):
        assert not is_our_script(str(command))
        assert not is_our_python(str(command))


def test_a_path_that_means_something_else_elsewhere_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client does not work where we look."""
    monkeypatch.chdir(FOLDER)
    (tmp_path / "link").symlink_to("/usr/lib")
    for command in ("./amplifier", "../bin/amplifier", f"{FOLDER}/../bin/amplifier", "~/amplifier"):
        assert not is_our_script(command)
    for command in ("", " ", "/", "amplifier.exe", r"C:\bin\amplifier", f"{SCRIPT} "):
        assert not is_our_script(command)
        assert not is_our_python(command)


def test_a_name_is_what_the_path_finds_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder on it that is another one in each project spoils that."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{FOLDER}")
    assert is_our_script("amplifier")
    assert not is_our_script("Amplifier")
    for first in (".", "", "node_modules/.bin"):
        monkeypatch.setenv("PATH", f"{first}:{FOLDER}")
        assert not is_our_script("amplifier")
    monkeypatch.setenv("PATH", f"{tmp_path}:{FOLDER}")
    (tmp_path / "amplifier").touch(0o755)
    assert not is_our_script("amplifier")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert not is_our_script("amplifier")
