"""Running the hooks of one event."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.answer import combine
from amplifier_hooks.coding_agents.dialects.dialect import Call, Handler
from amplifier_hooks.coding_agents.shell_hooks.config import Config
from amplifier_hooks.coding_agents.shell_hooks.runner import Runner, encode_payload
from amplifier_hooks.coding_agents.shell_hooks.selector import Job
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.shell_hooks.hook_files import make_command, read_log, specific
from tests.support.waiting import wait_until as wait_until_holds

NATIVE = {
    "claude": "PreToolUse",
    "gemini": "BeforeTool",
    "cursor": "preToolUse",
    "copilot": "preToolUse",
}


class Bench:
    """Makes jobs for one tool call in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}

    def make_job(self, command: str, dialect: str = "claude", **fields: Any) -> Job:
        native = NATIVE[dialect]
        where = fields.pop("where", command)
        handler = Handler(dialect, native, where, command=command, **fields)
        return handler, Call("tool:pre", native, self.data, "session-1", str(self.folder))

    async def run(self, *jobs: Job, **config: Any) -> Verdict:
        return combine(await Runner(Config(**config), {}).run(jobs))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def wait_until(path: Path) -> str:
    """A command that waits until a file is there."""
    return f"until [ -e {path} ]; do sleep 0.01; done"


def rewrite(command: str) -> str:
    """A command that rewrites the input."""
    return make_command(specific("PreToolUse", updatedInput={"command": command}))


async def pop_late(runner: Runner) -> list[Verdict]:
    """What hooks in the background say, as soon as they say it."""
    async with asyncio.timeout(20):
        while not (late := runner.pop_late()):
            await asyncio.sleep(0.01)
    return late


async def test_a_hook_reads_the_payload_of_its_agent(bench: Bench, tmp_path: Path) -> None:
    """One JSON object on one line of standard input."""
    log = tmp_path / "log"
    await bench.run(bench.make_job(f"cat >> {log}"))
    [payload] = read_log(log)
    assert payload["hook_event_name"] == "PreToolUse"
    assert payload["tool_input"] == {"command": "ls"}


async def test_a_hook_finds_its_variables(bench: Bench, tmp_path: Path) -> None:
    """Those of the module and those of its agent."""
    log = tmp_path / "log"
    jobs = [bench.make_job(f'echo "$OF_MODULE $CLAUDE_PROJECT_DIR" > {log}')]
    await Runner(Config(), {"OF_MODULE": "m"}).run(jobs)
    assert log.read_text() == f"m {tmp_path}\n"


async def test_hooks_run_at_once_on_the_original_input_and_a_denial_wins(
    bench: Bench, tmp_path: Path
) -> None:
    """Each of these two waits for the other, so neither could run first."""
    one, two, log = tmp_path / "one", tmp_path / "two", tmp_path / "log"
    deny = f"cat >> {log}; touch {one}; {wait_until(two)}; echo stop >&2; exit 2"
    allow = f"touch {two}; {wait_until(one)}; {rewrite('x')}"
    jobs = (bench.make_job(deny), bench.make_job(allow), bench.make_job(f"cat >> {log}"))
    verdict = await bench.run(*jobs)
    assert (verdict.decision, verdict.reason) == ("deny", "stop")
    assert [seen["tool_input"] for seen in read_log(log)] == [{"command": "ls"}] * 2


async def test_of_several_rewrites_the_last_to_finish_wins(bench: Bench, tmp_path: Path) -> None:
    """Not the last one in the file."""
    done = tmp_path / "done"
    slow = f"{wait_until(done)}; sleep 0.2; {rewrite('slow')}"
    fast = f"{rewrite('fast')}; touch {done}"
    verdict = await bench.run(bench.make_job(slow), bench.make_job(fast))
    assert verdict.tool_input == {"command": "slow"}


async def test_a_lane_runs_in_order_and_ends_at_a_denial(bench: Bench, tmp_path: Path) -> None:
    """What stands behind the denial is not started."""
    log = tmp_path / "log"
    commands = [f"echo one >> {log}", f"echo two >> {log}; exit 2", f"echo three >> {log}"]
    jobs = [bench.make_job(command, "cursor", lane="file") for command in commands]
    assert (await bench.run(*jobs)).decision == "deny"
    assert log.read_text().split() == ["one", "two"]


@pytest.mark.parametrize(
    ("dialect", "answer", "seen"),
    [
        ("gemini", {"hookSpecificOutput": {"tool_input": {"command": "pwd"}}}, "pwd"),
        ("cursor", {"updated_input": {"command": "pwd"}}, "ls"),
    ],
)
async def test_a_rewrite_is_handed_on_in_a_lane_where_the_agent_does_so(
    bench: Bench, tmp_path: Path, dialect: str, answer: dict[str, Any], seen: str
) -> None:
    """Gemini does; for the others each hook sees the original."""
    log = tmp_path / "log"
    commands = [make_command(answer), f"cat >> {log}"]
    verdict = await bench.run(*(bench.make_job(one, dialect, lane="l") for one in commands))
    assert verdict.tool_input == {"command": "pwd"}
    assert read_log(log)[0]["tool_input"] == {"command": seen}


