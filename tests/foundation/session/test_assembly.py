"""A bundle in, a running session out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError, SessionDenied
from amplifier_core.models import HookResult
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import MemoryAudit
from amplifier_foundation.bundles import load_bundle
from amplifier_foundation.session.assembly import open_session
from amplifier_foundation.session.trail import audit_folder
from tests.support.project import Person, Workshop, calls, script


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


GUARD = """
from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    if "forbidden" in str(data["tool_input"]):
        return HookResult(action="deny", reason="forbidden words")
    return HookResult()
"""

ASKING = """
from amplifier_core.models import HookResult

async def on_tool_pre(event, data):
    return HookResult(action="ask_user", approval_prompt="may it?", approval_timeout=30)
"""


async def test_the_default_bundle_runs_with_nothing_but_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A useful default bundle that works with nothing installed but us."""
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


async def test_hooks_of_the_bundle_mediate_the_tools_of_the_bundle(shop: Workshop) -> None:
    """Users enable hooks in a file, not in code."""
    shop.write("guard.py", GUARD)
    bundle = shop.bundle(hooks=["./guard.py"], tools=["tool-filesystem"])
    async with shop.session(bundle) as session:
        path = str(shop.folder / "a.txt")
        refused = await session.execute_tool("Write", {"file_path": path, "content": "forbidden"})
        done = await session.execute_tool("Write", {"file_path": path, "content": "fine"})
    assert "forbidden words" in str(refused.error)
    assert done.success
    assert Path(path).read_text() == "fine"


async def test_a_module_that_fails_is_told_and_left_out(shop: Workshop) -> None:
    """A hook, tool or provider that fails to load is reported with its reason and left out."""
    shop.write("broken.py", "raise RuntimeError('half written')\n")
    async with shop.session(shop.bundle(hooks=["./broken.py", "hooks-redacton"])) as session:
        assert len(session.failures) == 2
    broken, unknown = shop.screen.of("modules")
    assert "half written" in broken
    file = shop.folder / "amplifier.yaml"
    assert unknown == (
        f"Left out: {file}:3: Unknown module 'hooks-redacton'; did you mean 'hooks-redaction'?"
    )


async def test_required_makes_it_fatal_and_leaves_nothing_open(shop: Workshop) -> None:
    """`required: true` makes it fatal."""
    audit = {"enabled": True, "path": "trail"}
    bundle = shop.bundle(hooks=[{"module": "hooks-nonsense", "required": True}], audit=audit)
    for _ in range(2):  # the second would find the trail locked if the first had left it open
        with pytest.raises(
            ModuleLoadError, match=r"amplifier\.yaml:\d+: Unknown module 'hooks-non"
        ):
            await open_session(bundle, session_id="s1", working_dir=shop.folder)


async def test_a_session_that_a_hook_refuses_does_not_start(shop: Workshop) -> None:
    """session:start deny: the session does not start; the caller gets the reason."""
    shop.write(
        "closed.py",
        "from amplifier_core.models import HookResult\n"
        "async def on_session_start(event, data):\n"
        "    return HookResult(action='deny', reason='closed on Sundays')\n",
    )
    with pytest.raises(SessionDenied, match="closed on Sundays"):
        await open_session(shop.bundle(hooks=["./closed.py"]), working_dir=shop.folder)


async def test_the_trail_is_closed_with_the_session_and_can_be_resumed(shop: Workshop) -> None:
    """One folder per session, one writer; a resumed session goes on in it."""
    bundle = shop.bundle(audit={"enabled": True, "path": "trail", "level": "full"})
    async with shop.session(bundle, session_id="s1") as session:
        await session.execute("one")
        state = await session.state()
    async with shop.session(bundle, resume=json.loads(json.dumps(state))) as again:
        assert again.session_id == "s1"
        messages = [message["content"] for message in again.context.get_messages()]
        assert "one" in messages
    folder = audit_folder(bundle.mount_plan["audit"], "s1")
    lines = (folder / "00000000.jsonl").read_text().splitlines()
    started = [one for one in map(json.loads, lines) if one["type"] == "session_started"]
    assert len(started) == 2


def test_a_session_id_cannot_lead_the_trail_elsewhere(tmp_path: Path) -> None:
    """Ids become folder names only when they are plain."""
    options = {"path": str(tmp_path)}
    assert audit_folder(options, "s-1.a") == tmp_path / "s-1.a"
    for odd in ("../../etc", "..", ".hidden", "a/b", "", "x" * 300, "\ud800"):
        folder = audit_folder(options, odd)
        assert folder.parent == tmp_path
        assert len(folder.name) == 64


