"""amplifier hooks test."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click
import pytest

from amplifier_core.mount_plan import MountPlan
from amplifier_hooks.agent.trust.material import Untrusted
from amplifier_hooks.cli.commands.hooks.testing import (
    TrialOptions,
    list_watched,
    load_material,
    prepare_trial,
    read_options,
    run_at_each_change,
)
from amplifier_hooks.insight.cases.running import BundleSubject, ModuleSubject
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import invoke, run_amplifier, run_at_terminal
from tests.hooks.insight.cases.hook_files import COUNTER, write_hook
from tests.support.waiting import wait_until

CASE = "[{event: tool:pre, expect: deny}]"


@pytest.mark.parametrize(
    ("file", "cases", "bundle", "samples", "told"),
    [
        ("a.yaml", "b.yaml", None, False, "a.yaml is not a hook file: the hook comes first"),
        ("a.py", None, Path("b"), False, "a FILE or --bundle, not both"),
        ("a.py", "b.yaml", None, True, "CASES or --samples, not both"),
        ("a.py", "b.yaml", None, False, "There is no file 'b.yaml' with cases"),
    ],
)
def test_what_contradicts_itself_is_refused(
    home: Path, file: str, cases: str | None, bundle: Path | None, samples: bool, told: str
) -> None:
    """With a sentence that says what would do."""
    with pytest.raises(click.UsageError, match=told):
        read_options(file, cases, bundle, samples=samples)


def test_cases_are_found_beside_the_file_or_stand_alone(home: Path) -> None:
    """Alone they name their hook; one on the command line comes before it."""
    path = write_hook(home)
    (home / "in").mkdir()
    beside = home / "guard.cases.yaml"
    beside.write_text(f"config: {{a: 1, b: 1}}\ntimeout: 3\ncases: {CASE}\n")
    trial = prepare_trial(TrialOptions("guard.py", config={"b": 2}))
    assert trial.cases.path == Path("guard.cases.yaml")
    assert (trial.config, trial.limit) == ({"a": 1, "b": 2}, 3.0)
    assert prepare_trial(TrialOptions("guard.py", samples=True, timeout=1)).limit == 1
    alone = home / "in" / "other.yaml"
    alone.write_text(f"hook: ../guard.py\ncases: {CASE}\n")
    options = read_options("in/other.yaml", None, None)
    subject = prepare_trial(options).subject
    assert isinstance(subject, ModuleSubject)
    assert subject.path.resolve() == path
    write_hook(home, name="newer.py")
    assert prepare_trial(TrialOptions("newer.py", "in/other.yaml")).subject.name == "newer.py"


def test_cases_that_do_not_say_what_they_are_about_are_refused(home: Path) -> None:
    """Unless the command line says it."""
    (home / "cases.yaml").write_text(CASE)
    with pytest.raises(click.UsageError, match=r"write `hook: \./my_hook\.py` on top of it"):
        prepare_trial(TrialOptions(cases="cases.yaml"))


def test_a_bundle_needs_trust_however_it_is_named(home: Path, project: Project) -> None:
    """Its hooks were not named by the person."""
    write_hook(home)
    bundle = project({"text": "x"}, trusted=False, hooks=[{"module": "./guard.py"}])
    (home / "cases.yaml").write_text(f"bundle: amplifier.yaml\ncases: {CASE}\n")
    ways = [TrialOptions(), TrialOptions(bundle=bundle), TrialOptions(cases="cases.yaml")]
    for options in ways:
        with pytest.raises(Untrusted, match="amplifier trust"):
            prepare_trial(options)
    project({"text": "x"}, hooks=[{"module": "./guard.py"}])
    for options in ways:
        assert isinstance(prepare_trial(options).subject, BundleSubject)
    with pytest.raises(click.UsageError, match="--config is for one module"):
        prepare_trial(TrialOptions(config={"x": 1}))


def test_every_file_that_counts_is_watched(home: Path, project: Project) -> None:
    """Of a file, of its cases and rules, of a bundle; also if they cannot be read now."""
    write_hook(home)
    options = TrialOptions("guard.py", config={"file": "rules.yaml"})
    found = {path.absolute() for path in list_watched(options)}
    expected = {"guard.py", "guard.cases.yaml", "rules.yaml"}
    assert found == {home / name for name in expected}
    (home / "guard.cases.yaml").write_text("cases: [")
    broken = {path.absolute() for path in list_watched(options)}
    assert broken == {home / "guard.py", home / "guard.cases.yaml"}
    project({"text": "x"}, hooks=[{"module": "./guard.py"}])
    of_bundle = {path.absolute() for path in list_watched(TrialOptions())}
    assert {home / "guard.py", home / "amplifier.yaml", home / "amplifier.cases.yaml"} <= of_bundle


def watch(command: list[str], path: Path, rounds: int) -> None:
    """Run a command for a file; Ctrl-C comes when it would be run once more."""

    def find() -> Iterator[Path]:
        nonlocal rounds
        if rounds == 0:
            raise KeyboardInterrupt
        rounds -= 1
        yield path

    run_at_each_change(command, find)


@contextmanager
def saving(path: Path, log: Path, *moments: tuple[str, str]) -> Iterator[None]:
    """Save texts one after another, each as soon as another text is in the log."""

    def is_there(wanted: str) -> bool:
        return wanted in log.read_text()

    def save() -> None:
        for wanted, text in moments:
            asyncio.run(wait_until(partial(is_there, wanted)))
            path.write_text(text)

    log.touch()
    thread = threading.Thread(target=save)
    thread.start()
    yield
    thread.join()


def test_a_command_runs_again_when_a_file_changes(tmp_path: Path) -> None:
    """Ctrl-C ends it."""
    path, log = tmp_path / "hook.py", tmp_path / "log"
    path.write_text("first,")
    with saving(path, log, ("first,", "second,"), ("second,", "third")):
        watch(["sh", "-c", f"cat {path} >> {log}"], path, 2)
    assert log.read_text() == "first,second,"


def test_a_command_that_still_runs_is_ended_for_the_next(tmp_path: Path) -> None:
    """Nobody waits for the result of files that have changed."""
    path, log = tmp_path / "hook.py", tmp_path / "log"
    path.write_text("first")
    with saving(path, log, ("begun", "second")):
        watch(["sh", "-c", f"echo begun > {log}; exec sleep 100"], path, 1)
    assert path.read_text() == "second"


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_refusal_says_what_would_do(project: Project, trusted: bool) -> None:
    """It is empty where a person trusts the bundle."""
    project({"text": "x"}, trusted=trusted)
    _, refusal = await load_material(None)
    assert ("amplifier trust" in refusal) is not trusted


async def test_personal_settings_can_be_left_out(home: Path, project: Project) -> None:
    """What holds for this person does not hold for others."""
    project({"text": "x"})
    personal = home / "config" / "amplifier"
    personal.mkdir(parents=True)
    (personal / "amplifier.yaml").write_text("hooks: [hooks-git-status]\n")
    for user in (True, False):
        material, _ = await load_material(None, user=user)
        modules = [one.module for one in MountPlan.parse(material.bundle.mount_plan).hooks]
        assert ("hooks-git-status" in modules) is user


HOOK = """
from amplifier_core import HookResult

