"""Output of hooks: caught, attributed, and kept apart from all other output."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import threading
from typing import Any

from amplifier_core import output
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import HookResult
from tests.support.harness import Harness
from tests.support.hooks import PRE, Data, asks, prints, raises, returns
from tests.support.people import PlainPerson


async def test_it_is_shown_as_that_hooks_output(capsys):
    """With its name, and not mixed into the program's own output."""
    harness = Harness()
    harness.hooks.register(PRE, prints("one\ntwo"), name="noisy")
    harness.hooks.register(PRE, returns(None))
    await harness.pre()
    assert harness.shown == [("one\ntwo", "info", "hook:noisy")]
    assert harness.bodies("output_shown") == [{"text": "one\ntwo\n"}]
    assert capsys.readouterr().out == ""


async def test_suppressed_output_is_hidden_and_kept(capsys):
    """A message to the person still comes through, and the trail knows what was hidden."""
    harness = Harness()
    harness.hooks.register(PRE, prints("noise", suppress_output=True, user_message="hi"), name="n")
    await harness.pre()
    assert harness.shown == [("hi", "info", "hook:n")]
    assert harness.bodies("output_suppressed") == [{"text": "noise\n"}]
    assert capsys.readouterr().out == ""


async def test_both_streams_and_a_failing_hook(capsys):
    harness = Harness()

    async def failing(event: str, data: Data) -> HookResult:
        sys.stdout.write("out ")
        sys.stderr.writelines(["err", ""])
        sys.stdout.flush()
        raise ValueError("x")

    harness.hooks.register(PRE, failing, name="f")
    harness.hooks.register(PRE, raises(ValueError("quiet")))
    await harness.pre()
    assert ("out err", "info", "hook:f") in harness.shown
    assert capsys.readouterr().out == ""


async def test_hooks_printing_at_the_same_time():
    """Safely under concurrency (several sessions and hooks at once in one process)."""

    def slowly(name: str) -> Any:
        async def hook(event: str, data: Data) -> HookResult:
            for part in "abc":
                print(name, part)  # noqa: T201
                await asyncio.sleep(0)
                await asyncio.to_thread(print, name, part.upper())
            return HookResult()

        return hook

    harnesses = [Harness() for _ in range(8)]
    for number, harness in enumerate(harnesses):
        harness.hooks.register(PRE, slowly(f"s{number}"), timeout=30 if number % 2 else None)
    await asyncio.gather(*(harness.pre() for harness in harnesses))
    for number, harness in enumerate(harnesses):
        [(text, _, _)] = harness.shown
        assert text == "\n".join(f"s{number} {part}" for part in "aAbBcC")


async def test_a_background_task_of_a_finished_hook_prints_for_itself(capsys):
    go, tasks = asyncio.Event(), []

    async def later() -> None:
        await go.wait()
        print("background")  # noqa: T201

    async def starter(event: str, data: Data) -> HookResult:
        tasks.append(asyncio.ensure_future(later()))
        print("mine")  # noqa: T201
        return HookResult()

    async def waiter(event: str, data: Data) -> HookResult:
        go.set()
        await tasks[0]
        return HookResult()

    harness = Harness()
    harness.hooks.register(PRE, starter, name="starter")
    harness.hooks.register(PRE, waiter, name="waiter")
    await harness.pre()
    assert harness.shown == [("mine", "info", "hook:starter")]
    assert capsys.readouterr().out == "background\n"


async def test_other_threads_and_tools_are_not_touched(capsys):
    """Tools' output is never touched."""

    async def hook(event: str, data: Data) -> HookResult:
        thread = threading.Thread(target=print, args=("thread",))
        thread.start()
        thread.join()
        with output.Uncaptured():
            print("tool")  # noqa: T201
        print("hook")  # noqa: T201
        return HookResult()

    harness = Harness()
    harness.hooks.register(PRE, hook, name="h")
    await harness.pre()
    assert capsys.readouterr().out == "thread\ntool\n"
    assert harness.shown == [("hook", "info", "hook:h")]
    with output.Uncaptured():
        pass


async def test_what_a_person_is_asked_inside_a_hook_reaches_them(capsys):
    """An approval front end prints for the person, even when a hook led to the question."""

    class Terminal(PlainPerson):
        async def request_approval(self, prompt: str, *more: Any) -> Any:
            print(prompt)  # noqa: T201
            return "Allow"

    class Printing:
        def show_message(self, message: str, level: str, source: str) -> None:
            print(f"{source}: {message}")  # noqa: T201

    harness = Harness(approval=Terminal(), screen=Printing())
    harness.hooks.register("inner:event", asks("Really?", user_message="note"), name="i")

    async def outer(event: str, data: Data) -> HookResult:
        await harness.coordinator.execute_with_hooks("inner:event", {})
        print("mine")  # noqa: T201
        return HookResult()

    harness.hooks.register(PRE, outer, name="o")
    await harness.pre()
    assert capsys.readouterr().out == "hook:i: note\nReally?\nhook:o: mine\n"


async def test_streams_replaced_meanwhile_are_wrapped_again():
    harness = Harness()
    harness.hooks.register(PRE, prints("hello"), name="h")
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        await harness.pre()
        print("outside")  # noqa: T201
    assert harness.shown == [("hello", "info", "hook:h")]
    assert stream.getvalue() == "outside\n"


async def test_a_process_without_streams(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    harness = Harness()
    harness.hooks.register(PRE, prints("x"))
    assert (await harness.pre()).action == "continue"


async def test_streams_are_wrapped_only_while_hooks_run(capsys):
    """And the wrapper is the stream in everything else; the last session gives it back."""
    before, seen = (sys.stdout, sys.stderr), []
    inside, outside = SessionCoordinator(), SessionCoordinator()

    async def look(event: str, data: Data) -> None:
        seen.append((sys.stdout, sys.stderr))
        assert sys.stdout.encoding
        assert sys.stdout.writable()

    async def nested(event: str, data: Data) -> None:
        await inside.execute_with_hooks(PRE, {})
        await look(event, data)
        raise ValueError("a hook that fails changes nothing about it")

    inside.hooks.register(PRE, look)
    outside.hooks.register(PRE, nested)
    await outside.execute_with_hooks(PRE, {})
    first, second = seen
    assert first == second
    assert not {*map(id, first)} & {*map(id, before)}
    assert (sys.stdout, sys.stderr) == before


async def test_a_stream_that_was_replaced_meanwhile_stays(monkeypatch):
    """Whoever put it there takes it away again."""
    session, streams = SessionCoordinator(), (io.StringIO(), io.StringIO())

    async def replace(event: str, data: Data) -> None:
        sys.stdout, sys.stderr = streams

    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    session.hooks.register(PRE, replace)
    await session.execute_with_hooks(PRE, {})
    assert (sys.stdout, sys.stderr) == streams


async def test_a_flood_is_cut():
    harness = Harness()

    async def flood(event: str, data: Data) -> HookResult:
        for _ in range(3):
            sys.stdout.write("x" * 60_000)
        return HookResult()

    harness.hooks.register(PRE, flood, name="f")
    await harness.pre()
    [(text, _, _)] = harness.shown
    assert text.endswith("… 80000 more characters")
    assert len(text) < 100_100


async def test_nothing_stays_after_a_dispatch():
    session = SessionCoordinator()
    session.hooks.register(PRE, prints("x"))
    await session.execute_with_hooks(PRE, {})
    assert output._current.get() is None