async def test_a_damaged_trail_is_shown_to_the_person(shop: Workshop) -> None:
    """Damage before the acknowledged position: the alarm is raised, and the session is told."""
    bundle = shop.bundle(audit={"enabled": True, "path": "trail"})
    async with shop.session(bundle, session_id="s1"):
        pass
    assert shop.screen.of("audit") == []
    segment = audit_folder(bundle.mount_plan["audit"], "s1") / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes()[:100])
    async with shop.session(bundle, session_id="s1"):
        (told,) = shop.screen.of("audit")
    assert "is damaged" in told


async def test_a_signed_and_anchored_trail(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """audit: sign, anchors, mode."""
    monkeypatch.setenv("XDG_DATA_HOME", str(shop.home))
    anchor = shop.folder / "anchor"
    audit = {
        "enabled": True,
        "path": "trail",
        "sign": True,
        "mode": "commitment",
        "anchors": [str(anchor)],
    }
    async with shop.session(shop.bundle(audit=audit)) as session:
        await session.execute("one")
    assert (shop.home / "amplifier" / "audit.key").exists()
    assert "amplifier-audit" in anchor.read_text()


async def test_secrets_of_the_bundle_never_reach_display_or_trail(shop: Workshop) -> None:
    """Values from variables that are named like secrets are scrubbed."""
    shop.write(
        "leak.py",
        "from amplifier_core.models import HookResult\n"
        "async def mount(coordinator, config):\n"
        "    async def leak(event, data):\n"
        "        return HookResult(user_message=f\"the key is {config['key']}\")\n"
        "    return coordinator.hooks.register('prompt:submit', leak)\n",
    )
    hooks = [{"module": "./leak.py", "config": {"key": "${KEY_X}"}}]
    sink = MemoryAudit()
    async with shop.session(shop.bundle(hooks=hooks), audit=sink) as session:
        await session.execute("hi")
    assert ("info", "hook:leak", "the key is [secret]") in shop.screen.shown
    assert b"k" * 12 not in b"".join(sink.lines)


async def test_approval_mode_deny_asks_nobody(shop: Workshop) -> None:
    """approval: mode deny: every question is a no."""
    shop.write("ask.py", ASKING)
    person = Person()
    plan = {"hooks": ["./ask.py"], "tools": ["tool-filesystem"]}
    for mode, asked in (("deny", 0), ("ask", 1)):
        bundle = shop.bundle(**plan, approval={"mode": mode})
        async with shop.session(bundle, approval_system=person) as session:
            path = str(shop.write("a.txt", "x"))
            result = await session.execute_tool("Read", {"file_path": path})
        assert result.success is bool(asked)
        assert len(person.asked) == asked


async def test_approval_timeout_is_an_upper_limit(shop: Workshop) -> None:
    """approval: timeout, the most seconds that any question waits."""
    shop.write("ask.py", ASKING)
    bundle = shop.bundle(hooks=["./ask.py"], tools=["tool-filesystem"], approval={"timeout": 0.1})
    async with shop.session(bundle, approval_system=Person(delay=20)) as session:
        path = str(shop.write("a.txt", "x"))
        result = await session.execute_tool("Read", {"file_path": path})
    assert "Timeout - denied by default" in str(result.error)


async def test_session_settings_reach_the_loop(shop: Workshop) -> None:
    """session: max_turns and instructions."""
    session_plan = {
        "orchestrator": "loop-basic",
        "context": "context-simple",
        "max_turns": 2,
        "instructions": "Be brief.",
    }
    looping = script(calls("Glob", pattern="*"), when_done="repeat")
    bundle = shop.bundle(session=session_plan, providers=looping, tools=["tool-search"])
    async with shop.session(bundle) as session:
        reply = await session.execute("look")
        assert session.coordinator.get("orchestrator").config.system == "Be brief."
    assert "max_turns reached: 2" in reply


async def test_names_given_by_hooks_are_kept_with_the_session(shop: Workshop) -> None:
    """Capability session.rename."""
    given: list[tuple[str, str]] = []
    async with shop.session(on_rename=lambda *name: given.append(name)) as session:
        session.coordinator.get_capability("session.rename")("Fix tests", "all of them")
        state = await session.state()
    assert given == [("Fix tests", "all of them")]
    assert state["session_state"]["name"] == "Fix tests"


async def test_an_application_can_hear_the_very_first_event(shop: Workshop) -> None:
    """`prepare` gets the session before it starts."""
    heard: list[str] = []

    def prepare(session: AmplifierSession) -> None:
        session.coordinator.hooks.register("*", lambda event, data: heard.append(event))

    async with shop.session(prepare=prepare):
        pass
    assert heard[0] == "session:start"


# Sub-agents

SPY = """
import json
from pathlib import Path

async def mount(coordinator, config):
    def note(event, data):
        with open(config["log"], "a") as log:
            fields = {key: data.get(key) for key in config["fields"]}
            log.write(json.dumps([event, fields]) + "\\n")
    return coordinator.hooks.register("*", note)
"""

FIELDS = ["session_id", "parent_id", "tool_name", "agent_name", "status", "parent_session_id"]


def family(shop: Workshop, **more: Any) -> dict[str, Any]:
    """A parent that delegates once to a critic who reads a file."""
    shop.write("notes.txt", "nothing special")
    read = calls("Read", file_path=str(shop.folder / "notes.txt"))
    critic = {
        "description": "Reads.",
        "instructions": "Read it.",
        "providers": script(read, "It says nothing special."),
        "tools": ["Read"],
    }
    return {
        "tools": ["tool-filesystem", "tool-delegate"],
        "providers": script(calls("Delegate", agent_name="critic", task="read notes.txt"), "Done."),
        "agents": {"critic": critic},
        **more,
    }


async def test_a_sub_agent_does_its_task_and_reports(shop: Workshop) -> None:
    """Delegate spawns a child session from the bundle's `agents`."""
    async with shop.session(shop.bundle(**family(shop))) as session:
        assert await session.execute("go") == "Done."
        results = [m for m in session.context.get_messages() if m["role"] == "tool"]
    assert results[0]["content"] == "It says nothing special."


async def test_the_parents_hooks_mediate_the_child_too(shop: Workshop) -> None:
    """Complete mediation; agent:spawn, decision, agent:complete are emitted."""
    shop.write("spy.py", SPY)
    log = shop.folder / "log"
    spy = {"module": "./spy.py", "config": {"log": str(log), "fields": FIELDS}}
    async with shop.session(shop.bundle(**family(shop), hooks=[spy])) as session:
        await session.execute("go")
        parent = session.session_id
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    events = [event for event, _ in seen]
    start = events.index("decision:agent_resolution")
    wanted = ["decision:agent_resolution", "agent:spawn", "session:start", "session:fork"]
    assert [event for event in events[start:] if event in wanted][:4] == wanted
    [read] = [data for event, data in seen if event == "tool:pre" and data["tool_name"] == "Read"]
    assert read["parent_id"] == parent
    assert read["session_id"] != parent
    [complete] = [data for event, data in seen if event == "agent:complete"]
    assert (complete["status"], complete["agent_name"]) == ("success", "critic")
    assert complete["parent_session_id"] == parent


async def test_a_guard_of_the_parent_stops_the_child(shop: Workshop) -> None:
    """The parent's hooks mediate the child too."""
    shop.write("guard.py", GUARD)
    plan = family(shop, hooks=["./guard.py"])
    forbidden = calls("Read", file_path=str(shop.folder / "forbidden.txt"))
    plan["agents"]["critic"]["providers"] = script(forbidden, {"expect": "forbidden words"})
    async with shop.session(shop.bundle(**plan)) as session:
        await session.execute("go")
        assert session.status == "idle"


async def test_a_child_has_only_the_tools_that_it_is_given(shop: Workshop) -> None:
    """agents: tools by name."""
    plan = family(shop)
    plan["agents"]["critic"]["providers"] = script(
        calls("Write", file_path="x", content="y"), {"expect": "have ['Read']", "text": "ok"}
    )
    async with shop.session(shop.bundle(**plan)) as session:
        assert await session.execute("go") == "Done."
        results = [m for m in session.context.get_messages() if m["role"] == "tool"]
    assert results[0]["content"] == "ok"


async def test_a_child_may_bring_modules_beside_named_tools(shop: Workshop) -> None:
    """agents: tools by name and by module."""
    plan = family(shop)
    plan["agents"]["critic"]["tools"] = ["Read", "tool-search"]
    plan["agents"]["critic"]["providers"] = script(
        calls("Write", file_path="x", content="y"), {"expect": "have ['Glob', 'Grep', 'Read']"}
    )
    async with shop.session(shop.bundle(**plan)) as session:
        await session.execute("go")
        results = [m for m in session.context.get_messages() if m["role"] == "tool"]
    assert "could not run" not in results[0]["content"]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"agent_depth": 0}, "Sub-agents may be 0 deep (session.limits.agent_depth)"),
        ({"agent_count": 0}, "0 sub-agents were started already (session.limits.agent_count)"),
    ],
)
async def test_depth_and_count_are_limited(
    shop: Workshop, limits: dict[str, int], message: str
) -> None:
    """Depth and count are limited, and the reason is said."""
    plan = family(shop, session={**shop.plan["session"], "limits": limits})
    async with shop.session(shop.bundle(**plan)) as session:
        result = await session.execute_tool("Delegate", {"agent_name": "critic", "task": "t"})
    assert message in str(result.error)


