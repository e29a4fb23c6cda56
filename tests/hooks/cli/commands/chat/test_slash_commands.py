"""The commands of a conversation."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.errors import ModuleError, ModuleLoadError, SessionError
from amplifier_core.models import HookResult
from amplifier_core.testing import TestCoordinator
from amplifier_hooks import SessionInfo
from amplifier_hooks.cli.commands.agent import AgentOptions, open_agent
from amplifier_hooks.cli.commands.chat import slash_commands as model_choice
from amplifier_hooks.cli.commands.chat.slash_commands import (
    COMMANDS,
    NO_BACKUPS,
    EditLog,
    change_model,
    describe_models,
    describe_undo,
    find_undo,
    list_models,
    name_model,
    print_story,
    read_choice,
    restore_copies,
    run_command,
)
from amplifier_hooks.cli.commands.plan import NoModel
from amplifier_hooks.guards.backup import save
from tests.hooks.cli.commands.test_agent import Screen
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import run_amplifier, run_at_terminal, wait_for_prompt
from tests.support.sessions import calls

HELLO = {"text": "Hello to you."}


async def test_another_model_answers_from_the_next_prompt_on(project: Project) -> None:
    """The conversation goes on with it."""
    project(HELLO)
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        assert name_model(agent.session) == "scripted"
        await agent.run_turn("one")
        said = await change_model(agent.session, None, "large")
        assert said == "large (scripted) answers from now on."
        assert await describe_models(agent.session) == (
            "large (scripted) answers. /model NAME or /model PROVIDER/NAME changes it.\n  large"
        )
        assert await agent.run_turn("two") == "Hello to you."
        assert len(list(agent.session.context.get_messages())) == 4


async def test_a_model_that_cannot_be_had_changes_nothing(project: Project) -> None:
    """The one before answers."""
    project(HELLO)
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        with pytest.raises(NoModel, match="ANTHROPIC_API_KEY"):
            await change_model(agent.session, "anthropic", None)
        with pytest.raises(ModuleError):
            await change_model(agent.session, "provider-nonsense", None)
        assert name_model(agent.session) == "scripted"
        assert await agent.run_turn("one") == "Hello to you."


async def test_a_locked_provider_stays(project: Project) -> None:
    """Whoever locked it has decided which model answers."""
    entry = {"module": "provider-scripted", "locked": True, "config": {"script": [HELLO]}}
    project(HELLO, providers=[entry])
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        with pytest.raises(ModuleLoadError, match="locked"):
            await change_model(agent.session, None, "large")
        assert name_model(agent.session) == "scripted"


async def test_a_name_is_read_as_provider_and_model(project: Project) -> None:
    """Names of models may have slashes; only a known provider stands before one."""
    project(HELLO)
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        session = agent.session
        assert read_choice(session, "openai/gpt-x") == ("openai", "gpt-x")
        assert read_choice(session, "openai") == ("openai", None)
        assert read_choice(session, "meta/llama") == (None, "meta/llama")
        assert read_choice(session, "large") == (None, "large")


async def test_a_provider_that_cannot_list_its_models_is_no_obstacle(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that fails, and one that does not answer in time."""

    class Fails:
        async def list_models(self) -> list[object]:
            raise OSError("down")

    project(HELLO)
    async with open_agent(AgentOptions(save=False), Screen()) as agent:
        assert await list_models(agent.session) == ["scripted"]
        monkeypatch.setattr(model_choice, "find_provider", lambda _: Fails())
        assert await list_models(agent.session) == []
        monkeypatch.setattr(model_choice, "find_provider", lambda _: object())
        assert await list_models(agent.session) == []


