"""Hooks in a loop that you write yourself.

    guard = Guard("amplifier.yaml")
    async with guard.session(prompt) as run:
        messages = [{"role": "user", "content": run.prompt}]
        ...
        reply = ask_model(await run.messages(messages))
        text = await run.call("shell", arguments, shell, id=call_id)
        ...
        print(await run.answer(reply))

`GuardSync` is the same without `await`, for programs that have no event loop.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from amplifier_core.approval import AnyApprovalSystem
from amplifier_core.display import DisplaySystem
from amplifier_core.errors import AmplifierError
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import ToolResult
from amplifier_core.trail import AuditSink
from amplifier_hooks.agent.bundles import Bundle
from amplifier_hooks.coverage import OWN_LOOP
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.client_messages import read_messages, write_messages
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.opening import explain_end
from amplifier_hooks.external.run import Run
from amplifier_hooks.external.verdicts import Called, RequestVerdict, TextVerdict
from amplifier_hooks.frameworks.governing import govern

Hook = Callable[..., Any]
"""A function marked with `@hook("tool:pre", ...)`."""

Function = Callable[..., Any]
"""What runs if nobody objects: gets the arguments by their names; async or not."""


class Refused(AmplifierError):
    """A prompt or a request to the model was denied; the message is the reason."""


class NotRun(str):
    """What the model reads in place of a result when a call was denied."""


class _Guard:
    def __init__(
        self,
        source: str | Path | Bundle | HookRegistry | Governor | None = None,
        *,
        hooks: Iterable[Hook] = (),
        approval: AnyApprovalSystem | None = None,
        display: DisplaySystem | None = None,
        audit: AuditSink | None = None,
        folder: str | Path | None = None,
    ) -> None:
        """Hooks of a bundle (its path; the project's if nothing is given), or `hooks` alone.

        `approval`, `display` and `audit` are as for adapters; without `approval` people are asked
        as the bundle says, or at the terminal. `folder` is where the agent works.
        """
        marked = list(hooks)
        if marked and source is not None:
            raise TypeError(
                "A guard has a bundle or hooks=[...]: name the file of the functions under hooks: "
                "in the bundle to have both"
            )
        self._governor = govern(
            _register(marked) if marked else source,
            approval=approval,
            display=display,
            audit=audit,
            folder=folder,
        )


class Guard(_Guard):
    """The hooks of a bundle, or functions of yours, in front of a loop that you write yourself."""

    @asynccontextmanager
    async def session(self, prompt: str) -> AsyncIterator[GuardedRun]:
        """One turn of the agent; Refused if hooks deny its prompt."""
        run, verdict = await self._governor.begin(OWN_LOOP, prompt)
        if run is None:
            raise Refused(verdict.text)
        try:
            yield GuardedRun(run, verdict.text)
        except BaseException as error:
            await run.end(explain_end(error))
            raise
        await run.end()

    @asynccontextmanager
    async def conversation(self) -> AsyncIterator[None]:
        """Make all sessions inside this block turns of one."""
        async with self._governor.conversation():
            yield


class GuardSync(_Guard):
    """The same as `Guard` for a program without an event loop."""

    @contextmanager
    def session(self, prompt: str) -> Iterator[GuardedRunSync]:
        """One turn of the agent; Refused if hooks deny its prompt."""
        run, verdict = self._governor.begin_sync(OWN_LOOP, prompt)
        if run is None:
            raise Refused(verdict.text)
        try:
            yield GuardedRunSync(run, verdict.text)
        except BaseException as error:
            run.end_sync(explain_end(error))
            raise
        run.end_sync()

    @contextmanager
    def conversation(self) -> Iterator[None]:
        """Make all sessions inside this block turns of one."""
        with self._governor.conversation_sync():
            yield


class GuardedRun:
    """One turn: its prompt, its requests, its tool calls and its answer."""

    def __init__(self, run: Run, prompt: str) -> None:
        self._run = run
        self.prompt = prompt
        """The prompt as hooks left it."""

    async def messages(
        self, messages: Sequence[Any], *, tools: Sequence[str] = (), model: str | None = None
    ) -> list[Any]:
        """The messages to send: yours, and what hooks add to them at places models accept.

        Takes those of OpenAI's two interfaces and of Anthropic's, objects of their clients among
        them. Yours come back as they are unless a hook changed one. What hooks add comes again at
        the next request by itself: keep your own list. Refused if hooks deny the request.
        """
        verdict = await self._run.request(
            read_messages(messages), provider=OWN_LOOP.name, model=model, tools=tools
        )
        return _place(messages, verdict)

    async def call(
        self, name: str, arguments: dict[str, Any] | str, function: Function, *, id: str = ""
    ) -> Any:
        """What the function returns for the arguments as hooks left them, or what to send instead.

        `arguments` may be the JSON text that a model wrote. A call that is denied, or answered
        "no" by a person, returns a `NotRun`: the reason, for the model to read. What the function
        raises is raised.
        """
        wanted = _want(name, arguments, function, id)
        if isinstance(wanted, NotRun):
            return wanted
        return _read_result(await self._run.call(wanted))

    async def answer(self, text: str) -> str:
        """The agent's last words as hooks left them; Refused if they are denied."""
        return _read_text(await self._run.answer(text))


class GuardedRunSync:
    """The same as `GuardedRun` without `await`."""

    def __init__(self, run: Run, prompt: str) -> None:
        self._run = run
        self.prompt = prompt
        """The prompt as hooks left it."""

    def messages(
        self, messages: Sequence[Any], *, tools: Sequence[str] = (), model: str | None = None
    ) -> list[Any]:
        """See `GuardedRun.messages`."""
        verdict = self._run.request_sync(
            read_messages(messages), provider=OWN_LOOP.name, model=model, tools=tools
        )
        return _place(messages, verdict)

    def call(
        self, name: str, arguments: dict[str, Any] | str, function: Function, *, id: str = ""
    ) -> Any:
        """See `GuardedRun.call`; the function runs in the thread that called."""
        wanted = _want(name, arguments, function, id)
        if isinstance(wanted, NotRun):
            return wanted
        return _read_result(self._run.call_sync(wanted))

    def answer(self, text: str) -> str:
        """See `GuardedRun.answer`."""
        return _read_text(self._run.answer_sync(text))


def _register(marked: Sequence[Hook]) -> HookRegistry:
    registry = HookRegistry()
    for function in marked:
        mark = getattr(function, "__amplifier_hook__", None)
        if mark is None:
            name = getattr(function, "__name__", repr(function))
            raise TypeError(
                f"{name} does not say what it listens to: mark it with "
                '@hook("tool:pre") from amplifier_core'
            )
        options = dict(mark["options"])
        options.setdefault("name", function.__name__)
        for event in mark["events"]:
            registry.register(event, function, **options)
    return registry


def _want(
    name: str, arguments: dict[str, Any] | str, function: Function, call_id: str
) -> Wanted | NotRun:
    given: Any = arguments
    if isinstance(arguments, str):
        try:
            given = json.loads(arguments or "{}")
        except ValueError as error:
            return NotRun(f"Not run: the arguments of {name} are not JSON ({error})")
    if not isinstance(given, dict):
        return NotRun(f"Not run: the arguments of {name} must be an object, not {given!r:.80}")
    return Wanted(name, given, call_id, lambda left: function(**left), _describe_value)


def _describe_value(value: Any) -> ToolResult:
    return value if isinstance(value, ToolResult) else ToolResult(output=value)


def _read_result(called: Called) -> Any:
    if called.untouched:
        return called.value
    return called.text if called.ran else NotRun(called.text)


def _read_text(verdict: TextVerdict) -> str:
    if not verdict.allowed:
        raise Refused(verdict.text)
    return verdict.text


def _place(messages: Sequence[Any], verdict: RequestVerdict) -> list[Any]:
    if not verdict.allowed:
        raise Refused(verdict.reason)
    return write_messages(messages, verdict.placed)
