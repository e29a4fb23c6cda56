"""A played agent."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.dialect import Reply
from amplifier_hooks.coding_agents.dialects.reading import read_payload
from amplifier_hooks.coding_agents.installing.agents import AGENTS
from amplifier_hooks.coding_agents.self_test.host import (
    LIMIT,
    Answer,
    CommandShot,
    Event,
    Host,
    HttpShot,
)
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.self_test.guarded import make_entry

ENV = {"PATH": "/usr/bin:/bin", "GIVEN": "yes"}


def shoot(line: str, folder: Path, payload: bytes = b"payload") -> CommandShot:
    """Start a line with a payload."""
    return CommandShot(line, payload, ENV, folder)


def test_the_line_gets_what_the_agent_gives_it(tmp_path: Path) -> None:
    """The payload, the environment, the folder; and its answer comes back."""
    reply = shoot("cat; echo $GIVEN; pwd >&2; exit 3", tmp_path).wait(30)
    assert (reply.code, reply.stdout) == (3, "payloadyes\n")
    assert reply.stderr == f"{tmp_path}\n"


def test_a_command_that_reads_nothing_is_no_error(tmp_path: Path) -> None:
    """It may have ended before everything was written."""
    assert shoot("exit 0", tmp_path, b"x" * 10_000_000).wait(30).code == 0


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    """With everything that it has started."""
    began = time.monotonic()
    reply = shoot("sleep 100 | cat", tmp_path).wait(0.05)
    assert reply.timed_out
    assert time.monotonic() - began < 50


def test_the_command_is_killed_and_not_the_shell(tmp_path: Path) -> None:
    """What stands behind `||` still happens."""
    shot = shoot("/bin/sh -c 'echo started > up; exec sleep 100' || echo closed", tmp_path)
    wait_for(tmp_path / "up")
    shot.kill_client()
    assert shot.wait(30).stdout == "closed\n"


def test_a_shell_that_became_the_command_is_killed(tmp_path: Path) -> None:
    """There is nothing behind it."""
    shot = shoot("exec /bin/sh -c 'echo started > up; read never < /dev/zero'", tmp_path)
    wait_for(tmp_path / "up")
    shot.kill_client()
    assert shot.wait(30).code == -9


def wait_for(path: Path) -> None:
    """Return when a file is there."""
    limit = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < limit
        time.sleep(0.01)


class Answering(BaseHTTPRequestHandler):
    """Answers by its path: /500 with that, /hang never, others with what they were given."""

    release = threading.Event()

    def do_POST(self) -> None:
        """Obey the path."""
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/hang":
            self.release.wait(60)
        self.send_response(500 if self.path == "/500" else 200)
        self.end_headers()
        self.wfile.write(self.headers.get("x-token", "").encode() + body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """Of a server that answers."""
    Answering.release.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        Answering.release.set()
        server.shutdown()
        thread.join()


def test_the_body_of_the_answer_is_the_answer(url: str) -> None:
    """Sent with the headers of the entry."""
    reply = HttpShot(f"{url}/claude/Stop", b"{}", {"x-token": "t"}).wait(30)
    assert (reply.failure, reply.stdout) == (None, "t{}")


def test_another_status_is_a_failure(url: str) -> None:
    """As the agent takes it."""
    assert "status 500" in str(HttpShot(f"{url}/500", b"{}", {}).wait(30).failure)


def test_no_server_is_a_failure(url: str) -> None:
    """It is said where none was."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as free:
        port = free.server_port
    shot = HttpShot(f"http://127.0.0.1:{port}/", b"", {})
    shot.kill_client()  # there is none: nothing happens
    assert f":{port}/" in str(shot.wait(30).failure)


def test_silence_is_a_time_out(url: str) -> None:
    """The agent does not wait for ever."""
    reply = HttpShot(f"{url}/hang", b"{}", {}).wait(0.05)
    Answering.release.set()
    assert reply.timed_out


GIVEN = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def make(agent: str, event: str, folder: Path, command: str) -> tuple[Host, Event]:
    """A host with this command at one event, and such an event."""
    empty = Host(agent, {}, "session", folder)
    found = empty.find_row(event)
    assert found is not None
    assert empty.make_event(event, **GIVEN) is None
    host = Host(agent, {found[0]: make_entry(agent, found[0], command)}, "session", folder)
    fired = host.make_event(event, **GIVEN)
    assert fired is not None
    return host, fired


@pytest.mark.parametrize("agent", AGENTS)
def test_its_events_are_those_of_the_agent(agent: str, tmp_path: Path) -> None:
    """What it writes is read back as what it is."""
    host, event = make(agent, events.TOOL_PRE, tmp_path, "true")
    read = read_payload(DIALECTS[agent], event.entry.native, host.build_payload(event))
    assert (read.event, read.session_id, read.cwd) == (events.TOOL_PRE, "session", str(tmp_path))
    assert read.data["tool_name"] == "Bash"
    assert read.data["tool_input"] == {"command": "ls"}


def test_two_calls_have_two_ids(tmp_path: Path) -> None:
    """Or what comes after one could be taken for the other."""
    host, first = make("claude", events.TOOL_PRE, tmp_path, "true")
    second = host.make_event(events.TOOL_PRE, **GIVEN)
    assert second is not None
    assert first.call.tool_call_id != second.call.tool_call_id


def test_the_command_has_the_environment_of_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not that of an agent in whose shell the check runs, nor its limit."""
    monkeypatch.setenv(LIMIT, "7")
    monkeypatch.setenv("COPILOT_CLI", "1")
    host, event = make("claude", events.TOOL_PRE, tmp_path, "env >&2")
    told = host.call(event).reply.stderr.splitlines()
    assert "CLAUDECODE=1" in told
    assert not any(one.startswith((LIMIT, "COPILOT_CLI")) for one in told)
    assert f"{LIMIT}=3" in host.call(event, 3).reply.stderr.splitlines()


def test_answers_are_judged_as_the_agent_judges_them(tmp_path: Path) -> None:
    """Exit code 2 without a word blocks in Claude Code, and does nothing in Codex."""
    host, event = make("claude", events.TOOL_PRE, tmp_path, "exit 2")
    assert host.call(event).blocks
    host, event = make("codex", events.TOOL_PRE, tmp_path, "exit 2")
    assert not host.call(event).blocks


def test_a_session_begins_and_ends_where_the_agent_says_so(tmp_path: Path) -> None:
    """Both are told to what is installed there."""
    entries = {
        name: make_entry("claude", name, "cat >> told; echo >> told")
        for name in ("SessionStart", "SessionEnd")
    }
    host = Host("claude", entries, "session", tmp_path)
    host.start_session()
    host.end_session()
    told = [json.loads(one) for one in (tmp_path / "told").read_text().split("\n") if one]
    assert [one["hook_event_name"] for one in told] == ["SessionStart", "SessionEnd"]
    Host("claude", {}, "session", tmp_path).end_session()  # nothing is installed: nothing happens


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Answer(Verdict(decision="deny", reason="a\n b"), Reply(2, "", "c")), "a b"),
        (Answer(Verdict(), Reply(1, "", "oops\n")), "oops"),
        (Answer(Verdict(warnings=("w",)), Reply()), "w"),
        (Answer(Verdict(), Reply(7)), "exit code 7, and not a word"),
    ],
)
def test_what_was_said_is_shown_in_one_line(answer: Answer, text: str) -> None:
    """The reason first, or whatever there is."""
    assert answer.describe() == text
