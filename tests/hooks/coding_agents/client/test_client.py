"""The command that coding agents call."""

from __future__ import annotations

import json
import os
import posix
import signal
import subprocess
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.client import client
from tests.support.guests import (
    CLIENT,
    PYTHON,
    assert_refused,
    build_command,
    call_client,
    serve_script,
)

NOBODY = 65534


def test_an_event_is_handed_over_and_the_answer_printed(warm: Path, tmp_path: Path) -> None:
    """The payload goes over unchanged, with the folder, the mark and the words of the command."""
    command = build_command(warm, "copilot", "preToolUse", "50", "a\tb%0A\nc")
    done = subprocess.run(
        command,
        input=b"not even JSON\n",
        capture_output=True,
        cwd=tmp_path,
        env={"COPILOT_CLI": "1"},
        check=True,
    )
    answer = json.loads(done.stdout)
    answer.pop("pid")
    assert answer == {
        "agent": "copilot",
        "event": "preToolUse",
        "size": 14,
        "cwd": str(tmp_path),
        "bundle": "a\tb%0A\nc",
        "marks": ["COPILOT_CLI"],
    }
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("entrypoint", "marks"), [("sdk-cli", ["HEADLESS"]), ("cli", []), ("sdk-py", [])]
)
def test_the_judge_is_told_where_nobody_sees_the_agent(
    warm: Path, entrypoint: str, marks: list[str]
) -> None:
    """`claude -p` says so in the environment of its hooks."""
    command = build_command(warm, "claude", "PreToolUse", "50")
    env = {"CLAUDE_CODE_ENTRYPOINT": entrypoint}
    done = subprocess.run(command, input=b"{}", capture_output=True, env=env, check=True)
    assert json.loads(done.stdout)["marks"] == marks


def test_large_events_and_large_answers_pass(warm: Path) -> None:
    """Ten million bytes in either direction arrive whole."""
    given = json.dumps({"size": 10_000_000, "filler": "y" * 10_000_000}).encode()
    done = call_client(warm, given)
    assert done.stdout == b"x" * 10_000_000


def test_it_imports_next_to_nothing() -> None:
    """Beside what every interpreter has loaded, there is the client and the socket module."""
    show = "import sys; print(*sorted(sys.modules))"
    bare = subprocess.run([PYTHON, "-I", "-S", "-c", show], capture_output=True, check=True)
    code = f"import runpy_; {show}".replace(
        "import runpy_", f"__name__ = 'x'; exec(compile(open({CLIENT!r}).read(), 'c', 'exec'))"
    )
    used = subprocess.run([PYTHON, "-I", "-S", "-c", code], capture_output=True, check=True)
    assert set(used.stdout.split()) - set(bare.stdout.split()) == {b"_socket"}
    assert version("amplifier-hooks") == client.VERSION  # a process of another one is replaced


@pytest.mark.parametrize(
    ("text", "limit"),
    [("0.5", 0.5), ("90", 50), ("soon", 50), ("0", 50), ("-3", 50), ("nan", 50), ("", 50)],
)
def test_the_environment_can_only_shorten_the_time(
    monkeypatch: pytest.MonkeyPatch, text: str, limit: float
) -> None:
    """Fewer seconds hold, more do not, and nonsense changes nothing."""
    monkeypatch.setitem(posix.environ, b"AMPLIFIER_GUEST_SECONDS", text.encode())
    assert client._read_limit(b"50") == limit
    for seconds in (b"", b"soon", b"0", b"-1", b"inf", b"nan", b"1e9"):  # no deadline at all
        with pytest.raises(ValueError):
            client._read_limit(seconds)


def test_a_judgement_that_takes_too_long_is_refused(warm: Path) -> None:
    """The resident process says so before the deadline of the client."""
    late = call_client(warm, {"sleep": 20}, env={"AMPLIFIER_GUEST_SECONDS": "0.4"})
    assert_refused(late, "not judged", "within 0.")