async def test_agents_that_delegate_to_themselves_come_to_an_end(shop: Workshop) -> None:
    """Depth is counted over generations, the number over the whole family."""
    again = calls("Delegate", agent_name="loop", task="again")
    plan = {
        "tools": ["tool-delegate"],
        "providers": script(again, "top"),
        "agents": {"loop": {"description": "Delegates.", "providers": script(again, "end")}},
    }
    shop.write("spy.py", SPY)
    log = shop.folder / "log"
    spy = {"module": "./spy.py", "config": {"log": str(log), "fields": FIELDS}}
    async with shop.session(shop.bundle(**plan, hooks=[spy])) as session:
        assert await session.execute("go") == "top"
    events = [json.loads(line)[0] for line in log.read_text().splitlines()]
    assert events.count("session:fork") == 2
    assert events.count("agent:complete") == 2


async def test_unknown_agents_are_named_with_the_known_ones(shop: Workshop) -> None:
    """Errors say what, which value, what would do."""
    async with shop.session(shop.bundle(**family(shop))) as session:
        result = await session.execute_tool("Delegate", {"agent_name": "critc", "task": "t"})
    assert result.error == "Unknown agent 'critc'; have ['critic']"


async def test_a_denied_spawn_starts_nothing(shop: Workshop) -> None:
    """agent:spawn can be denied."""
    async with shop.session(shop.bundle(**family(shop))) as session:

        async def refuse(event: str, data: dict[str, Any]) -> HookResult:
            return HookResult(action="deny", reason="no helpers today")

        session.coordinator.hooks.register("agent:spawn", refuse, name="lonely")
        result = await session.execute_tool("Delegate", {"agent_name": "critic", "task": "t"})
    assert "no helpers today" in str(result.error)


