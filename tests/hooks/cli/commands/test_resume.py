"""Going on with a saved session."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_hooks import SessionInfo, SessionStore, load_bundle
from amplifier_hooks.agent.session.saved_sessions import SavedSession
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.cli.commands.resume import (
    LAST_LINES,
    describe_changes,
    find_last_exchange,
    mark_plan,
    show_last_exchange,
)
from tests.hooks.cli.program import Outcome, invoke, run_at_terminal, wait_for_prompt
from tests.support.trust import trust_project

Run = Callable[..., Outcome]

GUARD = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def guard(event, data):
        return HookResult()
    return coordinator.hooks.register("tool:pre", guard, name="mine", on_error="deny")
"""


def write_bundle(folder: Path, name: str = "amplifier.yaml", **more: Any) -> Path:
    """A bundle whose model says the bundle's file name."""
    folder.mkdir(exist_ok=True)
    script = {"script": [{"text": f"I am {name} of {folder.name}."}], "when_done": "repeat"}
    provider = {"module": "provider-scripted", "config": script}
    path = folder / name
    path.write_text(yaml.safe_dump({"name": "test", "providers": [provider], **more}))
    return path


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a task in this process; displays write past what Python calls standard output."""

    def call(*arguments: str) -> Outcome:
        done = invoke("run", *arguments)
        shown = capfd.readouterr()
        return Outcome(done.code, shown.out, done.stderr + shown.err)

    return call


def read_material(folder: Path) -> Material:
    return collect_material(load_bundle(project_dir=folder), folder)


@pytest.fixture
def saved(home: Path, monkeypatch: pytest.MonkeyPatch) -> SessionInfo:
    """A session of ~/a, and a person who is in ~/b."""
    for name in ("a", "b"):
        write_bundle(home / name)
        trust_project(home / name)
    monkeypatch.chdir(home / "b")
    said = [("user", "first task"), ("assistant", "I am amplifier.yaml of a.")]
    messages = [{"role": role, "content": text} for role, text in said]
    state = {"version": 1, "session_id": "abcdef12", "messages": messages}
    info = SessionInfo(
        "abcdef12",
        name="First task",
        turns=1,
        working_dir=str(home / "a"),
        bundle=str(home / "a" / "amplifier.yaml"),
    )
    return SessionStore().save(info, state, mark_plan(read_material(home / "a")))


def test_a_session_goes_on_in_its_own_folder_with_its_own_bundle(
    saved: SessionInfo, home: Path, run: Run
) -> None:
    """Wherever the person is; it is said."""
    done = run("--resume", saved.id[:8], "second task")
    assert done.stdout == "I am amplifier.yaml of a.\n"
    assert "This session belongs to ~/a and continues there." in done.stderr
    (after,) = SessionStore().list()
    assert (after.turns, after.working_dir, after.bundle) == (2, saved.working_dir, saved.bundle)


def test_a_session_of_another_bundle_keeps_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Not the one that the folder has by itself."""
    write_bundle(home / "a")
    other = write_bundle(home / "a", "other.yaml")
    trust_project(home / "a", other)
    monkeypatch.chdir(home / "a")
    assert "I am other.yaml" in run("x", "--bundle", "other.yaml").stdout
    (info,) = SessionStore().list()
    assert "I am other.yaml" in run("--resume", info.id, "go on").stdout


def test_a_bundle_that_is_named_is_used_in_the_sessions_folder(
    saved: SessionInfo, home: Path, run: Run
) -> None:
    """As it is named from where the person is."""
    trust_project(home / "a", home / "b" / "amplifier.yaml")
    done = run("--resume", saved.id, "--bundle", "amplifier.yaml", "go on")
    assert done.stdout == "I am amplifier.yaml of b.\n", done.stderr
    assert "This session belongs to ~/a" in done.stderr


def test_rules_that_are_named_are_those_of_where_the_person_is(
    saved: SessionInfo, home: Path, run: Run
) -> None:
    """Not a file of that name in the session's folder."""
    for name in ("a", "b"):
        (home / name / "rules.yaml").write_text("nonsense")
    done = run("--resume", saved.id, "--approve", "rules:rules.yaml", "go on")
    assert done.code == 3
    assert str(home / "b" / "rules.yaml") in done.stderr


def test_without_its_folder_a_session_does_not_go_on_by_itself(
    saved: SessionInfo, home: Path, run: Run
) -> None:
    """Without a terminal it says what would do."""
    shutil.rmtree(home / "a")
    done = run("--resume", saved.id, "go on")
    assert (done.code, done.stdout) == (1, "")
    assert f"The folder of this session is gone: {home / 'a'}. To go on here" in done.stderr
    assert "--bundle" in done.stderr
    named = run("--resume", saved.id, "--bundle", "amplifier.yaml", "go on")
    assert named.stdout == "I am amplifier.yaml of b.\n", named.stderr


