"""The run of a case."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from pathlib import Path
from typing import get_type_hints

import pytest

from amplifier_core.errors import AmplifierError, ModuleLoadError
from amplifier_core.events import ALL_EVENTS, payload_type
from amplifier_core.testing import wait_for
from amplifier_hooks.insight.cases.case import (
    CALLS,
    TYPICAL,
    Case,
    Expectation,
    Step,
    choose_tool,
    describe_call,
)
from amplifier_hooks.insight.cases.running import (
    Blocked,
    complete_data,
    find_events,
    find_subject,
    has_abandoned,
    limit_time,
    open_bundle,
    own_threads,
    run_case,
)
from tests.hooks.insight.cases.hook_files import COUNTER, GUARD, run, send, write_hook

SLOW = """
import asyncio, time
from pathlib import Path

async def on_tool_pre(event, data):
    command = data["tool_input"]["command"]
    if command == "await":
        await asyncio.Event().wait()
    if command == "block":
        time.sleep(100)
    if command == "thread":
        await asyncio.to_thread(wait)

def wait():
    while not Path(__file__).with_name("released").exists():
        time.sleep(0.01)
"""


def test_events_are_sent_in_order_to_the_same_hooks(tmp_path: Path) -> None:
    """For hooks that count; the next case begins anew, with its own options over those of all."""
    path = write_hook(tmp_path, COUNTER)
    calls = (Step("tool:pre", times=2), send("x", "deny", fields={"reason": "3 calls"}))
    for _ in range(2):
        assert run(path, *calls).passed
    assert run(path, send("x", "deny"), all_config={"most": 0}).passed
    assert run(path, *calls, config={"most": 2}, all_config={"most": 0}).passed


def test_an_expectation_holds_for_each_time(tmp_path: Path) -> None:
    """The first answer that differs ends the case, and its step is named."""
    path = write_hook(tmp_path, COUNTER)
    always = Step("tool:pre", expect=send("x", "continue").expect, times=5)
    found = run(path, always, send("x", "deny"))
    assert len(found.outcomes) == 3
    assert found.list_reasons() == ["step 1, tool:pre: action: expected continue, got deny"]


def test_an_event_that_nobody_hears_fails_the_case(tmp_path: Path) -> None:
    """`expect: continue` would hold for ever."""
    found = run(write_hook(tmp_path), Step("tool:post"))
    heard = "they listen to prompt:submit, tool:pre"
    assert found.problem.endswith(f"guard.py listens to tool:post; {heard}")
    assert not found.passed


def test_data_can_be_sent_exactly_as_given(tmp_path: Path) -> None:
    """To see what a guard does with a call that lacks something."""
    data = {"tool_name": "Bash", "tool_input": {}}
    bare = Step("tool:pre", data, send("", "deny", error="KeyError").expect)
    assert not run(write_hook(tmp_path), bare).passed
    exact = Step(bare.event, bare.data, bare.expect, complete=False)
    assert run(write_hook(tmp_path), exact).passed


@pytest.mark.parametrize("way", ["await", "block", "thread"])
def test_a_hook_that_hangs_is_ended_and_named(tmp_path: Path, way: str) -> None:
    """Whether it waits, blocks the loop, or waits for a thread."""
    path = write_hook(tmp_path, SLOW)
    found = run(path, send(way), limit=0.3)
    assert found.problem == "guard.on_tool_pre did not answer within 0.3 s"
    assert found.is_stuck
    assert found.has_failed_hook
    assert has_abandoned() is (way == "thread")
    assert run(path, send("ls", "continue")).passed
    (tmp_path / "released").touch()
    assert asyncio.run(wait_for(lambda: not has_abandoned()))


def test_a_hook_that_ends_the_program_is_named(tmp_path: Path) -> None:
    """The other cases run all the same."""
    path = write_hook(tmp_path, "import sys\nasync def on_tool_pre(event, data): sys.exit(3)\n")
    found = run(path, send("x", "continue"))
    assert found.problem == "guard.on_tool_pre ended the program with exit code 3"


def test_a_module_that_hangs_while_it_is_mounted_is_ended(tmp_path: Path) -> None:
    """Nothing is sent to it."""
    text = "import asyncio\nasync def mount(coordinator, config): await asyncio.sleep(100)\n"
    path = write_hook(tmp_path, text)
    assert run(path, send("x"), limit=0.1).problem == f"{path} was not ready within 0.1 s"
    with pytest.raises(AmplifierError, match=r"was not ready within 0\.1 s"):
        find_events(find_subject(str(path), tmp_path), {}, 0.1)


def test_a_case_with_files_runs_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """Which is gone afterwards; relative paths lead there."""
    text = """
