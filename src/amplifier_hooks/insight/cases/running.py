"""Sends the events of cases to hooks, each within its time limit."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from amplifier_core.errors import AmplifierError, ModuleLoadError, ModuleNotFound
from amplifier_core.events import ALL_EVENTS, canonical, payload_type
from amplifier_core.hooks import HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.loader.importing import find_package
from amplifier_core.mount_plan import ModuleEntry
from amplifier_core.mounting import Mounting
from amplifier_core.registration import HookHandler
from amplifier_core.testing import TestCoordinator
from amplifier_core.utils.text import suggest
from amplifier_core.validation.hook import sample_payload
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.agent.session.inspection.effective_hooks import mount_hooks
from amplifier_hooks.agent.trust.material import Material, collect_material
from amplifier_hooks.insight.cases.case import TIME_LIMIT, TYPICAL, Case, Step, choose_tool
from amplifier_hooks.insight.cases.comparison import (
    Difference,
    Outcome,
    find_differences,
    read_outcome,
)


class Subject(Protocol):
    """Hooks that can be mounted any number of times."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def mount(
        self, config: Mapping[str, Any], folder: Path
    ) -> AbstractAsyncContextManager[HookRegistry]:
        """The hooks in a registry of their own, as if a session worked in the folder."""
        ...


@dataclass(frozen=True, slots=True)
class ModuleSubject:
    """A hook file, the folder of a package, or the id of an installed module."""

    name: str
    path: Path | None = None
    """Where its code is, unless it is installed."""

    @asynccontextmanager
    async def mount(self, config: Mapping[str, Any], folder: Path) -> AsyncIterator[HookRegistry]:
        """Import the file as it is now and mount it."""
        coordinator = TestCoordinator()
        coordinator.register_capability("session.working_dir", str(folder))
        loader = ModuleLoader(base=folder)
        mounting = Mounting(coordinator, loader)
        source = None if self.path is None else str(self.path)
        entry = ModuleEntry(module=self.name, source=source, config=dict(config), required=True)
        try:
            await _mount(mounting, entry)
            await mounting.ready()
            _refuse_unready(mounting)
            yield coordinator.hooks
        finally:
            await mounting.unmount_all()
            await coordinator.cleanup()
            loader.cleanup()


@dataclass(frozen=True, slots=True)
class BundleSubject:
    """All hooks of a bundle, of which somebody has decided that they may run."""

    material: Material

    @property
    def name(self) -> str:
        """The file that the bundle begins with."""
        return self.material.name

    @asynccontextmanager
    async def mount(self, config: Mapping[str, Any], folder: Path) -> AsyncIterator[HookRegistry]:
        """Mount what the bundle names; one that cannot be mounted would make cases worthless."""
        async with mount_hooks(self.material, working_dir=folder) as found:
            if found.failures:
                raise ModuleLoadError("\n".join(found.failures))
            yield found.registry


def find_subject(name: str, folder: Path) -> ModuleSubject:
    """The hook file, the package or the installed module of a name, as seen from a folder."""
    if is_installed(name):
        return ModuleSubject(name)
    path = (folder / Path(name).expanduser()).absolute()
    if path.is_dir():
        _require_package(path, name)
    if path.exists() and (path.is_dir() or path.suffix == ".py"):
        return ModuleSubject(name, path)
    if name.endswith(".py") or "/" in name:
        raise ModuleLoadError(f"There is no file or folder {name!r} in {folder}")
    return ModuleSubject(name)


def is_installed(name: str) -> bool:
    """Whether a name is the id of an installed module; a folder of that name is not meant by it.

    Else whoever wants to try a module of ours might run what somebody put into the folder.
    """
    return "/" not in name and name in ModuleLoader().known()


def _require_package(path: Path, name: str) -> None:
    if (path / "__init__.py").is_file() or find_package(name, path):
        return
    files = sorted(one.name for one in path.glob("*.py"))
    instead = f"; name one of its files: {', '.join(files)}" if files else ""
    raise ModuleLoadError(f"The folder {name!r} is no package, it has no __init__.py{instead}")


def open_bundle(path: Path) -> BundleSubject:
    """The hooks of a bundle file, without the settings of the person who runs the cases."""
    path = path.absolute()
    bundle = load_bundle(path, project_dir=path.parent, user=False)
    return BundleSubject(collect_material(bundle, path.parent))