async def test_a_hook_in_the_background_delays_nothing_and_decides_nothing(
    bench: Bench, tmp_path: Path
) -> None:
    """What it said waits, once; a denial becomes something to read."""
    go = tmp_path / "go"
    command = f"{wait_until(go)}; echo 'the build is broken' >&2; exit 2"
    runner = Runner(Config(), {})
    assert await runner.run([bench.make_job(command, background=True)]) == []
    assert runner.pop_late() == []
    go.touch()
    [late] = await pop_late(runner)
    assert (late.decision, late.context) == (None, ("the build is broken",))
    assert runner.pop_late() == []
    await runner.close()


async def test_closing_ends_what_runs_in_the_background(bench: Bench, tmp_path: Path) -> None:
    """A hook that would never come back does not outlive the session."""
    started, marker = tmp_path / "started", tmp_path / "late"
    command = f"touch {started}; {wait_until(tmp_path / 'never')}; touch {marker}"
    runner = Runner(Config(), {})
    await runner.run([bench.make_job(command, background=True)])
    await wait_until_holds(started.exists)
    await runner.close()
    (tmp_path / "never").touch()
    assert runner.pop_late() == []
    assert not marker.exists()


async def test_hooks_do_not_hold_up_the_loop(bench: Bench, tmp_path: Path) -> None:
    """What ends this hook runs on the same loop as the hook."""
    started, go = tmp_path / "started", tmp_path / "go"
    job = bench.make_job(f"touch {started}; {wait_until(go)}; exit 2", timeout=30)

    async def release() -> None:
        await wait_until_holds(started.exists)
        go.touch()

    verdict, _ = await asyncio.gather(bench.run(job), release())
    assert (verdict.decision, verdict.warnings) == ("deny", ())


async def test_the_module_can_lower_every_time_limit(bench: Bench) -> None:
    """But not raise one."""
    slow = bench.make_job("sleep 30", timeout=20)
    verdict = await bench.run(slow, timeout=0.2)
    assert "ran longer than 0.2 s" in verdict.warnings[0]
    verdict = await bench.run(bench.make_job("sleep 30", timeout=0.2), timeout=20)
    assert "ran longer than 0.2 s" in verdict.warnings[0]


async def test_the_module_can_close_every_gate(bench: Bench) -> None:
    """`fail_closed` holds for hooks that did not ask for it."""
    assert (await bench.run(bench.make_job("exit 1"))).decision is None
    assert (await bench.run(bench.make_job("exit 1"), fail_closed=True)).decision == "deny"


async def test_a_hook_that_breaks_us_is_a_failure_and_the_others_run(bench: Bench) -> None:
    """Whatever is raised on the way; no command can run without any time."""
    broken = bench.make_job("true", timeout=0)
    verdict = await bench.run(broken, bench.make_job("echo no >&2; exit 2", where="other"))
    assert (verdict.decision, verdict.reason) == ("deny", "no")
    assert "Hook 'true' failed: " in verdict.warnings[0]


def test_a_gate_is_closed_by_its_file_its_agent_or_the_module(bench: Bench) -> None:
    """Copilot closes the gate before a tool by itself."""
    plain, _ = bench.make_job("true")
    asked, _ = bench.make_job("true", fail_closed=True)
    copilot, _ = bench.make_job("true", "copilot")
    open_, closed = Runner(Config(), {}), Runner(Config(fail_closed=True), {})
    assert [open_.fails_closed(one) for one in (plain, asked, copilot)] == [False, True, True]
    assert closed.fails_closed(plain)


async def test_odd_data_does_not_keep_a_guard_from_being_asked(bench: Bench) -> None:
    """Lone surrogates, numbers that are none, and objects are written somehow."""
    bench.data["tool_input"] = {"command": "\ud800", "n": float("nan"), "thing": object()}
    verdict = await bench.run(bench.make_job("cat >/dev/null; exit 2", fail_closed=True))
    assert (verdict.decision, verdict.reason) == ("deny", "Blocked by a hook.")


def test_a_payload_is_one_line_of_ascii() -> None:
    """Keys that JSON does not know are left out."""
    odd: dict[Any, Any] = {"text": "grüße\n\ud800", "set": {1}, (1, 2): "x"}
    body = encode_payload(odd)
    assert body.isascii()
    assert body.count(b"\n") == 1
    assert json.loads(body) == {"text": "grüße\n\ud800", "set": "{1}"}