async def test_a_child_that_fails_is_reported_and_cleaned_up(shop: Workshop) -> None:
    """agent:complete has status error; the parent goes on."""
    plan = family(shop)
    plan["agents"]["critic"]["providers"] = script({"error": "authentication"})
    shop.write("spy.py", SPY)
    log = shop.folder / "log"
    spy = {"module": "./spy.py", "config": {"log": str(log), "fields": FIELDS}}
    async with shop.session(shop.bundle(**plan, hooks=[spy])) as session:
        assert await session.execute("go") == "Done."
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    [complete] = [data for event, data in seen if event == "agent:complete"]
    assert complete["status"] == "error"
    ended = [data["session_id"] for event, data in seen if event == "session:end"]
    assert len(ended) == 2


async def test_what_a_child_spends_its_parent_spends(shop: Workshop) -> None:
    """Statistics cover sub-agents."""
    plan = family(shop)
    usage = {"input_tokens": 100, "output_tokens": 11}
    plan["agents"]["critic"]["providers"] = script({"text": "x", "usage": usage})
    async with shop.session(shop.bundle(**plan)) as session:
        await session.execute("go")
        assert session.stats["total_tokens"] >= 111


async def test_cancelling_the_parent_ends_the_child(shop: Workshop) -> None:
    """T26: cancelling leaves no task."""
    import asyncio

    plan = family(shop)
    plan["agents"]["critic"]["providers"] = script({"text": "late", "delay": 30})
    before = asyncio.all_tasks()
    async with shop.session(shop.bundle(**plan)) as session:
        running = asyncio.create_task(session.execute("go"))
        await asyncio.sleep(0.3)
        await session.coordinator.request_cancel(immediate=True)
        await asyncio.wait_for(running, 5)
        assert session.status == "interrupted"
    assert asyncio.all_tasks() == before


