"""A guard on an event that will never come is a guard that is not there: every command says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.hooks.cli.program import invoke, run_amplifier
from tests.support.sessions import calls
from tests.support.trust import trust_project

GUARD = """
from amplifier_core import HookResult
from amplifier_core.interfaces import hook

@hook("{event}"{more})
def check(event, data):
    return HookResult(action="deny", reason="no")
"""
SCRIPT = [calls("Bash", command="echo one"), {"text": "ok"}]


def write(folder: Path, event: str, more: str = ', on_error="deny"', **extra: object) -> None:
    bundle = {
        "inherit": False,
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [{"module": "provider-scripted", "config": {"script": SCRIPT}}],
        "tools": [{"module": "tool-bash"}],
        "hooks": ["mine.py"],
        **extra,
    }
    (folder / "mine.py").write_text(GUARD.format(event=event, more=more))
    (folder / "amplifier.yaml").write_text(yaml.safe_dump(bundle))
    trust_project(folder)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, which is also where the commands run."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = (
    ("trust",),
    ("trust", "--show"),
    ("hooks", "list"),
    ("hooks", "list", "--json"),
    ("hooks", "trace", "--tool", "Bash"),
    ("doctor",),
    ("run", "go"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("event", ["PreToolUse", "tool:before", "pre_tool"])
def test_every_command_refuses_it_with_our_name(
    folder: Path, command: tuple[str, ...], event: str
) -> None:
    """The exit code says that something is wrong, too."""
    write(folder, event)
    done = run_amplifier(*command) if command[0] == "run" else invoke(*command)
    told = " ".join((done.stdout + done.stderr).split())
    assert f"no event '{event}' is known; did you mean 'tool:pre'?" in told
    assert done.code != 0
    if command[0] == "run":
        assert "no session starts without it" in told or "mine" in told
        assert done.stdout != "ok\n"


def test_trust_says_it_before_the_question(folder: Path) -> None:
    """The person reads it before the files."""
    write(folder, "PreToolUse")
    (folder / "mine.py").write_text((folder / "mine.py").read_text() + "\n# changed\n")
    shown = invoke("trust", "--show").stdout
    assert shown.index("Guards that would never run:") < shown.index("# changed")
    assert "mine.py:5: no event 'PreToolUse' is known; did you mean 'tool:pre'?" in shown


def test_cases_for_such_a_guard_fail(folder: Path) -> None:
    """`hooks test` runs nothing that would not be registered."""
    (folder / "mine.py").write_text(GUARD.format(event="PreToolUse", more=', on_error="deny"'))
    case = {"hook": "mine.py", "cases": [{"event": "tool:pre", "expect": "deny"}]}
    (folder / "mine.cases.yaml").write_text(yaml.safe_dump(case))
    done = invoke("hooks", "test", "mine.cases.yaml")
    told = " ".join((done.stdout + done.stderr).split())
    assert "did you mean 'tool:pre'?" in told
    assert done.code != 0


def test_a_rule_for_such_an_event_is_refused(folder: Path) -> None:
    """Rules are guards, whatever they answer."""
    rules = [{"name": "r", "event": "PreToolUse", "action": "deny", "reason": "no"}]
    write(folder, "tool:pre", hooks=[{"module": "hooks-rules", "config": {"rules": rules}}])
    for command in (("hooks", "list"), ("doctor",), ("trust",)):
        done = invoke(*command)
        told = " ".join((done.stdout + done.stderr).split())
        assert "no event 'PreToolUse' is known; did you mean 'tool:pre'?" in told, command
        assert done.code != 0


class TestAnEventOfAModulesOwn:
    def test_lists_say_that_nobody_is_known_to_emit_it(self, folder: Path) -> None:
        """It is no mistake: a tool may emit it."""
        write(folder, "deploy:start")
        note = "deploy:start: nobody has declared or emitted it; mine.check may never run"
        for command in (("hooks", "list"), ("hooks", "list", "--json"), ("doctor",)):
            done = invoke(*command)
            assert note in " ".join(done.stdout.split()), command
            assert done.code == 0

    def test_they_say_nothing_when_it_is_declared(self, folder: Path) -> None:
        """By a module that is mounted, in one of the ways that modules have."""
        declares = (
            "async def mount(coordinator, config):\n"
            "    coordinator.register_contributor(\n"
            "        'observability.events', 'mine', lambda: ['deploy:start'])\n"
        )
        (folder / "declares.py").write_text(declares)
        write(folder, "deploy:start", hooks=["mine.py", "declares.py"])
        assert "nobody" not in invoke("hooks", "list").stdout

    def test_they_say_nothing_when_a_trail_tells_of_it(self, folder: Path) -> None:
        """It was emitted in this folder."""
        emits = (
            "async def mount(coordinator, config):\n"
            "    async def tell(event, data):\n"
            "        await coordinator.hooks.emit('deploy:start', {})\n"
            "    coordinator.hooks.register('tool:pre', tell, name='tells')\n"
        )
        (folder / "emits.py").write_text(emits)
        audit = {"enabled": True, "level": "full"}
        write(folder, "deploy:start", "", hooks=["mine.py", "emits.py"], audit=audit)
        assert "nobody" in invoke("hooks", "list").stdout
        assert run_amplifier("run", "go").code == 0
        assert "nobody" not in invoke("hooks", "list").stdout

    def test_a_pattern_that_only_such_events_fit_is_in_the_list(self, folder: Path) -> None:
        """As a row, and below."""
        write(folder, "deploy:*")
        shown = invoke("hooks", "list").stdout
        assert any(
            line.split()[:2] == ["mine.check", "guard"] and "deploy:*" in line
            for line in shown.splitlines()
        )
        assert "deploy:*: nobody has declared or emitted it; mine.check may never run" in shown


REGISTERS = """
async def mount(coordinator, config):
    async def check(event, data):
        return None

    def count():
        return None

    {lines}
"""
PROBABLY_A_MISTAKE = {
    "twice": (
        "for _ in range(2): coordinator.hooks.register('tool:pre', check, on_error='deny')",
        "check is registered for 'tool:pre' more than once, and runs each time",
    ),
    "an observer with a name of another program": (
        "coordinator.hooks.register('PreToolUse', check)",
        "check may never run: no event 'PreToolUse' is known; did you mean 'tool:pre'?",
    ),
    "an observer without parameters": (
        "coordinator.hooks.register('tool:pre', count)",
        "count must take (event, data); 'count()' does not and fails whenever it is called",
    ),
}


@pytest.mark.parametrize("command", [("hooks", "list"), ("hooks", "list", "--json"), ("doctor",)])
@pytest.mark.parametrize("mistake", PROBABLY_A_MISTAKE)
def test_lists_say_what_their_author_hardly_meant(
    folder: Path, mistake: str, command: tuple[str, ...]
) -> None:
    """Before a session runs, and says it."""
    write(folder, "tool:pre")
    lines, expected = PROBABLY_A_MISTAKE[mistake]
    (folder / "mine.py").write_text(REGISTERS.format(lines=lines))
    trust_project(folder)
    assert expected in " ".join(invoke(*command).stdout.split())