async def on_tool_pre(event, data):
    if "rm" in data["tool_input"].get("command", ""):
        return HookResult(action="deny", reason="deleting is for people")
"""
CASES = """
hook: ./guard.py
cases:
  - name: denies rm
    event: tool:pre
    data: {tool_input: {command: rm x}}
    expect: {action: deny, reason: people}
  - name: lets ls through
    event: tool:pre
    data: {tool_input: {command: ls}}
    expect: continue
"""


def test_without_cases_sample_events_are_sent(home: Path) -> None:
    """The answers are a table; nothing needs to be trusted, since the file was named."""
    write_hook(home, HOOK)
    shown = invoke("hooks", "test", "guard.py")
    assert shown.code == 0
    rows = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert rows[:3] == ["guard.py sample events", "", "tool:pre"]
    assert any(row.startswith("Read: .env continue ") for row in rows)
    assert any(row.startswith("Bash: rm -rf build deny ") for row in rows)
    assert rows[-1].endswith("hooks test guard.py --write guard.cases.yaml")
    told = json.loads(invoke("hooks", "test", "guard.py", "--json").stdout)
    assert (told["hooks"], told["cases"], told["failed"]) == ("guard.py", None, 0)


def test_cases_beside_the_file_are_found_and_decide_the_exit_code(home: Path) -> None:
    """Alone they do the same; for machines with the same facts."""
    write_hook(home, HOOK)
    (home / "guard.cases.yaml").write_text(CASES)
    shown = invoke("hooks", "test", "guard.py")
    assert (shown.code, shown.stdout.splitlines()[-1]) == (0, "2 passed")
    assert shown.stdout.startswith("guard.cases.yaml  cases of guard.py\n  ✓ denies rm  ")
    assert invoke("hooks", "test", "guard.cases.yaml").code == 0
    write_hook(home, HOOK.replace('"rm"', '"ls"'))
    shown = invoke("hooks", "test", "guard.py", "guard.cases.yaml")
    assert (shown.code, shown.stdout.splitlines()[-1]) == (1, "2 failed")
    assert "  ✗ denies rm  line 4\n      action: expected deny, got continue\n" in shown.stdout
    told = json.loads(invoke("hooks", "test", "guard.py", "--json").stdout)
    assert (told["passed"], told["failed"], told["runs"][0]["name"]) == (0, 2, "denies rm")


def test_what_hooks_answer_now_can_be_written_as_cases(home: Path) -> None:
    """They pass; a file that is there is not overwritten."""
    (home / "hooks").mkdir()
    write_hook(home / "hooks", HOOK)
    path = home / "hooks" / "guard.cases.yaml"
    wrote = invoke("hooks", "test", "hooks/guard.py", "--write", "hooks/guard.cases.yaml")
    assert "Wrote 2 cases to hooks/guard.cases.yaml" in wrote.stderr
    assert path.read_text().startswith("hook: ./guard.py\ncases:\n")
    assert invoke("hooks", "test", path).stdout.endswith("\n2 passed\n")
    again = invoke("hooks", "test", "hooks/guard.py", "--write", path)
    assert again.code == 2
    assert "is there already; --write makes a new file" in again.stderr


def test_a_hook_that_fails_on_a_sample_makes_the_command_fail(home: Path) -> None:
    """With its line, and its answer is no case to start from."""
    write_hook(home, "async def on_session_start(event, data): data['none']\n")
    shown = invoke("hooks", "test", "guard.py", "--write", "c.yaml")
    assert shown.code == 1
    assert "guard.on_session_start failed: KeyError: 'none' (guard.py:1)" in shown.stdout
    assert "Wrote 0 cases" in shown.stderr


def test_options_of_a_module_can_be_given(home: Path) -> None:
    """And a module that cannot be mounted is an error of its own."""
    write_hook(home, COUNTER)
    told = json.loads(
        invoke("hooks", "test", "guard.py", "--config", '{"most": 0}', "--json").stdout
    )
    assert {one["events"][0]["action"] for one in told["runs"]} == {"deny"}
    write_hook(home, "async def mount(coordinator, config): ...\n")
    refused = invoke("hooks", "test", "guard.py")
    assert (refused.code, refused.stdout) == (3, "")
    assert "guard.py registers no hooks, so none can be tested" in refused.stderr


def test_all_cases_of_a_folder_can_be_run(home: Path) -> None:
    """One after another; each file names its hook, and mistakes are found before anything runs."""
    (home / "hooks").mkdir()
    write_hook(home / "hooks", HOOK)
    refused = invoke("hooks", "test", "hooks")
    assert "'hooks' is no package, it has no __init__.py; name one of its files: guard.py" in (
        refused.stderr
    )
    for name in ("a", "b"):
        (home / "hooks" / f"{name}.cases.yaml").write_text(CASES)
    shown = invoke("hooks", "test", "hooks")
    assert (shown.code, shown.stdout.splitlines()[-1]) == (0, "2 files: 4 passed")
    told = json.loads(invoke("hooks", "test", "hooks/", "--json").stdout)
    assert [one["cases"] for one in told] == ["hooks/a.cases.yaml", "hooks/b.cases.yaml"]
    assert "only --json fits here" in invoke("hooks", "test", "hooks", "--watch").stderr
    (home / "hooks").rename(home / "hooks-backup")
    assert json.loads(invoke("hooks", "test", "hooks-backup", "--json").stdout)["cases"] is None
    (home / "hooks-backup").rename(home / "hooks")
    (home / "hooks" / "b.cases.yaml").write_text(CASES.replace("expect", "expct"))
    broken = invoke("hooks", "test", "hooks")
    assert (broken.code, broken.stdout) == (3, "")


def test_a_mistake_in_the_cases_is_told_with_its_line(home: Path) -> None:
    """And no hook runs."""
    write_hook(home, "raise SystemExit('it ran')")
    (home / "guard.cases.yaml").write_text(CASES.replace("expect: continue", "expct: continue"))
    shown = invoke("hooks", "test", "guard.py")
    assert shown.code == 3
    told = "guard.cases.yaml:11: case 'lets ls through'.expct: unknown key 'expct'; did you mean"
    assert told in shown.stderr


def test_the_hooks_of_a_bundle_are_tested_together(home: Path, project: Project) -> None:
    """If a person trusts it."""
    write_hook(home, HOOK)
    session = {"orchestrator": "loop-basic", "context": "context-simple"}
    more = {"hooks": [{"module": "./guard.py"}], "session": session, "inherit": False}
    project({"text": "x"}, trusted=False, **more)
    assert "amplifier trust" in invoke("hooks", "test").stderr
    project({"text": "x"}, **more)
    shown = invoke("hooks", "test", "--write", "amplifier.cases.yaml")
    assert (home / "amplifier.cases.yaml").read_text().startswith("bundle: ./amplifier.yaml\n")
    assert shown.code == 0
    assert invoke("hooks", "test").stdout.endswith("\n2 passed\n")


def test_watching_is_for_people(home: Path) -> None:
    """Nothing ends it but Ctrl-C."""
    write_hook(home, HOOK)
    refused = invoke("hooks", "test", "guard.py", "--watch", "--json")
    assert refused.code == 2
    assert "--watch cannot be used with --json or --write" in refused.stderr


@pytest.mark.slow
def test_saving_a_file_shows_the_new_result(home: Path) -> None:
    """At a terminal, until Ctrl-C; a hook that hangs does not keep it from that."""
    path = write_hook(home, HOOK)
    (home / "guard.cases.yaml").write_text(CASES)
    command = ("hooks", "test", "guard.py", "--watch", "--timeout", "30")
    with run_at_terminal(*command, columns=60) as program:
        program.wait_for("2 passed", "Waiting for changes of guard.py, guard.cases.yaml.")
        path.write_text(HOOK.replace('"rm"', '"ls"'))
        program.wait_for("2 failed", "action: expected deny, got continue", "Ctrl-C")
        path.write_text("import time\n" + HOOK.replace("    if", "    time.sleep(1000)\n    if"))
        program.wait_until(lambda lines: not any("failed" in one for one in lines), "a new run")
        path.write_text(HOOK)
        program.wait_for("2 passed", "Ctrl-C")
        program.press("\x03")
        assert program.wait_end() == 0


@pytest.mark.slow
def test_a_thread_that_hangs_does_not_keep_the_command(home: Path) -> None:
    """Python would wait for it before it ends."""
    hook = "import asyncio, time\nasync def on_session_end(event, data):\n"
    write_hook(home, f"{hook}    await asyncio.to_thread(time.sleep, 1000)\n")
    shown = run_amplifier("hooks", "test", "guard.py", "--timeout", "0.2")
    assert shown.code == 1
    assert "guard.on_session_end did not answer within 0.2 s" in shown.stdout