async def _mount(mounting: Mounting, entry: ModuleEntry) -> None:
    try:
        await mounting.mount("hooks", entry)
    except ModuleLoadError as error:
        unknown = error.__cause__
        if isinstance(unknown, ModuleNotFound) and unknown.known and entry.source is None:
            hint = suggest(entry.module, [one for one in unknown.known if one.startswith("hooks-")])
            message = f"There is no file and no module {entry.module!r}; {hint}"
            raise ModuleLoadError(message, module_id=entry.module) from None
        raise


def _refuse_unready(mounting: Mounting) -> None:
    for module_id, error in mounting.unready.items():
        raise ModuleLoadError(f"Module '{module_id}': on_session_ready failed: {error}")


_PREFIX = "amplifier-case"


class _CaseThreads(ThreadPoolExecutor):
    """Like the loop's own, which would wait for a thread that hangs, some minutes or for ever."""

    is_abandoned = False

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait and not self.is_abandoned, cancel_futures=cancel_futures)


@contextmanager
def own_threads() -> Iterator[None]:
    """Have `asyncio.to_thread` use threads that are abandoned if what is done inside fails."""
    threads = _CaseThreads(thread_name_prefix=_PREFIX)
    asyncio.get_running_loop().set_default_executor(threads)
    try:
        yield
    except BaseException:
        threads.is_abandoned = True
        raise


def has_abandoned() -> bool:
    """Whether threads of a case still run; Python waits for them before it ends."""
    return any(one.name.startswith(_PREFIX) for one in threading.enumerate())


_GRACE = 0.5
"""Seconds after the limit in which code that waits is cancelled; then it is interrupted."""

_AGAIN = 0.1
"""Seconds between interruptions: the first one may have been caught."""

_SIGNAL = getattr(signal, "SIGRTMAX", getattr(signal, "SIGUSR1", 0))
"""One that hardly anybody else uses: pytest-timeout has the alarm, faulthandler often SIGUSR1."""


class Blocked(BaseException):
    """Raised inside code that blocks the loop. No `except Exception` must catch it."""


@asynccontextmanager
async def limit_time(seconds: float) -> AsyncIterator[None]:
    """End what is awaited inside after so many seconds: TimeoutError, or Blocked if it blocks."""
    with _interrupt_after(seconds + _GRACE):
        async with asyncio.timeout(seconds):
            yield