async def test_edits_are_noted_with_their_first_time(tmp_path: Path, monkeypatch: Any) -> None:
    """Of tools that edit, if they did, and even if a hook withholds what came of it."""

    async def withhold(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="no")

    monkeypatch.chdir(tmp_path)
    seconds = count()
    log = EditLog(lambda: datetime.fromtimestamp(next(seconds), UTC))
    coordinator = TestCoordinator()
    coordinator.hooks.register("tool:post", withhold)
    log.watch(coordinator.hooks)
    for tool, path, success in [
        ("Write", "a", True),
        ("Edit", "b", False),
        ("Read", "c", True),
        ("MultiEdit", "./a", True),
        ("Edit", "b", True),
    ]:
        data = {"tool_name": tool, "tool_input": {"file_path": path}, "success": success}
        await coordinator.hooks.emit("tool:post", data)
    times = {path.name: time.timestamp() for path, time in log.first_edits.items()}
    assert times == {"a": 0.0, "b": 2.0}
    log.start_turn()
    assert log.first_edits == {}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder; copies are kept in `copies`."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(work: Path, name: str, text: str) -> datetime:
    """Copy a file as the hook does, then change it."""
    path = work / name
    save(work / "copies", path, tool="Write", session_id="s", max_file_bytes=10_000)
    path.write_text(text)
    return datetime.now(UTC)


def test_a_file_goes_back_to_what_it_was_before_its_first_edit(work: Path) -> None:
    """Also where its content had been copied before, so that no new copy was made."""
    (work / "a.txt").write_text("one\n")
    edit(work, "a.txt", "two\n")
    (work / "a.txt").write_text("one\n")
    first = edit(work, "a.txt", "three\n")
    edit(work, "a.txt", "four\n")
    undo = find_undo(work / "copies", {work / "a.txt": first, work / "new.txt": first})
    assert describe_undo(undo).split("\n") == [
        "a.txt",
        "  @@ -1 +1 @@",
        "  -four",
        "  +one",
        "new.txt has no copy (it was new, or could not be copied) and stays",
    ]
    assert restore_copies(undo) == ["a.txt"]
    assert (work / "a.txt").read_text() == "one\n"


def test_a_long_change_is_cut_and_other_files_are_measured(work: Path) -> None:
    """Nobody reads four hundred lines before saying yes."""
    (work / "long").write_text("old\n" * 300)
    (work / "raw").write_bytes(b"\xff\xfe")
    edits = {work / "long": edit(work, "long", ""), work / "raw": edit(work, "raw", "x")}
    text = describe_undo(find_undo(work / "copies", edits))
    assert "more lines" in text
    assert "back to the 2 bytes of " in text
    assert len(text.split("\n")) < 50


def test_the_last_turn_is_undone_after_a_yes(project: Project) -> None:
    """What would change is shown first; the agent is told with the next prompt."""
    Path("a.txt").write_text("old\n")
    project(
        calls("Write", file_path="a.txt", content="new\n"),
        {"text": "Written."},
        {"expect": "[I have undone your last changes to a.txt.]\n\nand now", "text": "I see."},
        hooks=["hooks-backup"],
    )
    with run_at_terminal("chat", columns=100, rows=40) as program:
        wait_for_prompt(program, 1)
        program.press("go\r")
        program.wait_for("Written.")
        wait_for_prompt(program, 2)
        program.press("/undo\r")
        program.wait_for("-new", "+old", "Put back 1 file? (y/n)")
        wait_for_prompt(program, 3)
        assert Path("a.txt").read_text() == "new\n"
        program.press("y\r")
        program.wait_for("Put back a.txt.")
        assert Path("a.txt").read_text() == "old\n"
        wait_for_prompt(program, 4)
        program.press("and now\r")
        program.wait_for("I see.")


def test_anything_but_a_yes_changes_nothing(project: Project) -> None:
    """Nor does a turn that edited no file."""
    Path("a.txt").write_text("old\n")
    project(
        calls("Write", file_path="a.txt", content="new\n"),
        {"text": "Written."},
        hooks=["hooks-backup"],
    )
    ended = run_amplifier("chat", stdin="/undo\ngo\n/undo\nmaybe\n")
    assert "The last turn edited no file." in ended.stderr
    assert "Nothing was changed." in ended.stderr
    assert Path("a.txt").read_text() == "new\n"