async def test_a_shell_hook_stops_the_agent_which_reads_why(shop: Workshop) -> None:
    """A journey: the agent is refused, reads the reason and does it another way."""
    shop.write(
        "guard.sh",
        'input=$(cat)\ncase "$input" in *--force*) echo "no force pushes" >&2; exit 2;; esac\n',
    )
    pre = [{"matcher": "Bash", "hooks": [{"type": "command", "command": "bash guard.sh"}]}]
    bundle = shop.bundle(
        hooks=[{"module": "hooks-shell", "config": {"hooks": {"PreToolUse": pre}}}],
        tools=["tool-bash"],
        providers=script(
            calls("Bash", command="echo pushing --force"),
            {**calls("Bash", command="echo pushing"), "expect": "no force pushes"},
            {"text": "Pushed.", "expect": "pushing"},
        ),
    )
    async with shop.session(bundle) as session:
        assert await session.execute("push") == "Pushed."


async def test_debug_shows_what_hooks_said_to_the_agent(shop: Workshop) -> None:
    """Injections can be reviewed by the user (`debug`)."""
    prompt = [{"hooks": [{"type": "command", "command": "echo the branch is main"}]}]
    hook = {"module": "hooks-shell", "config": {"hooks": {"UserPromptSubmit": prompt}}}
    session_plan = {**shop.plan["session"], "debug": True}
    async with shop.session(shop.bundle(hooks=[hook], session=session_plan)) as session:
        await session.execute("hi")
        await session.execute("hi again")
    shown = [one for _, source, one in shop.screen.shown if source.startswith("hook:")]
    assert len(shown) == 2
    assert "the branch is main" in shown[0]


STOP = """#!/usr/bin/env bash
cat > stdin.json
test -f tested || { touch tested; echo "run the tests first" >&2; exit 2; }
"""


async def test_a_stop_hook_keeps_the_agent_working(shop: Workshop) -> None:
    """Exit 2, Stop: continue working; the reason is what it works on next."""
    shop.write("stop.sh", STOP)
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "bash stop.sh"}]}]}
    replies = script("I am done.", {"expect": "run the tests first", "text": "Tests pass."})
    hook = {"module": "hooks-shell", "config": {"hooks": hooks}}
    async with shop.session(shop.bundle(hooks=[hook], providers=replies)) as session:
        assert await session.execute("fix it") == "Tests pass."
    assert json.loads((shop.folder / "stdin.json").read_text())["stop_hook_active"] is True


async def test_stop_hooks_cannot_keep_it_working_for_ever(shop: Workshop) -> None:
    """Stop blocks are capped at eight in a row."""
    stubborn = [{"hooks": [{"command": "echo again >&2; exit 2"}]}]
    hook = {"module": "hooks-shell", "config": {"hooks": {"Stop": stubborn}}}
    replies = script("done", when_done="repeat")
    async with shop.session(shop.bundle(hooks=[hook], providers=replies)) as session:
        await session.execute("fix it")
        prompts = [m["content"] for m in session.context.get_messages() if m["role"] == "user"]
    assert prompts == ["fix it", *["again"] * 8]


BARE = """
import asyncio, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())

from amplifier_foundation.session.assembly import open_session
from amplifier_foundation.bundles import load_bundle

async def main():
    session = await open_session(load_bundle(project_dir="."), working_dir=".")
    print(await session.execute("hello"))
    print(*session.failures, sep="\\n")
    await session.cleanup()

asyncio.run(main())
"""


def test_the_default_bundle_runs_without_any_extra(tmp_path: Path) -> None:
    """Works with nothing installed but us; what needs an extra says which."""
    import subprocess
    import sys

    extras = (
        "re2 wcmatch tree_sitter tree_sitter_bash cel_expr_python anthropic openai cryptography "
        "rich click prompt_toolkit watchfiles httpx2 mcp opentelemetry psycopg fastapi uvicorn"
    )
    program = f"EXTRAS = {set(extras.split())!r}\n{BARE}"
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, timeout=50
    )
    assert ran.returncode == 0, ran.stderr.decode()
    reply, *left_out = ran.stdout.decode().splitlines()
    assert "No model is configured" in reply
    assert all("pip install 'amplifier-hooks[policy]'" in line for line in left_out)
