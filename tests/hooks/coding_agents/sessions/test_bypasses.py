"""Ways in which an agent runs tools past its hooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from amplifier_audit import open_log, read_records
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.coding_agents.daemon.protocol import Request
from amplifier_hooks.coding_agents.sessions.bypasses import find_bare_shell, read_host_arguments
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge
from tests.hooks.coding_agents.sessions.agents import record, start

PROMPT = ("dispatch", "prompt:submit")


@pytest.fixture
async def judge(home: Path) -> AsyncIterator[AgentJudge]:
    """A judge over an empty home."""
    found = AgentJudge()
    yield found
    await found.close()


def write_process(folder: Path, process: int, parent: int, words: list[str], name: str) -> None:
    """As the system shows a process."""
    own = folder / str(process)
    own.mkdir()
    (own / "stat").write_text(f"{process} ({name}) S {parent} 1 1 0 -1\n")
    (own / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))


def test_the_agent_is_the_nearest_process_that_is_no_shell(tmp_path: Path) -> None:
    """Agents run the line by a shell; what started the agent does not matter."""
    write_process(tmp_path, 50, 40, ["python", "-I", "command.py"], "python")
    write_process(tmp_path, 40, 30, ["sh", "-c", "python … || exit 2"], "sh")
    write_process(tmp_path, 30, 20, ["/bin/bash", "-c", "…"], "odd) S 9 (name")
    write_process(tmp_path, 20, 10, ["/usr/bin/node", "gemini.js", "-p", "x"], "node")
    write_process(tmp_path, 10, 1, ["copilot", "--acp"], "copilot")
    assert read_host_arguments(50, tmp_path) == ("/usr/bin/node", "gemini.js", "-p", "x")


def test_what_the_system_does_not_show_is_nothing(tmp_path: Path) -> None:
    """A process in another namespace, one that has gone, a line of shells only."""
    assert read_host_arguments(50, tmp_path) == ()
    write_process(tmp_path, 50, 40, ["python"], "python")
    assert read_host_arguments(50, tmp_path) == ()
    write_process(tmp_path, 40, 1, ["-bash"], "bash")
    assert read_host_arguments(50, tmp_path) == ()


def test_the_real_chain_of_processes_is_read() -> None:
    """From a process behind a shell to the one that runs this test."""
    inner = "import os, time; print(os.getpid(), flush=True); time.sleep(30)"
    shell = f'{sys.executable} -c "{inner}"; true'
    with subprocess.Popen(["/bin/sh", "-c", shell], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        client = int(process.stdout.readline())
        own = Path(f"/proc/{os.getpid()}/cmdline").read_bytes().rstrip(b"\0").decode().split("\0")
        try:
            assert read_host_arguments(client) == tuple(own)
        finally:
            os.kill(client, 9)


@pytest.mark.parametrize(
    ("words", "refused"),
    [(["gemini", "--acp"], True), (["gemini", "-p", "x"], False), ([], False)],
)
async def test_a_prompt_is_refused_where_no_hook_would_be_asked(
    judge: AgentJudge,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    refused: bool,
) -> None:
    """The reason names the mode, for the person and in the trail; other prompts are taken."""
    monkeypatch.setattr(
        "amplifier_hooks.coding_agents.sessions.judge.read_host_arguments",
        lambda client: tuple(words) if client == 77 else (),
    )
    payload = json.dumps(record("gemini", "BeforeAgent", cwd=str(project), session_id="s")).encode()
    response = await judge.answer(Request("gemini", "BeforeAgent", payload, 60.0, client=77))
    assert (b'"deny"' in response.stdout) is refused
    if refused:
        said = json.loads(response.stdout)
        assert "gemini --acp" in said["reason"]
        assert "gemini --acp" in said["systemMessage"]
    await judge.close()
    records = list(read_records(open_log(locate_trail({}, "gemini-s"))))
    judged = [one["body"] for one in records if (one["type"], one.get("event")) == PROMPT]
    assert [one["action"] for one in judged] == ["deny" if refused else "continue"]


BARE = ["bash", "bash -i", "sudo -u x bash", "python3", "python3.11", "ls; python", "bash -l"]
BARE += ["python3 -i a.py", "psql db", "sqlite3 a.db", "env FOO=1 sh", "nohup bash &", "exec bash"]
GIVEN = ["python3 a.py", "python3 -c 'x'", "echo x | bash", "bash < f", "node -e 1", "git status"]
GIVEN += ["psql -c x db", "ssh host ls -l", "python3 - <<E\nprint(1)\nE", "bash script.sh"]


@pytest.mark.parametrize("command", BARE)
def test_a_program_without_work_is_found(command: str) -> None:
    """It would take what it does from its terminal."""
    assert find_bare_shell(command) is not None


@pytest.mark.parametrize("command", GIVEN)
def test_a_program_that_is_told_what_to_do_is_not(command: str) -> None:
    """What it runs stands in the command."""
    assert find_bare_shell(command) is None


async def test_codex_may_not_start_one(project: Path) -> None:
    """Codex types into it without telling; Claude has no such tool."""
    async with start("codex", project) as one:
        verdict = await one.tell("PreToolUse", tool_input={"command": "bash"})
        other = await one.tell("PreToolUse", tool_input={"command": "bash script.sh"})
    assert verdict.decision == "deny"
    assert "lets nobody judge what is typed" in str(verdict.reason)
    assert other.decision is None
    async with start("claude", project, "s2") as one:
        assert (await one.tell("PreToolUse", tool_input={"command": "bash"})).decision is None
