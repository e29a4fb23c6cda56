"""amplifier approvals: what agents ask, answered from any shell."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

import pytest

from amplifier_hooks.approvals.models import Requirement
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.cli import person
from amplifier_hooks.cli.commands.approvals import probe_bundle, probe_people
from amplifier_hooks.sandbox.landlock import query_abi
from tests.hooks.cli.commands.approvals.asked import list_all, put, read
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import PROGRAM, invoke, run_amplifier, run_at_terminal
from tests.support.http_server import receiver
from tests.support.sessions import calls


async def test_a_bundle_that_asks_at_the_terminal_needs_no_look() -> None:
    """Nothing is opened."""
    assert await probe_people({}) == []


async def test_a_store_that_opens_is_well_and_says_what_waits(tmp_path: Path) -> None:
    """One that does not says why."""
    section = {"via": "store", "store": str(tmp_path / "store.db")}
    assert await probe_people(section) == [("store", True, "answers; 0 approvals wait")]
    (tmp_path / "file").write_text("")
    broken = await probe_people({**section, "store": str(tmp_path / "file" / "store.db")})
    ((name, works, detail),) = broken
    assert (name, works) == ("store", False)
    assert detail


async def test_the_store_that_the_environment_names_is_looked_at_too(tmp_path: Path) -> None:
    """Commands use it here, whatever the bundle says."""
    store = str(tmp_path / "store.db")
    well = ("AMPLIFIER_STORE", True, "answers; 0 approvals wait")
    assert await probe_people({}, store) == [well]
    ((_, works, detail),) = await probe_people({}, "postgresql://me:secret@127.0.0.1:1/none")
    assert not works
    assert "secret" not in detail


async def test_a_server_that_nobody_runs_is_broken_without_the_token_in_any_word() -> None:
    """Neither the address's secrets nor the token are printed."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        section = {"via": "server", "server": f"http://127.0.0.1:{taken.getsockname()[1]}"}
        ((name, works, detail),) = await probe_people({**section, "token": "t0ken-t0ken"})
    assert (name, works) == ("server", False)
    assert "t0ken" not in detail


async def test_something_that_is_not_our_server_is_broken() -> None:
    """An answer is not enough."""
    with receiver() as server:
        section = {"via": "server", "server": server.url, "token": "t0ken-t0ken"}
        ((_, works, _),) = await probe_people(section)
    assert not works


def test_the_bundle_in_use_is_looked_at(project: Project, home: Path) -> None:
    """By doctor, in a section of its own; one that cannot be read is told of once."""
    project(approval={"via": "store", "store": str(home / "team.db")})
    assert probe_bundle() == [("store", True, "answers; 0 approvals wait")]
    assert "Approval" in invoke("doctor").stdout
    (home / "amplifier.yaml").write_text("approval: {via: 3}")
    assert probe_bundle() == []


WALLED = pytest.mark.skipif(query_abi() < 1, reason="THIS KERNEL HAS NO LANDLOCK")
GATE = {
    "name": "gate",
    "event": "tool:pre",
    "tool": ["Write", "Bash"],
    "action": "ask_user",
    "approval_prompt": "Really do it?",
    "approval_options": ["Allow once", "Allow always", "Deny"],
}


@pytest.fixture(autouse=True)
def _own_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AMPLIFIER_STORE", "AMPLIFIER_SERVER", "AMPLIFIER_TOKEN", "AMPLIFIER_COMMAND_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(person, "has_terminal", lambda: True)


def make_bundle(project: Project, via: Any, *script: dict[str, Any], **more: Any) -> None:
    """A session whose model plays the script, and asks about what it writes and runs."""
    gate = {"module": "hooks-rules", "config": {"rules": [GATE]}}
    hooks = [gate] if more.pop("gated", True) else []
    session = {"orchestrator": "loop-basic", "context": "context-simple"}
    tools = ["tool-filesystem", *more.pop("tools", [])]
    audit = more.pop("audit", {})
    approval = {"via": via, **more}
    project(
        *script,
        inherit=False,
        session=session,
        tools=tools,
        hooks=hooks,
        approval=approval,
        audit=audit,
    )


