"""How often a person is asked: once about the same call, and later where nobody sat there."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.agent.model_server import ModelServer
from tests.agents.cases import run_with
from tests.agents.programs import Program
from tests.agents.test_asking import wait_for_question
from tests.agents.trails import read_trail
from tests.agents.world import World
from tests.support.waiting import wait_until

pytestmark = pytest.mark.agents

COMMAND = "echo ask-me >> out.txt"
DONE = {"text": "Done."}
PERSON = Path(__file__).with_name("prompt_server.py")


@run_with("claude", "codex", "gemini")
async def test_a_yes_that_comes_later_is_used_when_the_agent_tries_again(
    world: World, program: Program
) -> None:
    """The first try is refused after a short wait; meanwhile a person allows it, for one run."""
    shell, pause = program.call_shell(COMMAND), program.call_shell("echo wait-me")
    calls = [{"tool_calls": [one]} for one in (shell, pause, shell)]
    running = asyncio.create_task(world.run(program, [*calls, DONE]))
    question = await wait_for_question(world)
    await wait_until((world.project / "judging").exists)
    assert world.read() == []
    await asyncio.to_thread(world.amplifier_at_terminal, "approvals", "allow", question, "--yes")
    world.let_go()
    outcome = await running
    assert world.read() == ["ask-me"], outcome.output
    assert "Refused: nobody can be asked here" in outcome.asked[1]
    assert f"amplifier approvals allow {question[:8]}" in outcome.asked[1]
    used = (await asyncio.to_thread(read_trail, world)).list_types()
    assert used.count("approval_expired") == 1
    assert used.count("approval_decided") == 1


@pytest.mark.parametrize("answer", ["yes", "no"])
@run_with("claude")
async def test_the_same_call_is_asked_about_once(
    world: World, program: Program, answer: str
) -> None:
    """What ran needs no second yes. What the person refused is asked about again."""
    if answer == "no":
        (world.project / "refuse").touch()
    shell = program.call_shell(COMMAND)
    other = program.call_shell(f"{COMMAND} # another")
    calls: list[dict[str, Any]] = [{"tool_calls": [one]} for one in (shell, shell, other, shell)]
    person = [sys.executable, "-I", "-S", str(PERSON), str(world.project)]
    program.add_server(world.home, "person", person)
    async with ModelServer([*calls, DONE], per_conversation=True) as server:
        command = program.build_command(world.locate(program), server.url)
        command.remove("--dangerously-skip-permissions")
        command += ["--permission-prompt-tool", "mcp__person__ask"]
        process = await world.start_command(program, command, server.url)
        output, _ = await asyncio.wait_for(process.communicate(b""), 120)
        await world.end(process)
    said = output.decode(errors="replace")
    ran = ["ask-me"] * 4 if answer == "yes" else []
    assert world.read() == ran, said
    assert len(world.read("asked")) == (2 if answer == "yes" else 4), said
    types = (await asyncio.to_thread(read_trail, world)).list_types()
    assert types.count("approval_cache_hit") == (2 if answer == "yes" else 0)


ORDINARY = (
    "ls -la",
    "git status --short",
    "git log --oneline -5",
    "cat README.md",
    "grep -rn TODO src || true",
    "find . -name '*.py' -not -path './.git/*' | head",
    "sed -n 1,5p src/app.py",
    "git switch -c work",
    "mkdir -p build && cp src/app.py build/app.py",
    "PYTHONPATH=src python3 -c 'import app; print(app.double(2))'",
    "PYTHONPATH=src python3 -m unittest discover -s tests",
    "source .venv/bin/activate && python3 --version",
    "diff <(sort README.md) <(sort src/app.py) || true",
    "awk -F: '{print $1}' README.md",
    "git diff --stat",
    "find . -name '*.py' -exec grep -n def {} +",
    "git add -A && git commit -qm \"$(cat <<'EOF'\nAdd a build\n\nBecause it is needed.\nEOF\n)\"",
    "git log -1 --format=%s",
    "rm -rf build",
    "git diff HEAD~1 --name-only",
)
"""What an agent does in an afternoon, in the folder of a small project."""


@run_with("claude", "codex")
async def test_a_session_of_ordinary_work_asks_nothing(bare_world: World, program: Program) -> None:
    """Twenty calls behind the default guards: no question, no denial."""
    world = bare_world
    world.set_up(program)
    make_small_project(world)
    world.write_bundle("approval: {mode: deny}\n")  # what is asked about does not wait
    world.guard(program, "--user")
    calls: list[dict[str, Any]] = [{"tool_calls": [program.call_shell(one)]} for one in ORDINARY]
    await world.run(program, [*calls, DONE])
    trail = await asyncio.to_thread(read_trail, world)
    judged = trail.list_calls()
    asked = [command for command, action in judged if action not in ("continue", "modify")]
    assert (len(judged), asked) == (len(ORDINARY), [])


def make_small_project(world: World) -> None:
    """A repository with some code, its test, and an environment."""
    files = {
        "README.md": "A small project: it doubles numbers.\n",
        "src/app.py": "def double(number):\n    return 2 * number\n",
        "tests/test_app.py": "import app\nassert app.double(2) == 4\n",
        ".venv/bin/activate": "VIRTUAL_ENV=here\n",
    }
    for name, text in files.items():
        (world.project / name).parent.mkdir(parents=True, exist_ok=True)
        (world.project / name).write_text(text)
    who = ["-c", "user.name=ann", "-c", "user.email=ann@example.com"]
    for words in (["init", "-q"], ["add", "README.md", "src"], [*who, "commit", "-qm", "Begin"]):
        subprocess.run(["git", *words], cwd=world.project, env=world.env, check=True)
    for words in (["user.name", "ann"], ["user.email", "ann@example.com"]):
        subprocess.run(["git", "config", *words], cwd=world.project, env=world.env, check=True)