@pytest.mark.parametrize(("key", "code"), [("n", 1), ("y", 0)])
def test_without_its_bundle_a_person_is_asked(
    saved: SessionInfo, home: Path, key: str, code: int
) -> None:
    """And decides; no is the default."""
    Path(saved.bundle).unlink()
    write_bundle(home / "a" / ".amplifier")
    trust_project(home / "a")
    with run_at_terminal("run", "--resume", saved.id, "go on") as program:
        program.wait_for("The bundle of this session is gone", "[y/N]")
        program.press(f"{key}\r")
        assert program.wait_end() == code
        assert ("Nothing was run" in program.text()) == (key == "n")


def test_the_end_of_the_conversation_is_shown(saved: SessionInfo) -> None:
    """The last prompt and its answer, above the new prompt; the folder is the session's."""
    with run_at_terminal("chat", "--resume", saved.id[:8]) as program:
        lines = wait_for_prompt(program, 2)
        place = lines.index("› first task")
        assert lines[place + 1] == "I am amplifier.yaml of a."
        assert any("This session belongs to ~/a" in line for line in lines)
        program.press("/exit\r")
        assert program.wait_end() == 0


def test_a_changed_bundle_is_said_with_what_its_guards_lost(
    home: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Before anything runs."""
    monkeypatch.chdir(write_bundle(home / "a").parent)
    (home / "a" / "mine.py").write_text(GUARD)
    hooks = [{"module": "mine", "source": "./mine.py"}]
    write_bundle(home / "a", hooks=hooks)
    trust_project(home / "a")
    assert run("first").code == 0
    (info,) = SessionStore().list()
    again = run("--resume", info.id, "second")
    assert "has changed" not in again.stderr
    weaker = [*hooks, {"module": "hooks-command-guard", "enabled": False}, "hooks-datetime"]
    write_bundle(home / "a", hooks=weaker)
    (home / "a" / "mine.py").write_text(GUARD + "\n# changed\n")
    trust_project(home / "a")
    done = run("--resume", info.id, "third")
    assert "The bundle has changed since this session was saved on 2" in done.stderr
    told = done.stderr.partition("Weaker than before:\n")[2]
    assert "hooks-command-guard would be gone" in told
    assert "mine would run other code or other rules" in told
    assert "New:\n    hook hooks-datetime\n" in told


def test_a_bundle_whose_guards_stay_says_so(home: Path) -> None:
    """Which model answers is no change of it."""
    write_bundle(home)
    before = SavedSession(SessionInfo("s"), {}, mark_plan(read_material(home)))
    write_bundle(home, tools=[{"module": "tool-bash", "enabled": False}])
    change = describe_changes(before, read_material(home))
    assert change == (
        "The bundle has changed since this session was saved. Its guards are the same.",
        "info",
    )
    provider = {"module": "provider-anthropic", "config": {"model": "other"}}
    write_bundle(home, providers=[provider])
    assert describe_changes(before, read_material(home)) is None


def test_what_was_saved_of_a_bundle_may_be_missing_or_damaged(home: Path) -> None:
    """Older sessions have none of it; nothing fails because of it."""
    write_bundle(home)
    material = read_material(home)
    assert describe_changes(SavedSession(SessionInfo("s"), {}), material) is None
    damaged: list[dict[str, Any]] = [{"outline": {}}, {"outline": 7, "files": {}}]
    for plan in (*damaged, {"outline": {"hooks": [7]}, "files": {}}):
        change = describe_changes(SavedSession(SessionInfo("s"), {}, plan), material)
        assert change is not None
        assert change[1] == "warning"


def test_the_last_exchange_is_what_the_person_asked_last() -> None:
    """Results of tools and empty messages are no answer."""
    messages = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": [{"type": "text", "text": "two"}]},
        {"role": "assistant", "content": "", "tool_calls": []},
        {"role": "tool", "content": "output"},
        "odd",
    ]
    assert find_last_exchange({"messages": messages}) == ("two", "")
    assert find_last_exchange({"messages": messages[:2]}) == ("one", "1")
    assert find_last_exchange({"messages": None}) == ("", "")


def test_a_long_end_is_cut_where_nobody_would_look(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The start of the prompt, the end of the answer; nothing of it steers the terminal."""
    monkeypatch.setattr("amplifier_hooks.cli.text.output.is_terminal", lambda: True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    many = "\n".join(f"line {number}" for number in range(30))
    answer = {"role": "assistant", "content": f"{many}\x1b[2J"}
    messages = [{"role": "user", "content": many}, answer]
    show_last_exchange(SavedSession(SessionInfo("s"), {"messages": messages}))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["› line 0", "  line 1", "  line 2", "  … 27 more lines"]
    assert lines[4:6] == ["… 10 more lines", "line 10"]
    assert lines[-2] == "line 29\\u{1B}[2J"
    assert len(lines) == 3 + 1 + 1 + LAST_LINES + 1