from pathlib import Path
from amplifier_core import HookResult

async def on_tool_pre(event, data):
    Path("new").write_text("x")
    return HookResult(action="deny", reason=Path("in/a.txt").read_text() + str(Path.cwd()))
"""
    before = Path.cwd()
    found = run(write_hook(tmp_path, text), send("x", "deny"), files={"in/a.txt": "hello"})
    reason = str(found.outcomes[0].result.reason)
    assert reason.startswith("hello")
    assert not Path(reason.removeprefix("hello")).exists()
    assert Path.cwd() == before


def test_a_file_a_package_and_a_module_can_be_tried(tmp_path: Path) -> None:
    """Functions with a decorator, with a mount of their own, and installed ones."""
    write_hook(tmp_path)
    package = tmp_path / "mine"
    package.mkdir()
    write_hook(package, COUNTER, "__init__.py")
    wrapped = tmp_path / "wrapped" / "amplifier_module_hooks_counted_here"
    wrapped.mkdir(parents=True)
    write_hook(wrapped, COUNTER, "__init__.py")
    events = {
        name: find_events(find_subject(name, tmp_path), {})
        for name in ("guard.py", "./mine", "wrapped", "hooks-backup")
    }
    assert events["guard.py"] == ["prompt:submit", "tool:pre"]
    assert events["./mine"] == events["wrapped"] == ["tool:pre"]
    assert "tool:pre" in events["hooks-backup"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none.py", "There is no file or folder 'none.py' in "),
        ("./none", "There is no file or folder './none' in "),
        ("hooks-backp", "no file and no module 'hooks-backp'; did you mean 'hooks-backup'?"),
        ("no-such", "no file and no module 'no-such'; have hooks-backup, hooks-command-guard, "),
    ],
)
def test_what_is_not_there_is_an_error_with_its_name(tmp_path: Path, name: str, told: str) -> None:
    """A file, a folder, an installed module."""
    with pytest.raises(ModuleLoadError) as caught:
        find_events(find_subject(name, tmp_path), {})
    assert told in str(caught.value)


def test_the_id_of_a_module_does_not_mean_a_folder_of_that_name(tmp_path: Path) -> None:
    """Anybody could have put it there; with a slash it is meant."""
    folder = tmp_path / "hooks-backup"
    folder.mkdir()
    write_hook(folder, GUARD, "__init__.py")
    assert find_subject("hooks-backup", tmp_path).path is None
    assert find_subject("./hooks-backup", tmp_path).path == folder


def test_a_module_that_is_not_ready_cannot_be_tried(tmp_path: Path) -> None:
    """What it does then would prove nothing."""
    path = write_hook(tmp_path, f"{GUARD}\nasync def on_session_ready(coordinator): return 1 / 0\n")
    with pytest.raises(ModuleLoadError, match="on_session_ready failed: division by zero"):
        find_events(find_subject(str(path), tmp_path), {})


def test_a_bundle_is_tried_as_a_whole_without_personal_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases give the same result on every machine."""
    personal = tmp_path / "config" / "amplifier"
    personal.mkdir(parents=True)
    (personal / "amplifier.yaml").write_text("hooks: [{module: no-such-hook}]\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    folder.mkdir()
    write_hook(folder)
    bundle = folder / "amplifier.yaml"
    session = "session: {orchestrator: loop-basic, context: context-simple}\n"
    alone = f"inherit: false\n{session}"
    bundle.write_text(f"hooks: [{{module: ./guard.py}}]\n{alone}")
    case = Case("it", (send("rm x", "deny", hook="guard.guard"),))
    found = run_case(case, open_bundle(bundle))
    assert found.list_reasons() == []
    bundle.write_text(f"hooks: [{{module: ./guard.py, config: {{x: 1}}}}]\n{alone}")
    told = run_case(case, open_bundle(bundle)).problem
    assert told.startswith(f"{bundle}:1: Module 'guard' takes no config, got x")


def test_hooks_are_told_the_folder_that_they_work_in(tmp_path: Path) -> None:
    """The one of the case, if it has files."""
    text = """
from amplifier_core import HookResult

async def mount(coordinator, config):
    folder = coordinator.get_capability("session.working_dir")

    async def tell(event, data):
        with open(folder + "/in/a.txt") as file:
            return HookResult(action="deny", reason=file.read())

    coordinator.hooks.register("tool:pre", tell)
"""
    subject = find_subject(str(write_hook(tmp_path, text)), tmp_path)
    step = Step("tool:pre", {}, Expectation("deny", fields={"reason": "hello"}))
    found = run_case(Case("it", (step,), files={"in/a.txt": "hello"}), subject)
    assert found.list_reasons() == []


def test_a_thread_that_never_ends_is_left_behind() -> None:
    """The loop ends although it still runs."""
    release, begun = threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        release.wait()

    async def run() -> None:
        with own_threads():
            waiting = asyncio.create_task(asyncio.to_thread(hang))
            await wait_for(begun.is_set)
            waiting.cancel()
            raise TimeoutError

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    try:
        assert begun.is_set()
        assert has_abandoned()
    finally:
        release.set()
    assert asyncio.run(wait_for(lambda: not has_abandoned()))


def test_threads_that_end_are_waited_for() -> None:
    """As the loop's own are."""

    async def run() -> str:
        with own_threads():
            return await asyncio.to_thread(lambda: "done")

    assert asyncio.run(run()) == "done"
    assert not has_abandoned()


async def test_what_waits_is_cancelled() -> None:
    """With the error that asyncio has for it."""
    with pytest.raises(TimeoutError):
        async with limit_time(0.01):
            await asyncio.Event().wait()


def test_what_blocks_the_loop_is_interrupted_even_if_it_catches_everything_once() -> None:
    """Nothing else could end it; the handlers of all signals are as before."""
    before = [signal.getsignal(one) for one in signal.valid_signals()]

    async def block() -> None:
        async with limit_time(0.01):
            for _ in range(2):
                try:
                    time.sleep(100)
                except BaseException:  # noqa: BLE001 - as hostile hooks may
                    continue
            time.sleep(100)

    with pytest.raises(Blocked):
        asyncio.run(block())
    assert [signal.getsignal(one) for one in signal.valid_signals()] == before


def test_in_other_threads_what_waits_is_cancelled_all_the_same() -> None:
    """Signals reach the main thread only."""
    seen: list[str] = []

    async def wait() -> None:
        try:
            async with limit_time(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            seen.append("ended")

    thread = threading.Thread(target=lambda: asyncio.run(wait()))
    thread.start()
    thread.join()
    assert seen == ["ended"]


def test_what_a_case_leaves_out_is_taken_from_an_ordinary_call() -> None:
    """Also inside the input and the result of the tool."""
    data = complete_data("tool:post", {"tool_input": {"file_path": ".env"}})
    assert data["tool_name"] == "Write"
    assert data["tool_input"] == {"file_path": ".env", "content": "hello\n"}
    shown = complete_data("tool:post", {"tool_result": {"output": "x"}})["tool_result"]
    assert shown == {"success": True, "output": "x", "error": None}


@pytest.mark.parametrize(
    ("given", "call"),
    [
        ({"tool_input": {"command": "ls"}}, ("Bash", {"command": "ls"})),
        ({"tool_name": "Bash"}, ("Bash", {"command": "ls -l"})),
        ({"tool_name": "Mine"}, ("Mine", {})),
        ({"tool_name": "Mine", "tool_input": {"x": 1}}, ("Mine", {"x": 1})),
        ({"tool_name": "Bash", "tool_input": "odd"}, ("Bash", "odd")),
    ],
)
def test_tool_and_input_belong_together(given: dict[str, object], call: object) -> None:
    """A call of Bash with the input of Write would be none that an agent makes."""
    data = complete_data("tool:pre", given)
    assert (data["tool_name"], data["tool_input"]) == call


def test_every_event_gets_its_fields() -> None:
    """Except those that the session and the kernel add themselves."""
    added = {"timestamp", "session_id", "parent_id", "judged_again", "denied_by"}
    for event in ALL_EVENTS:
        data = complete_data(event, {"mine": 1})
        assert data.keys() == (get_type_hints(payload_type(event)).keys() - added) | {"mine"}


def test_the_event_of_a_module_has_what_the_case_says() -> None:
    """Nobody knows its fields."""
    assert complete_data("deploy:done", {"place": "x"}) == {"place": "x"}


def test_the_keys_of_an_input_tell_its_tool() -> None:
    """As far as they do."""
    assert choose_tool({"command": "ls"}) == "Bash"
    assert choose_tool({"file_path": "a", "old_string": "b"}) == "Edit"
    assert choose_tool({"file_path": "a"}) == choose_tool({"unknown": 1}) == "Write"


def test_a_call_in_short_names_what_it_is_about() -> None:
    """Each of the sample calls differs from the others."""
    assert describe_call("Bash", {"command": "ls"}) == "Bash: ls"
    assert describe_call("Mine", {"x": 1}) == describe_call("Mine", None) == "Mine"
    assert len({describe_call(*call) for call in CALLS}) == len(CALLS)
    assert all(given.keys() <= TYPICAL[tool].keys() for tool, given in CALLS)