def test_an_input_that_stays_open_is_not_waited_for_longer_than_the_deadline(warm: Path) -> None:
    """An agent may leave the pipe open: the deadline is over everything."""
    command = build_command(warm, "claude", "PreToolUse", "0.3")
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.wait(60) == 2
        assert child.stderr.read() == b"amplifier: no answer within 0.3 seconds\n"
        assert child.stdout.read() == b""


def test_a_server_that_never_answers_is_given_up(folder: Path) -> None:
    """The deadline is the client's own."""
    with serve_script(folder, None):
        assert_refused(call_client(folder, seconds=0.2), "no answer within 0.2 seconds")


@pytest.mark.parametrize("answer", [b"{}", b"\n0 2 0\n{", b"..\n256 0 0\n"])
def test_rubbish_is_no_answer(folder: Path, answer: bytes) -> None:
    """Nothing of an answer that is not whole is printed."""
    with serve_script(folder, answer, b"", answer):  # the second is who looks whether it is there
        done = call_client(folder)
    assert_refused(done, "answer")
    for received in (b"\n0 2 0\n{}x", b"\n0 2\n{}", b"\n-1 0 0\n", b"x\n0 0 0\n", b"\n0 0 0"):
        with pytest.raises(ValueError, match="answer"):
            client.read_answer(received)


def test_heartbeats_are_not_part_of_the_answer(folder: Path) -> None:
    """The dots before an answer are left out."""
    with serve_script(folder, b".....\n3 4 6\nsaid\nfacts"):
        done = call_client(folder)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"said", b"\nfacts")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_the_process_of_another_user_is_not_asked(folder: Path) -> None:
    """A socket in our own folder whose process is somebody else's does not get the event."""
    code = (
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]);"
        f"os.setgid({NOBODY}); os.setuid({NOBODY}); s.listen(); print('up', flush=True);"
        "c = s.accept()[0]; print(len(c.recv(9)), flush=True)"
    )
    with subprocess.Popen(
        [PYTHON, "-I", "-c", code, str(folder / "guest.sock")], stdout=subprocess.PIPE
    ) as fake:
        assert fake.stdout.readline() == b"up\n"
        assert_refused(call_client(folder), str(NOBODY))
        assert fake.stdout.read() == b"0\n"


def test_an_agent_that_reads_no_answer_is_told_with_the_exit_code(warm: Path) -> None:
    """With its output closed the answer is lost, so the call was not judged."""
    read, write = os.pipe()
    os.close(read)
    command = build_command(warm, "claude", "PreToolUse", "50")
    done = subprocess.run(command, input=b"{}", stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.returncode == 2
    assert done.stderr == b"amplifier: the answer cannot be written: Broken pipe\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_without_a_word(warm: Path, number: signal.Signals) -> None:
    """The shell line sees that there was no answer; nobody needs a traceback."""
    with subprocess.Popen(
        build_command(warm, "claude", "PreToolUse", "50"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        _wait_until_it_reads(child.pid)
        child.send_signal(number)
        assert child.wait(60) == -number
        assert (child.stdout.read(), child.stderr.read()) == (b"", b"")


def _wait_until_it_reads(pid: int) -> None:
    """Its handlers are in place when it sleeps in a read of its input, which is a pipe."""
    limit = time.monotonic() + 50
    while time.monotonic() < limit:
        words = Path(f"/proc/{pid}/syscall").read_text().split()
        if words[:2] == ["0", "0x0"]:
            return
        time.sleep(0.005)
    raise AssertionError("it does not read")


def test_only_a_private_folder_of_the_caller_is_used(folder: Path, tmp_path: Path) -> None:
    """Whoever can put a socket there, or exchange a link to it, could choose the judge."""
    assert_refused(call_client(tmp_path / "gone"), "No such file", "install the guard again")
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert_refused(call_client(link), "0700")
    folder.chmod(0o750)
    assert_refused(call_client(folder), str(folder), "0700")
    folder.chmod(0o700)
    if os.geteuid() == 0:  # not even root takes the answer of another user's process
        os.chown(folder, NOBODY, NOBODY)
        assert_refused(call_client(folder), "folder of yours")
