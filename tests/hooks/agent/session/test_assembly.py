"""A bundle in, a running session out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from amplifier_core.errors import ModuleLoadError, SessionDenied
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import MemoryAudit, ScriptedApproval
from amplifier_hooks import load_bundle, open_session
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.modules.installation import name_install_command
from tests.hooks.agent.session.hook_files import ASKING, GUARD
from tests.support.people import PlainPerson
from tests.support.project import Project, script
from tests.support.sessions import calls


async def test_the_default_bundle_runs_with_nothing_but_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a bundle, a key or a model there is an agent that says what is missing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    bundle = load_bundle(project_dir=tmp_path, env={"HOME": str(tmp_path)})
    session = await open_session(bundle, working_dir=tmp_path)
    try:
        assert session.failures == []
        assert {"Read", "Write", "Bash", "Todo", "Delegate"} <= set(
            session.coordinator.get("tools")
        )
        assert "No model is configured" in await session.execute("hello")
    finally:
        await session.cleanup()
    log = tmp_path / ".local/share/amplifier/audit" / session.session_id / "00000000.jsonl"
    types = [json.loads(line)["type"] for line in log.read_text().splitlines()]
    assert {"session_started", "dispatch", "session_ended"} <= set(types)


async def test_hooks_of_the_bundle_mediate_the_tools_of_the_bundle(project: Project) -> None:
    """A file that the bundle names guards the tools that the bundle names."""
    project.write("guard.py", GUARD)
    bundle = project.bundle(hooks=["./guard.py"], tools=["tool-filesystem"])
    async with project.session(bundle) as session:
        path = str(project.folder / "a.txt")
        refused = await session.execute_tool("Write", {"file_path": path, "content": "forbidden"})
        done = await session.execute_tool("Write", {"file_path": path, "content": "fine"})
    assert "forbidden words" in str(refused.error)
    assert done.success
    assert Path(path).read_text() == "fine"


async def test_required_makes_it_fatal_and_leaves_nothing_open(project: Project) -> None:
    """The error has the line that asked for the module, and the trail is free again."""
    audit = {"enabled": True, "path": "trail"}
    bundle = project.bundle(hooks=[{"module": "hooks-nonsense", "required": True}], audit=audit)
    for _ in range(2):  # the second would find the trail locked if the first had left it open
        with pytest.raises(
            ModuleLoadError, match=r"amplifier\.yaml:\d+: Unknown module 'hooks-non"
        ):
            await open_session(bundle, session_id="s1", working_dir=project.folder)


async def test_a_plan_that_nobody_has_checked_is_refused() -> None:
    """A bundle made of it has been checked; the error says how to get one."""
    with pytest.raises(TypeError, match="got dict; bundle_from_plan makes one"):
        await open_session({"session": {}})  # type: ignore[arg-type]


async def test_a_session_that_a_hook_refuses_does_not_start(project: Project) -> None:
    """The caller gets the hook's reason."""
    project.write(
        "closed.py",
        "from amplifier_core.models import HookResult\n"
        "async def on_session_start(event, data):\n"
        "    return HookResult(action='deny', reason='closed on Sundays')\n",
    )
    with pytest.raises(SessionDenied, match="closed on Sundays"):
        await open_session(project.bundle(hooks=["./closed.py"]), working_dir=project.folder)


async def test_the_trail_is_closed_with_the_session_and_can_be_resumed(project: Project) -> None:
    """One folder per session, one writer; a resumed session goes on in it."""
    bundle = project.bundle(audit={"enabled": True, "path": "trail", "level": "full"})
    async with project.session(bundle, session_id="s1") as session:
        await session.execute("one")
        state = await session.state()
    async with project.session(bundle, resume=json.loads(json.dumps(state))) as again:
        assert again.session_id == "s1"
        messages = [message["content"] for message in again.context.get_messages()]
        assert "one" in messages
    folder = locate_trail(bundle.mount_plan["audit"], "s1")
    lines = (folder / "00000000.jsonl").read_text().splitlines()
    started = [one for one in map(json.loads, lines) if one["type"] == "session_started"]
    assert len(started) == 2


async def test_a_damaged_trail_is_shown_to_the_person(project: Project) -> None:
    """A trail that lost what it had acknowledged raises an alarm that the person sees."""
    bundle = project.bundle(audit={"enabled": True, "path": "trail"})
    async with project.session(bundle, session_id="s1"):
        pass
    assert project.shown("audit") == []
    segment = locate_trail(bundle.mount_plan["audit"], "s1") / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes()[:100])
    async with project.session(bundle, session_id="s1"):
        (told,) = project.shown("audit")
    assert "is damaged" in told


async def test_secrets_of_the_bundle_never_reach_display_or_trail(project: Project) -> None:
    """What came from a variable named like a secret is shown and recorded as [secret]."""
    project.write(
        "leak.py",
        "from amplifier_core.models import HookResult\n"
        "async def mount(coordinator, config):\n"
        "    async def leak(event, data):\n"
        "        return HookResult(user_message=f\"the key is {config['key']}\")\n"
        "    return coordinator.hooks.register('prompt:submit', leak)\n",
    )
    hooks = [{"module": "./leak.py", "config": {"key": "${KEY_X}"}}]
    sink = MemoryAudit()
    async with project.session(project.bundle(hooks=hooks), audit=sink) as session:
        await session.execute("hi")
    assert ("the key is [secret]", "info", "hook:leak") in project.screen.messages
    assert b"k" * 12 not in b"".join(sink.lines)