# Looking


def test_without_a_question_the_list_says_so() -> None:
    """A sentence, not an empty page."""
    assert invoke("approvals", "list").stdout == "Nothing waits for a person.\n"
    assert invoke("approvals", "rules").stdout == "There are no standing rules.\n"


def test_the_list_has_what_waits_and_with_all_what_is_over() -> None:
    """One line each, with the id to use."""
    first, second = put(prompt="First?"), put(prompt="Second?")
    invoke("approvals", "deny", first.id, "--yes")
    listed = invoke("approvals", "list").stdout
    assert second.id[:8] in listed
    assert "First?" not in listed
    assert "denied, 'Deny' by " in invoke("approvals", "list", "--all").stdout
    rows = [json.loads(row) for row in invoke("approvals", "list", "--json").stdout.splitlines()]
    assert [row["id"] for row in rows] == [second.id]


def test_everything_is_shown_and_nothing_can_act_on_the_terminal() -> None:
    """The whole input, the difference, the notes; escapes are written out."""
    asked = put(
        prompt="Write\x1b[2K it?",
        tool_input={"command": "rm -rf /tmp/x\x1b]0;y\x07", "why": "because"},
        preview="--- a\n+++ a\n-old\n+new\n",
        notes=("This path leads to /etc",),
        requirement=Requirement(persons=2, requester_may_approve=False, scope="release"),
    )
    shown = invoke("approvals", "show", asked.id[:6]).stdout
    for text in ("rm -rf /tmp/x", '"why": "because"', "+new", "leads to /etc", "2 people"):
        assert text in shown
    assert "not agent-1; the scope release" in shown
    assert "\x1b" not in shown
    assert json.loads(invoke("approvals", "show", asked.id, "--json").stdout)["id"] == asked.id


def test_an_id_that_fits_none_or_several_is_said() -> None:
    """With what would do."""
    assert "no approval whose id begins with 'zz'" in invoke("approvals", "show", "zz").stderr
    for _ in range(20):
        put()
    starts = [one.id[0] for one in list_all()]
    twice = next(start for start in starts if starts.count(start) > 1)
    done = invoke("approvals", "show", twice)
    assert done.code == 1
    assert "write more of it" in done.stderr


# Deciding


def test_allow_and_deny_decide_for_who_runs_the_command() -> None:
    """By the plain option for this once, or the one that is named."""
    asked = put()
    done = invoke("approvals", "allow", asked.id, "--yes", "--comment", "go on")
    assert done.code == 0
    assert "new" in done.stdout  # the input, before the decision
    found = read(asked)
    assert (found.status, found.option, found.decided_via) == ("approved", "Allow once", "cli")
    assert found.comment == "go on"
    other = put()
    assert invoke("approvals", "allow", other.id, "--yes", "--option", "Allow always").code == 0
    assert read(other).option == "Allow always"
    third = put()
    wrong = invoke("approvals", "deny", third.id, "--yes", "--option", "Allow once")
    assert wrong.code == 1
    assert "No option 'Allow once' that refuses" in wrong.stderr
    assert read(third).status == "pending"


def test_without_a_terminal_it_must_be_said_that_nobody_is_asked_again() -> None:
    """A script that decides says so."""
    asked = put()
    done = invoke("approvals", "allow", asked.id)
    assert done.code == 2
    assert "--yes" in done.stderr
    assert read(asked).status == "pending"


def test_who_comes_second_is_told_who_was_first() -> None:
    """And the exit code says that nothing was decided."""
    asked = put()
    invoke("approvals", "deny", asked.id, "--yes")
    done = invoke("approvals", "allow", asked.id, "--yes")
    assert done.code == 1
    assert "decided already: denied, 'Deny' by" in done.stderr