@contextmanager
def _interrupt_after(seconds: float) -> Iterator[None]:
    if not _can_interrupt():
        yield  # what awaits is ended all the same
        return
    over = threading.Event()
    thread_id = threading.get_ident()

    def interrupt(*_: Any) -> None:
        if not over.is_set():
            raise Blocked

    def wait() -> None:
        delay = seconds
        while not over.wait(delay):
            signal.pthread_kill(thread_id, _SIGNAL)
            delay = _AGAIN

    before = signal.signal(_SIGNAL, interrupt)
    watcher = threading.Thread(target=wait, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        signal.signal(_SIGNAL, before)


def _can_interrupt() -> bool:
    """Whether there is such a signal, which reaches the main thread only."""
    return bool(_SIGNAL) and threading.current_thread() is threading.main_thread()


_STAMPED = ("timestamp", "session_id")
"""What the registry and the session add themselves."""


def complete_data(event: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given fields, and a sample of each that is missing; so within mappings, one level deep.

    What is missing of a tool's input is taken from an ordinary call of that tool.
    """
    sample = sample_payload(event) if payload_type(event) is not None else {}
    for name in _STAMPED:
        sample.pop(name, None)
    if "tool_input" in sample:
        sample |= _sample_call(given)
    return {**sample, **{name: _fill(sample.get(name), value) for name, value in given.items()}}


def _sample_call(given: Mapping[str, Any]) -> dict[str, Any]:
    """An ordinary call of the tool that is named, or that the given input is for."""
    wanted = given.get("tool_input")
    name = given.get("tool_name") or choose_tool(wanted if isinstance(wanted, Mapping) else {})
    return {"tool_name": name, "tool_input": dict(TYPICAL.get(str(name), {}))}


def _fill(sample: Any, given: Any) -> Any:
    if isinstance(sample, Mapping) and isinstance(given, Mapping):
        return {**sample, **given}
    return given


@dataclass(slots=True)
class CaseRun:
    """What became of a case."""

    case: Case
    outcomes: list[Outcome] = field(default_factory=list)
    """Of each event that was sent, as often as it was."""
    differences: list[Difference] = field(default_factory=list)
    """What was not as expected of the last one."""
    step: int = 0
    """The step that the case came to, counted from 0."""
    problem: str = ""
    """Why no answer could be had."""
    is_stuck: bool = False
    """Whether something did not end in time, and may still be running."""

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.differences and not self.problem

    def list_reasons(self) -> list[str]:
        """Why it did not pass, a line each."""
        told = [self.problem] if self.problem else [str(one) for one in self.differences]
        if len(self.case.steps) > 1:
            where = f"step {self.step + 1}, {self.case.steps[self.step].event}"
            told = [f"{where}: {line}" for line in told]
        return told

    @property
    def has_failed_hook(self) -> bool:
        """Whether a hook raised or took too long, expected or not."""
        return self.is_stuck or any(one.failures for one in self.outcomes)


@dataclass(slots=True)
class _Turn:
    """Whose turn it is: the last hook that has begun; none while no event is under way."""

    hook: str = ""

    def begin(self, handler: HookHandler) -> None:
        self.hook = handler.name

    def end(self, handler: HookHandler) -> None:
        """Part of Watch; it also comes when a hook was cut off."""


def run_case(
    case: Case,
    subject: Subject,
    config: Mapping[str, Any] | None = None,
    limit: float = TIME_LIMIT,
) -> CaseRun:
    """Run a case in an event loop of its own; the hooks may take `limit` seconds for each event."""
    run = CaseRun(case)
    turn = _Turn()
    try:
        with _enter_folder(case.files) as folder:
            asyncio.run(_run(run, subject, {**(config or {}), **case.config}, folder, limit, turn))
    except (TimeoutError, Blocked):
        who = f"{turn.hook} did not answer" if turn.hook else f"{subject.name} was not ready"
        run.problem = f"{who} within {limit:g} s"
        run.is_stuck = True
    except SystemExit as error:
        run.problem = f"{turn.hook or subject.name} ended the program with exit code {error.code}"
    except (AmplifierError, OSError) as error:
        run.problem = str(error)
    return run


@contextlib.contextmanager
def _enter_folder(files: Mapping[str, str]) -> Iterator[Path]:
    """The current folder, or a new one with the files, which then is the current one."""
    if not files:
        yield Path.cwd()
        return
    with tempfile.TemporaryDirectory(prefix="amplifier-case-") as name, contextlib.chdir(name):
        for file, text in files.items():
            path = Path(name, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield Path(name)


async def _run(
    run: CaseRun,
    subject: Subject,
    config: Mapping[str, Any],
    folder: Path,
    limit: float,
    turn: _Turn,
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(own_threads())
        async with limit_time(limit):
            hooks = await stack.enter_async_context(subject.mount(config, folder))
        for place, step in enumerate(run.case.steps):
            run.step = place
            _require_listener(hooks, step.event, subject)
            for _ in range(step.times):
                outcome = await _send(hooks, step, limit, turn)
                run.outcomes.append(outcome)
                run.differences += find_differences(step.expect, outcome)
                if run.differences:
                    return


async def _send(hooks: HookRegistry, step: Step, limit: float, turn: _Turn) -> Outcome:
    data = complete_data(step.event, step.data) if step.complete else dict(step.data)
    async with limit_time(limit):
        started = time.perf_counter()
        done = await hooks.dispatch(step.event, data, turn)
        ms = (time.perf_counter() - started) * 1000
    turn.hook = ""
    return read_outcome(done, data, ms)


def _require_listener(hooks: HookRegistry, event: str, subject: Subject) -> None:
    """Refuse an event that nobody hears: whatever is expected of it would prove nothing."""
    if not hooks.has_listeners(event):
        heard = ", ".join(list_heard(hooks)) or "nothing"
        message = f"no hook of {subject.name} listens to {event}; they listen to {heard}"
        raise AmplifierError(message)


def find_events(
    subject: Subject, config: Mapping[str, Any], limit: float = TIME_LIMIT
) -> list[str]:
    """The events that the hooks listen to; raises if they cannot be mounted in time."""

    async def find() -> list[str]:
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(own_threads())
            async with limit_time(limit):
                hooks = await stack.enter_async_context(subject.mount(config, Path.cwd()))
            return list_heard(hooks)

    try:
        return asyncio.run(find())
    except (TimeoutError, Blocked):
        raise AmplifierError(f"{subject.name} was not ready within {limit:g} s") from None


def list_heard(hooks: HookRegistry) -> list[str]:
    """The events that hooks listen to, in the order of a session, then those of their own."""
    known = [event for event in ALL_EVENTS if canonical(event) == event]
    named = {canonical(name) for name in hooks.list_handlers() if "*" not in name}
    return [event for event in known if hooks.has_listeners(event)] + sorted(named - set(known))