@pytest.mark.parametrize("mode", ["ask", "deny"])
async def test_approval_mode_deny_asks_nobody(project: Project, mode: str) -> None:
    """In mode deny every question is a no, and the person is left alone."""
    project.write("ask.py", ASKING)
    person = ScriptedApproval("Allow")
    plan = {"hooks": ["./ask.py"], "tools": ["tool-filesystem"], "approval": {"mode": mode}}
    async with project.session(project.bundle(**plan), approval_system=person) as session:
        path = str(project.write("a.txt", "x"))
        result = await session.execute_tool("Read", {"file_path": path})
    assert result.success is (mode == "ask")
    assert person.prompts == (["may it?"] if mode == "ask" else [])


async def test_approval_timeout_is_an_upper_limit(project: Project) -> None:
    """No question waits longer than the bundle says, whatever the hook asks for."""
    project.write("ask.py", ASKING)
    plan = {"hooks": ["./ask.py"], "tools": ["tool-filesystem"], "approval": {"timeout": 0.05}}
    person = PlainPerson("Allow", delay=20)
    async with project.session(project.bundle(**plan), approval_system=person) as session:
        path = str(project.write("a.txt", "x"))
        result = await session.execute_tool("Read", {"file_path": path})
    assert "Timeout - denied by default" in str(result.error)
    [(_, _, seconds, _)] = person.asked
    assert seconds == 0.05


async def test_session_settings_reach_the_loop(project: Project) -> None:
    """`max_turns` and `instructions` of the session section are options of the loop."""
    session_plan = {
        "orchestrator": "loop-basic",
        "context": "context-simple",
        "max_turns": 2,
        "instructions": "Be brief.",
    }
    looping = script(calls("Glob", pattern="*"), when_done="repeat")
    bundle = project.bundle(session=session_plan, providers=looping, tools=["tool-search"])
    async with project.session(bundle) as session:
        reply = await session.execute("look")
        assert session.coordinator.get("orchestrator").config.system == "Be brief."
    assert "max_turns reached: 2" in reply


async def test_an_application_can_hear_the_very_first_event(project: Project) -> None:
    """`prepare` gets the session before it starts."""
    heard: list[str] = []

    def prepare(session: AmplifierSession) -> None:
        session.coordinator.hooks.register("*", lambda event, data: heard.append(event))

    async with project.session(prepare=prepare):
        pass
    assert heard[0] == "session:start"


async def test_a_shell_hook_stops_the_agent_which_reads_why(project: Project) -> None:
    """A journey: the agent is refused, reads the reason and does it another way."""
    project.write(
        "guard.sh",
        'input=$(cat)\ncase "$input" in *--force*) echo "no force pushes" >&2; exit 2;; esac\n',
    )
    pre = [{"matcher": "Bash", "hooks": [{"type": "command", "command": "bash guard.sh"}]}]
    bundle = project.bundle(
        hooks=[{"module": "hooks-shell", "config": {"hooks": {"PreToolUse": pre}}}],
        tools=["tool-bash"],
        providers=script(
            calls("Bash", command="echo pushing --force"),
            {**calls("Bash", command="echo pushing"), "expect": "no force pushes"},
            {"text": "Pushed.", "expect": "pushing"},
        ),
    )
    async with project.session(bundle) as session:
        assert await session.execute("push") == "Pushed."


async def test_debug_shows_what_hooks_said_to_the_agent(project: Project) -> None:
    """With `debug` the person sees each injection, under the name of its hook."""
    prompt = [{"hooks": [{"type": "command", "command": "echo the branch is main"}]}]
    hook = {"module": "hooks-shell", "config": {"hooks": {"UserPromptSubmit": prompt}}}
    session_plan = {**project.plan["session"], "debug": True}
    async with project.session(project.bundle(hooks=[hook], session=session_plan)) as session:
        await session.execute("hi")
        await session.execute("hi again")
    shown = project.shown_by_hooks()
    assert len(shown) == 2
    assert "the branch is main" in shown[0]


BARE = """
import asyncio, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks import load_bundle, open_session

def leave_out(plan):
    return {**plan, "hooks": [{**one, "required": False} for one in plan["hooks"]]}

async def main():
    bundle = load_bundle(project_dir=".")
    try:
        await open_session(bundle, working_dir=".")
    except ModuleLoadError as error:
        print(error)
    session = await open_session(bundle.changed(leave_out), working_dir=".")
    print(await session.execute("hello"))
    print(*session.failures, sep="\\n")
    await session.cleanup()

asyncio.run(main())
"""


def test_without_any_extra_the_default_bundle_runs_only_if_its_guards_may_be_missing(
    tmp_path: Path,
) -> None:
    """A guard that lacks its package stops the session; left out by its entry, the rest works."""

    extras = (
        "re2 tree_sitter tree_sitter_bash cel_expr_python anthropic openai cryptography "
        "rich click prompt_toolkit httpx2 opentelemetry"
    )
    program = f"EXTRAS = {set(extras.split())!r}\n{BARE}"
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, timeout=50
    )
    assert ran.returncode == 0, ran.stderr.decode()
    stopped, reply, *left_out = ran.stdout.decode().splitlines()
    assert "default.yaml:" in stopped
    assert name_install_command("policy") in stopped
    assert "`required: false`" in stopped
    assert "No model is configured" in reply
    assert all(name_install_command("policy") in line for line in left_out)
    for guard in ("hooks-command-guard", "hooks-production-guard", "hooks-redaction"):
        assert any(guard in line for line in left_out)