def test_the_session_is_told_so_far(project: Project) -> None:
    """The prompt, the call and its outcome, while the trail is still being written."""
    project(calls("Bash", command="echo hi"), {"text": "Said."})
    done = run_amplifier("chat", stdin="say hi\n/audit\n")
    for part in ("say hi", "Bash  echo hi", "Said."):
        assert part in done.stdout.partition("Said.")[2]


async def test_without_a_trail_it_is_said_what_would_keep_one() -> None:
    """Nothing was recorded, so nothing can be told."""
    said: list[str] = []
    agent: Any = SimpleNamespace(
        session=SimpleNamespace(config={}), notify=lambda text, level: said.append(text)
    )
    await print_story(agent)
    assert said == ["This bundle keeps no trail: `audit: {enabled: true}` would."]


class FakeAgent:
    """What the commands of a conversation look at."""

    def __init__(self) -> None:
        self.info = SessionInfo("abc")
        self.turns = 1
        self.messages: list[tuple[str, str]] = []
        handlers = {"tool:pre": ["guard", "linter", "cli-edits"], "*": ["cli-display"]}
        registry = SimpleNamespace(list_handlers=lambda: handlers)
        points: dict[str, Any] = {"providers": {}, "orchestrator": None}
        self.session = SimpleNamespace(
            session_id="abc",
            config={},
            compact=self.refuse,
            stats={"tool_invocations": 2},
            mounting=SimpleNamespace(mounted=[]),
            coordinator=SimpleNamespace(hooks=registry, mount_points=points),
        )
        self.display = SimpleNamespace(state=SimpleNamespace(summarize=lambda: "1.0 s"))

    def notify(self, message: str, level: str = "info") -> None:
        self.messages.append((message, level))

    async def refuse(self) -> bool:
        raise SessionError("X cannot be compacted: it has no compact()")

    def rename(self, name: str) -> None:
        self.info = SessionInfo("abc", name=name)


class FakeTalk:
    """A conversation that notes what commands do to it."""

    def __init__(self) -> None:
        self.agent: Any = FakeAgent()
        self.edits = EditLog()
        self.options = AgentOptions()
        self.done: list[str] = []

    def leave(self) -> None:
        self.done.append("leave")

    def start_over(self) -> None:
        self.done.append("start over")

    def add_to_next_prompt(self, text: str) -> None:
        self.done.append(text)

    async def ask(self, question: str) -> bool:
        self.done.append(question)
        return True


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/status", ("abc (not named yet)\nnone\n1 turn, 2 tool calls, last turn 1.0 s", "info")),
        ("/hooks", ("tool:pre: guard, linter", "info")),
        ("/name", ("This session is called nothing yet.", "info")),
        ("/name  My talk ", ("This session is now called My talk.", "info")),
        ("/nmae", ("No command /nmae; did you mean /name? /help lists them.", "warning")),
        ("/xyzzy", ("No command /xyzzy; /help lists them.", "warning")),
        ("/undo", (NO_BACKUPS, "warning")),
        ("/compact", ("X cannot be compacted: it has no compact()", "warning")),
    ],
)
async def test_a_command_is_answered(line: str, message: tuple[str, str]) -> None:
    """And the conversation goes on."""
    talk = FakeTalk()
    await run_command(talk, line)
    assert talk.agent.messages == [message]
    assert talk.done == []


async def test_help_lists_every_command() -> None:
    """With what it does."""
    talk = FakeTalk()
    await run_command(talk, "/HELP")
    ((text, _),) = talk.agent.messages
    for name, command in COMMANDS.items():
        assert f"\n{name} {command.argument}".rstrip() in text
        assert command.about in text


async def test_a_session_gets_the_name_that_was_given() -> None:
    """Without the space around it."""
    talk = FakeTalk()
    await run_command(talk, "/name  My talk ")
    assert talk.agent.info.name == "My talk"


@pytest.mark.parametrize(
    ("line", "done"), [("/exit", "leave"), ("/quit", "leave"), ("/clear", "start over")]
)
async def test_leaving_and_starting_over_need_no_words(line: str, done: str) -> None:
    """They are done."""
    talk = FakeTalk()
    await run_command(talk, line)
    assert (talk.done, talk.agent.messages) == ([done], [])