def test_an_agents_own_command_cannot_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a tool has started has a mark; people have terminals of their own."""
    asked = put()
    monkeypatch.setenv("AMPLIFIER_COMMAND_ID", "/abc")
    for word in ("allow", "deny"):
        done = invoke("approvals", word, asked.id, "--yes")
        assert done.code == 1
        assert "an agent cannot decide about itself" in done.stderr
    assert "started by an agent" in invoke("approvals", "revoke", "x").stderr
    assert read(asked).status == "pending"


def test_at_a_terminal_the_person_confirms_what_was_shown() -> None:
    """No is no decision."""
    asked = put()
    with run_at_terminal("approvals", "allow", asked.id) as program:
        program.wait_for("Write to production?", "Answer 'Allow once'?")
        program.press("n\r")
        assert program.wait_end() != 0
    assert read(asked).status == "pending"


# Rules


def test_an_always_is_kept_as_a_rule_and_taken_back() -> None:
    """In the words that were shown before."""
    asked = put()
    wrong = invoke("approvals", "allow", asked.id, "--yes", "--always", "everything")
    assert "No scope 'everything'; have exact, below:" in wrong.stderr
    done = invoke("approvals", "allow", asked.id, "--yes", "--always", "exact", "--uses", "3")
    assert "Without asking again: Allow Write with exactly this input" in done.stdout
    assert "for 30 days, 3 times at most" in done.stdout
    listed = invoke("approvals", "rules").stdout
    rule = json.loads(invoke("approvals", "rules", "--json").stdout)
    assert rule["id"][:8] in listed
    assert "used 0×, 3 left" in listed
    assert invoke("approvals", "revoke", rule["id"][:6]).code == 0
    assert invoke("approvals", "rules").stdout == "There are no standing rules.\n"
    assert "revoked by" in invoke("approvals", "rules", "--all").stdout


# Real processes


@contextmanager
def run_headless(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A run without a terminal, in a process of its own."""
    running = subprocess.Popen(
        [*PROGRAM, "run", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def test_a_headless_run_waits_for_a_person_in_another_shell(project: Project, home: Path) -> None:
    """Instead of being refused; the run says where the answer is waited for."""
    make_bundle(project, "store", calls("Write", file_path="a.txt", content="hi\n"), {"text": "ok"})
    with run_headless("go") as running:
        shown = json.loads(_wait_for_row())
        assert not (home / "a.txt").exists()
        refused = run_amplifier("approvals", "allow", shown["id"][:8], "--yes")
        assert refused.code == 1
        assert "needs the terminal of a person" in refused.stderr
        with run_at_terminal("approvals", "allow", shown["id"][:8], "--yes") as deciding:
            assert deciding.wait_end() == 0
        out, err = running.communicate(timeout=50)
    assert (running.returncode, (home / "a.txt").read_text()) == (0, "hi\n")
    assert "ok" in out
    assert f"Waiting for an answer elsewhere: amplifier approvals show {shown['id'][:8]}" in err
    assert [one.status for one in list_all()] == ["executed"]


def test_an_agent_that_was_killed_while_it_waited_finds_the_answer_when_it_is_resumed(
    project: Project, home: Path
) -> None:
    """It is used once: what the model asks next is a question of its own."""
    write = calls("Write", file_path="a.txt", content="hi\n")
    make_bundle(project, "store", write, {"text": "ok"}, audit={"enabled": True})
    with run_headless("go") as running:
        first = json.loads(_wait_for_row())
        running.kill()
    assert invoke("approvals", "allow", first["id"], "--yes").code == 0
    assert not (home / "a.txt").exists()
    with run_headless("--resume", first["request"]["session_id"]) as resumed:
        second = json.loads(_wait_for_row())  # the script of the model begins anew
        assert (home / "a.txt").read_text() == "hi\n"
        assert invoke("approvals", "deny", second["id"], "--yes").code == 0
        resumed.communicate(timeout=50)
    assert second["id"] != first["id"]
    assert [one.status for one in list_all()] == ["executed", "denied"]


def _wait_for_row() -> str:
    """The first line that `watch` prints about an approval."""
    with subprocess.Popen(
        [*PROGRAM, "approvals", "watch", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as watching:
        assert watching.stdout is not None
        try:
            assert select([watching.stdout], [], [], 40)[0], "nothing waits"
            return watching.stdout.readline()
        finally:
            watching.kill()


BOTH = ["terminal", "store"]


def test_an_answer_from_another_shell_closes_the_question_at_the_terminal(
    project: Project, home: Path
) -> None:
    """The screen says who answered, and is as usable as before."""
    make_bundle(project, BOTH, calls("Write", file_path="a.txt", content="hi\n"), {"text": "Done."})
    with run_at_terminal("run", "go") as program:
        program.wait_for_question("Really do it?")
        (asked,) = list_all()
        assert invoke("approvals", "allow", asked.id, "--yes").code == 0
        lines = program.wait_for("Answered by", "with `amplifier approvals`: Allow once", "Done.")
        assert program.wait_end() == 0
    assert not any("Esc refuse" in line for line in lines)
    assert (home / "a.txt").read_text() == "hi\n"
    # The question is taken off the screen, and the cursor is shown again.
    assert program.raw.rfind(b"\x1b[?25h") > program.raw.rfind(b"\x1b[?25l")
    assert [one.status for one in list_all()] == ["executed"]


def test_an_answer_at_the_terminal_closes_the_question_elsewhere(
    project: Project, home: Path
) -> None:
    """Whoever comes later is told who answered."""
    make_bundle(project, BOTH, calls("Write", file_path="a.txt", content="hi\n"), {"text": "Done."})
    with run_at_terminal("run", "go") as program:
        program.wait_for_question("Really do it?")
        program.press("1")
        program.press("\r")
        program.wait_for("Done.")
        assert program.wait_end() == 0
    (asked,) = list_all()
    assert (asked.status, asked.decided_via, asked.option) == (
        "cancelled",
        "terminal",
        "Allow once",
    )
    assert (home / "a.txt").exists()
    done = invoke("approvals", "deny", asked.id, "--yes")
    assert done.code == 1
    assert "'Allow once' by" in done.stderr


@WALLED
def test_no_tool_of_the_agent_reaches_the_store(project: Project, home: Path) -> None:
    """Neither file tools nor commands: not to read it, not to write it, not to decide."""
    asked = put(prompt="Wait for me?")
    store = home / "data" / "amplifier" / "store" / "store.db"
    decide = f"{' '.join(PROGRAM)} approvals allow {asked.id} --yes"
    script = [
        calls("Read", file_path=str(store)),
        calls("Write", file_path=str(store), content="x"),
        calls("Bash", command=f"head -c 15 {store}; echo x >> {store}; {decide}"),
        calls("Bash", command=f"unset AMPLIFIER_COMMAND_ID; {decide}"),
        {"text": "ok"},
    ]
    make_bundle(project, "terminal", *script, tools=["tool-bash"], gated=False)
    size = store.stat().st_size
    done = run_amplifier("run", "--verbose", "go")
    assert done.code == 0, done.output
    assert "records and keys of this program" in done.output
    assert "an agent cannot decide about itself" in done.output
    assert "SQLite format" not in done.output
    assert "✓ Allow once" not in done.output
    assert (read(asked).status, store.stat().st_size) == ("pending", size)


@WALLED
def test_a_store_of_the_bundle_in_the_project_is_out_of_reach_as_well(
    project: Project, home: Path
) -> None:
    """Also where commands may write everything around it."""
    store = home / "team.db"
    attempt = f"echo x > {store}; rm -f {store} {store}-wal; head -c 15 {store}"
    script = [calls("Bash", command=attempt), {"text": "ok"}]
    make_bundle(project, "store", *script, tools=["tool-bash"], gated=False, store=str(store))
    done = run_amplifier("run", "--verbose", "go")
    assert done.code == 0, done.output
    assert store.read_bytes().startswith(b"SQLite format 3")
    assert "SQLite format" not in done.output
    assert asyncio.run(_list_sessions(store)) == ["ended"]


async def _list_sessions(path: Path) -> list[str]:
    async with await open_store(path) as store:
        return [one.status for one in (await store.sessions.list())[0]]
